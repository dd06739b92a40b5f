"""A function of one variable as one polynomial per panel, with panels made as small as the function asks.

Kinks, jumps and endpoint singularities need no special care: panels halve around them until they no longer matter. One
fit costs a few thousand evaluations; after it, the function and its integral cost a handful of multiplications a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebvander

from pdqs.model.arrays import Booleans, Floats

NODES = 10
_MOST_ROUNDS = 40
_MOST_PANELS = 20_000
_SPLIT = 4

Function = Callable[[Floats], Floats]

_ANGLES: Floats = (2 * np.arange(NODES) + 1) * np.pi / (2 * NODES)
_POINTS: Floats = np.cos(_ANGLES)
# Values at Chebyshev points to Chebyshev coefficients (an orthogonal sum), and those to powers (whole numbers): a
# Vandermonde matrix turned over would lose four digits.
_TO_CHEBYSHEV: Floats = np.cos(np.arange(NODES)[:, None] * _ANGLES) * (2.0 / NODES)
_TO_CHEBYSHEV[0] *= 0.5
_TO_POWERS: Floats = (
    np.stack([np.pad(cheb2poly(np.eye(NODES)[j]), (0, NODES - j - 1))[:NODES] for j in range(NODES)], axis=1)
    @ _TO_CHEBYSHEV
)
# Checks sit between the nodes and at both ends, where an interpolant errs most.
_CHECKS: Floats = np.cos(np.arange(NODES + 1) * np.pi / NODES)
_TO_CHECKS: Floats = chebvander(_CHECKS, NODES - 1) @ _TO_CHEBYSHEV
_FULL_INTEGRAL: Floats = np.array([2.0 / (p + 1) if p % 2 == 0 else 0.0 for p in range(NODES)]) @ _TO_POWERS


@final
@dataclass(frozen=True, slots=True, eq=False)
class Piecewise:
    """f on [edges[0], edges[-1]]: in each panel a polynomial in u = (middle - x) / half-width, u in [-1, 1].

    ``tails[j]`` is the integral of f from the right end of panel j to edges[-1].
    """

    edges: Floats
    middle: Floats
    per_half: Floats  # one over the half-width
    powers: Floats  # (NODES, panels)
    antiderivative: Floats  # (NODES + 1, panels): of the polynomial, zero at the panel's right end
    tails: Floats

    def value(self, x: Floats) -> Floats:
        """f(x)."""
        panel, u = self._locate(x)
        return _horner(self.powers, panel, u)

    def tail(self, x: Floats) -> Floats:
        """The integral of f from x to the right end."""
        panel, u = self._locate(x)
        tail: Floats = self.tails[panel] + _horner(self.antiderivative, panel, u)
        return tail

    def _locate(self, x: Floats) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], Floats]:
        panel = np.searchsorted(self.edges[1:-1], x, side="right")
        return panel, (self.middle[panel] - x) * self.per_half[panel]


def _horner(coefficients: Floats, panel: np.ndarray[tuple[int], np.dtype[np.intp]], u: Floats) -> Floats:
    result: Floats = coefficients[-1].take(panel)
    for row in coefficients[-2::-1]:
        result *= u
        result += row.take(panel)
    return result


@dataclass(slots=True)
class _Panels:
    """Panels under construction, in no order."""

    left: Floats
    right: Floats
    values: Floats  # (panels, NODES)
    error: Floats  # largest misfit at the check points

    @property
    def integral(self) -> Floats:
        total: Floats = 0.5 * (self.right - self.left) * (self.values @ _FULL_INTEGRAL)
        return total

    @property
    def noise(self) -> Floats:
        """How much f moves when x moves by a few ulps: no fit can do better."""
        rise = self.values.max(axis=1) - self.values.min(axis=1)
        shaken: Floats = 4 * np.spacing(np.maximum(abs(self.left), abs(self.right))) / (self.right - self.left) * rise
        return shaken

    def kept(self, keep: Booleans) -> _Panels:
        return _Panels(self.left[keep], self.right[keep], self.values[keep], self.error[keep])

    def joined(self, other: _Panels) -> _Panels:
        return _Panels(
            np.concatenate([self.left, other.left]),
            np.concatenate([self.right, other.right]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.error, other.error]),
        )


_PLACES: Floats = np.concatenate([_POINTS, _CHECKS])


def _measured(f: Function, left: Floats, right: Floats) -> _Panels:
    """f on each panel [left, right): the right end itself belongs to the next panel, for f may jump there."""
    half, middle = 0.5 * (right - left)[:, None], 0.5 * (right + left)[:, None]
    places = np.clip(middle - half * _PLACES, left[:, None], np.nextafter(right, left)[:, None])
    found = f(places.ravel()).reshape(places.shape)
    values, checks = found[:, :NODES], found[:, NODES:]
    return _Panels(left, right, values, np.abs(values @ _TO_CHECKS.T - checks).max(axis=1))


def _refined(f: Function, edges: Floats, good_enough: Callable[[_Panels], Booleans]) -> Piecewise:
    """Split panels until each is good enough or too narrow to split."""
    everything = _measured(f, edges[:-1], edges[1:])
    for _ in range(_MOST_ROUNDS):
        width = everything.right - everything.left
        narrow = width <= 16 * np.spacing(np.maximum(np.abs(everything.left), np.abs(everything.right)))
        good = good_enough(everything) | narrow
        if good.all():
            break
        if everything.left.size > _MOST_PANELS:
            raise ArithmeticError(f"not smooth enough to tabulate near {everything.left[~good].min():.6g}")
        rest = everything.kept(~good)
        cuts = np.linspace(rest.left, rest.right, _SPLIT + 1, axis=1)
        everything = everything.kept(good).joined(_measured(f, cuts[:, :-1].ravel(), cuts[:, 1:].ravel()))
    return _assembled(everything)


def _assembled(panels: _Panels) -> Piecewise:
    order = np.argsort(panels.left, kind="stable")
    left, right, values = panels.left[order], panels.right[order], panels.values[order]
    half = 0.5 * (right - left)
    powers = _TO_POWERS @ values.T
    degrees = np.arange(1, NODES + 1)
    raised = half * powers / degrees[:, None]
    at_right_end = -((-1.0) ** degrees) @ raised  # so that the antiderivative is zero at u = -1, the right end
    integral = panels.integral[order]
    return Piecewise(
        edges=np.concatenate([left, right[-1:]]),
        middle=0.5 * (right + left),
        per_half=1.0 / half,
        powers=powers,
        antiderivative=np.vstack([at_right_end, raised]),
        tails=np.concatenate([np.cumsum(integral[::-1])[::-1][1:], [0.0]]),
    )


def _edges(low: float, high: float, breaks: Sequence[float]) -> Floats:
    """First panels: ends, breaks, and a few in between that crowd toward low, where curves are steepest."""
    graded = low + (high - low) * np.array([0.0, 2.0**-8, 2.0**-4, 0.25, 0.5, 0.75, 1.0])
    # A break next to low (the smallest float above 0, say) would make a panel of no width.
    inside = [x for x in breaks if low + np.spacing(high) < x < high]
    return np.unique(np.concatenate([graded, inside]))


def fit_value(f: Function, low: float, high: float, *, tolerance: float = 1e-14) -> Piecewise:
    """f itself, to ``tolerance`` of its largest value.

    >>> root = fit_value(np.sqrt, 0.0, 1.0)
    >>> bool(abs(root.value(np.array([0.3])) - np.sqrt(0.3))[0] < 1e-13)
    True
    """

    def good_enough(panels: _Panels) -> Booleans:
        good: Booleans = panels.error <= tolerance * np.abs(panels.values).max() + panels.noise
        return good

    return _refined(f, _edges(low, high, ()), good_enough)


def fit_tail(
    f: Function, low: float, high: float, *, breaks: Sequence[float] = (), tolerance: float = 1e-13
) -> Piecewise:
    """A non-increasing f >= 0 on [low, high], low >= 0, so that x f(x) + integral_x^high f is right to ``tolerance``.

    ``breaks`` are places where f is known to jump or bend; the others are found by splitting.

    >>> table = fit_tail(lambda x: np.exp(-x), 0.0, 1.0)
    >>> bool(abs(table.tail(np.array([0.0]))[0] - (1 - np.exp(-1))) < 1e-14)
    True
    """

    def good_enough(panels: _Panels) -> Booleans:
        order = np.argsort(panels.left, kind="stable")
        tails = np.empty_like(panels.left)
        tails[order] = np.cumsum(panels.integral[order][::-1])[::-1]
        scale = panels.right * panels.values.min(axis=1) + tails
        good: Booleans = (panels.error - panels.noise) * (panels.right - panels.left) <= tolerance * scale
        return good

    return _refined(f, _edges(low, high, breaks), good_enough)


def steps(edges: Floats, heights: Floats) -> Piecewise:
    """A function that is constant between edges, with its integral.

    >>> steps(np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0])).tail(np.array([0.5, 2.0])).tolist()
    [3.0, 1.0]
    """
    half = 0.5 * np.diff(edges)
    parts = half * heights
    return Piecewise(
        edges=edges,
        middle=0.5 * (edges[1:] + edges[:-1]),
        per_half=1.0 / half,
        powers=heights[None, :],
        antiderivative=np.stack([parts, parts]),
        tails=np.concatenate([np.cumsum(2.0 * parts[::-1])[::-1][1:], [0.0]]),
    )


def last_true(holds: Callable[[Floats], Booleans], low: float, high: float) -> float:
    """The largest x in [low, high] where a condition that is true up to some point holds, to the last bit.

    Gives ``low`` when it holds nowhere beyond it and ``high`` when it holds throughout.

    >>> round(last_true(lambda x: x * x <= 2.0, 0.0, 3.0), 12)
    1.414213562373
    """
    for _ in range(7):  # 512^7 = 2^63: more than a float can tell apart, unless the place is next to zero
        grid = np.linspace(low, high, 513)
        count = int(np.count_nonzero(holds(grid)))
        if count == 0 or count == grid.size:
            return high if count else low
        low, high = float(grid[count - 1]), float(grid[count])
        if high - low <= 2 * np.spacing(high):
            break
    return low
