"""The closed form of the payment integral against quadrature, and its derivatives against finite differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, spence

from pdqs.neural import logistic
from pdqs.privacy.contracts import ON_SELECTION

SLOPES = (0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.99, 1.01, 3.0, 10.0, 60.0, 400.0)
INTERCEPTS = (-30.0, -8.0, -2.6, -2.4, 0.0, 1.0, 6.0, 30.0)
LEFTS = (0.0, 0.3, 0.95)


def by_quadrature(left: float, slope: float, intercept: float) -> float:
    """The integral of q eps from left to 1, piece by piece where z moves by at most 2."""

    def load(x: float) -> float:
        z = intercept - slope * x
        return float(expit(z) * np.log1p(2.0 * np.exp(z)))

    pieces = np.linspace(left, 1.0, 2 + int(slope * (1.0 - left) / 2.0))
    found = [quad(load, a, b, epsabs=0.0, epsrel=1e-13)[0] for a, b in pairwise(pieces)]
    return float(np.sum(found))


def textbook(left: float, slope: float, intercept: float) -> float:
    """(F(q(b)) - F(q(hi))) / a exactly as section 3 of the theory prints it."""

    def f(u: float) -> float:
        return float(-np.log(2) * np.log1p(-u) + spence(1 - (1 - u) / 2) + 0.5 * np.log1p(-u) ** 2)

    return (f(float(expit(intercept - slope * left))) - f(float(expit(intercept - slope)))) / slope


def closed(left: float, slope: float, intercept: float) -> float:
    return float(logistic.tail(np.array([left]), 1.0, np.array([slope]), np.array([intercept]))[0])


@pytest.mark.parametrize("slope", SLOPES)
def test_the_closed_form_is_the_integral_to_1e_12_for_every_slope(slope: float) -> None:
    for intercept in INTERCEPTS:
        for left in LEFTS:
            assert closed(left, slope, intercept) == pytest.approx(
                by_quadrature(left, slope, intercept), rel=1e-12, abs=1e-250
            )


def test_the_printed_formula_agrees_where_it_is_well_conditioned() -> None:
    for slope, intercept in ((5.0, 3.0), (8.0, 2.0), (12.0, 9.0)):
        assert closed(0.2, slope, intercept) == pytest.approx(textbook(0.2, slope, intercept), rel=1e-12, abs=1e-250)


def test_the_printed_formula_alone_would_fail_the_same_test() -> None:
    for slope, intercept in ((1e-6, 0.0), (10.0, -8.0)):
        wanted = by_quadrature(0.3, slope, intercept)
        assert textbook(0.3, slope, intercept) != pytest.approx(wanted, rel=1e-12, abs=1e-250)
        assert closed(0.3, slope, intercept) == pytest.approx(wanted, rel=1e-12, abs=1e-250)


def test_the_load_is_that_of_the_papers_contract() -> None:
    z = np.linspace(-20, 12, 200)
    assert logistic.load(z) == pytest.approx(ON_SELECTION.load(expit(z), 2), rel=1e-9, abs=1e-250)


def test_the_load_slope_is_the_derivative_of_the_load() -> None:
    z, h = np.linspace(-15, 15, 100), 1e-5
    found = (logistic.load(z + h) - logistic.load(z - h)) / (2 * h)
    assert logistic.load_slope(z) == pytest.approx(found, rel=1e-7)


def test_the_tails_derivatives_match_finite_differences() -> None:
    rng = np.random.default_rng(1)
    point = [rng.uniform(0.02, 0.95, 300), 10 ** rng.uniform(-3, 2, 300), rng.uniform(-6, 12, 300)]
    slopes = logistic.tail_slopes(point[0], 1.0, point[1], point[2])
    for i, slope in enumerate(slopes):
        step = 1e-5 * np.maximum(point[i], 1e-2) if i < 2 else np.full(300, 1e-5)
        high, low = ([x + sign * step if j == i else x for j, x in enumerate(point)] for sign in (1, -1))
        there = logistic.tail(high[0], 1.0, high[1], high[2]) - logistic.tail(low[0], 1.0, low[1], low[2])
        assert slope == pytest.approx(there / (2 * step), rel=2e-6, abs=1e-9)
