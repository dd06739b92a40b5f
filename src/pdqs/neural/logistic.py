r"""The logistic curve q(x) = sigma(z(x)), z(x) = e - a x, and its payment integral in closed form.

With k = 2 values and the paper's contract the load is w(z) = q eps(q) = sigma(z) softplus(z + ln 2), because
eps = ln(1 + 2q/(1 - q)) = ln(1 + 2e^z). Its antiderivative in z, at u = sigma(z), is

.. math:: F(u) = -\ln 2\,\ln(1-u) + \mathrm{Li}_2\!\left(\tfrac{1-u}{2}\right) + \tfrac12 \ln^2(1-u),

so that the integral of w from x = b to x = h is (F(sigma(z(b))) - F(sigma(z(h)))) / a. Written so, it loses every
digit as a -> 0 and, where q is near 0, the digits of a small difference of two numbers near Li2(1/2). Here
G(z) = F - Li2(1/2) is summed as a power series in e^z where z is low, and where a (h - b) is small the integral is
taken by a Gauss rule, which is then exact to rounding. Every function takes the array module it works in: ``numpy`` or
``jax.numpy``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

Array = Any
"""An array of the module that a function is given."""

LN2 = float(np.log(2.0))
_LOW = -2.5  # below: the power series in e^z, whose terms fall at least as fast as (2 e^z)^m = 0.17^m
_NARROW = 1.0  # below this rise of z from h to b: the Gauss rule, whose error is about 12.6^-16 (poles at Im z = pi)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)

# Li2(y) = sum_m B_m t^(m+1) / (m+1)!, t = -ln(1 - y): with t <= ln 2 the terms fall as (t / 2 pi)^(2m).
_BERNOULLI = (1.0, -1 / 2, 1 / 6, 0.0, -1 / 30, 0.0, 1 / 42, 0.0, -1 / 30, 0.0, 5 / 66, 0.0, -691 / 2730, 0.0, 7 / 6)
_LI2 = tuple(float(b / np.prod(np.arange(1.0, m + 2.0))) for m, b in enumerate(_BERNOULLI))


def softplus(z: Array, xp: ModuleType = np) -> Array:
    """ln(1 + e^z), without overflow."""
    return xp.logaddexp(z, 0.0)


def sigmoid(z: Array, xp: ModuleType = np) -> Array:
    """1 / (1 + e^-z), without overflow.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return xp.exp(-softplus(-z, xp))


def load(z: Array, xp: ModuleType = np) -> Array:
    """w(z) = sigma(z) softplus(z + ln 2): what the owner is paid for under the paper's contract, k = 2.

    >>> bool(abs(load(np.array([0.0]))[0] - 0.5 * np.log(3.0)) < 1e-15)
    True
    """
    return sigmoid(z, xp) * softplus(z + LN2, xp)


def load_slope(z: Array, xp: ModuleType = np) -> Array:
    """dw/dz = q (1 - q) softplus(z + ln 2) + q sigma(z + ln 2)."""
    return sigmoid(z, xp) * (sigmoid(-z, xp) * softplus(z + LN2, xp) + sigmoid(z + LN2, xp))


@lru_cache(maxsize=1)
def _series() -> tuple[float, ...]:
    """Coefficients of G = integral_0^y ln(1 + 2t)/(1 + t) dt in powers of y = e^z, from y^2 on."""
    terms = 24
    log = [0.0] + [(-1) ** (m + 1) * 2.0**m / m for m in range(1, terms)]
    product = [sum(log[j] * (-1) ** (m - j) for j in range(m + 1)) for m in range(terms)]
    return tuple(product[m] / (m + 1) for m in range(1, terms))


def antiderivative(z: Array, xp: ModuleType = np) -> Array:
    """G(z) = integral_{-inf}^z w = F(sigma(z)) - Li2(1/2), accurate relative to itself for every z.

    >>> bool(abs(antiderivative(np.array([40.0]))[0] / (0.5 * 40**2 + 40 * LN2 - 0.5822405264650125) - 1) < 1e-15)
    True
    """
    low = xp.exp(xp.minimum(z, _LOW))
    small = xp.zeros_like(z)
    for coefficient in reversed(_series()):
        small = small * low + coefficient
    rest = softplus(xp.maximum(z, _LOW), xp)  # -ln(1 - q)
    t = LN2 + rest - softplus(xp.maximum(z, _LOW) + LN2, xp)  # -ln(1 - y) with y = (1 - q)/2, because 1 - y = (1 + q)/2
    dilogarithm = xp.zeros_like(z)
    for coefficient in reversed(_LI2):
        dilogarithm = (dilogarithm + coefficient) * t
    large = rest * (LN2 + 0.5 * rest) + (dilogarithm - _LI2_HALF)
    return xp.where(z < _LOW, small * low * low, large)


_LI2_HALF = float(np.pi**2 / 12.0 - LN2**2 / 2.0)


def _on_chord(f: Callable[[Array, Array], Array], z_high: Array, rise: Array, xp: ModuleType) -> Array:
    """The mean of f(z, share of the way from b to h) over a straight stretch from z_high down by ``rise``."""
    ways = 0.5 + 0.5 * _NODES
    return (f(z_high[..., None] - rise[..., None] * ways, ways) * xp.asarray(0.5 * _WEIGHTS)).sum(axis=-1)


def tail(left: Array, right: float, slope: Array, intercept: Array, xp: ModuleType = np) -> Array:
    """integral of w(e - a x) from x = left to x = right, for any a >= 0, a = 0 included.

    >>> flat = tail(np.array([0.25]), 1.0, np.array([0.0]), np.array([0.0]))
    >>> bool(abs(flat[0] - 0.75 * load(np.array([0.0]))[0]) < 1e-15)
    True
    """
    left, slope, intercept = xp.broadcast_arrays(*(xp.asarray(x, dtype=float) for x in (left, slope, intercept)))
    z, rise = intercept - slope * left, slope * (right - left)
    narrow = rise < _NARROW
    wide_slope = xp.where(narrow, 1.0, slope)
    wide = (antiderivative(z, xp) - antiderivative(z - rise, xp)) / wide_slope
    close = (right - left) * _on_chord(lambda y, _: load(y, xp), z, xp.where(narrow, rise, 0.0), xp)
    return xp.where(narrow, close, wide)


def tail_slopes(
    left: Array, right: float, slope: Array, intercept: Array, xp: ModuleType = np
) -> tuple[Array, Array, Array]:
    r"""Derivatives of :func:`tail` in left, slope and intercept, from w alone.

    .. math:: -w(z_b), \qquad \frac{h\,w(z_h) - b\,w(z_b) - W}{a}, \qquad \frac{w(z_b) - w(z_h)}{a}
    """
    left, slope, intercept = xp.broadcast_arrays(*(xp.asarray(x, dtype=float) for x in (left, slope, intercept)))
    z, rise, width = intercept - slope * left, slope * (right - left), right - left
    narrow = rise < _NARROW
    wide_slope = xp.where(narrow, 1.0, slope)
    near, far = load(z, xp), load(z - rise, xp)
    by_slope = (right * far - left * near - tail(left, right, slope, intercept, xp)) / wide_slope
    by_intercept = (near - far) / wide_slope
    close = xp.where(narrow, rise, 0.0)
    chord_slope = (
        _on_chord(lambda y, way: -(left[..., None] + way * width[..., None]) * load_slope(y, xp), z, close, xp) * width
    )
    chord_intercept = _on_chord(lambda y, _: load_slope(y, xp), z, close, xp) * width
    return -near, xp.where(narrow, chord_slope, by_slope), xp.where(narrow, chord_intercept, by_intercept)
