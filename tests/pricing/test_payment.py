"""Payments: one table against independent quadrature and closed forms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from pdqs.model.priors import TruncatedNormal
from pdqs.pricing import rules
from pdqs.pricing.payment import curve
from pdqs.pricing.rules import Setting
from pdqs.privacy.contracts import CONTRACTS, ON_SELECTION
from pdqs.privacy.loss import cap_q

RULES = {
    **{name: rule for name, rule in rules.NAMED.items() if not isinstance(rule(), rules.Asks)},
    "exponential c=9": lambda: rules.Exponential(9.0),
    "logarithmic released": lambda: rules.Logarithmic(4.0, 0.1, 0.9),
    "optimal, normal prior": lambda: rules.Optimal(prior=TruncatedNormal(1.5, 0.4, 0.0, 4.0)),
}


def quadrature(priced: Any, bid: float) -> float:
    """b l(q(b)) + integral_b^hi l(q(x)) dx by scipy, split where the curve bends or jumps (found by bisection here)."""
    setting = priced.setting

    def load(x: float) -> float:
        return float(setting.load(priced.q(np.array([x])))[0])

    def place(test: Any) -> float:
        low, high = setting.low, setting.high
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if test(middle) else (low, middle)
        return high

    top = load(setting.low)
    bends = sorted({bid, place(lambda x: load(x) >= top), place(lambda x: load(x) > 0), setting.high})
    bends = [x for x in bends if x >= bid]
    # Halve toward the start of each piece, where a falling curve is steepest.
    total = 0.0
    for left, right in itertools.pairwise(bends):
        cuts = [left, *(left + (right - left) * 0.5**j for j in range(24, -1, -1))]
        total += sum(quad(load, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in itertools.pairwise(cuts))
    return bid * load(bid) + total


@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@settings(max_examples=4)
@given(
    k=st.sampled_from([2, 5, 101]),
    bid_range=st.sampled_from([(0.0, 1.0), (0.0, 4.0), (2.0, 3.0)]),
    place=st.floats(0.0, 1.0),
    scale=st.floats(0.3, 20.0),
)
def test_payments_equal_independent_quadrature_to_1e_10(
    name: str, contract: str, k: int, bid_range: tuple[float, float], place: Any, scale: float
) -> None:
    low, high = bid_range
    setting = Setting(low=low, high=high, domain_size=k, contract=CONTRACTS[contract], q_max=cap_q(6.0, k))
    priced = curve(rules.bind(RULES[name](), setting), scale * high, setting)
    bid = low + (high - low) * place
    assert float(priced.payment(np.array([bid]))[0]) == pytest.approx(quadrature(priced, bid), rel=1e-10, abs=1e-300)


def test_the_quadrature_oracle_would_notice_an_error_of_1e_9() -> None:
    setting = Setting(contract=ON_SELECTION)
    priced = curve(rules.Linear(setting=setting), 0.7, setting)
    paid = float(priced.payment(np.array([0.2]))[0])
    assert paid * (1 + 1e-9) != pytest.approx(quadrature(priced, 0.2), rel=1e-10)


PAPER = Setting(contract=ON_SELECTION, q_max=1 - 1e-6)


@given(bid=st.floats(2e-6, 0.999))
def test_linear_payments_match_their_closed_form(bid: float) -> None:
    def antiderivative(u: Any) -> Any:
        """Of u ln((1+u)/(1-u)): ((u^2 - 1)/2) ln((1+u)/(1-u)) + u."""
        return 0.5 * (u * u - 1) * (math.log1p(u) - math.log1p(-u)) + u

    u = 1.0 - bid
    expected = bid * u * math.log((1 + u) / (1 - u)) + antiderivative(u) - antiderivative(0.0)
    assert float(curve(rules.Linear(setting=PAPER), 2.0, PAPER).payment(np.array([bid]))[0]) == pytest.approx(
        expected, rel=1e-9
    )


@given(bid=st.floats(1e-3, 0.999), c=st.floats(0.1, 10.0))
@settings(max_examples=30)
def test_exponential_payments_match_their_closed_form(bid: float, c: Any) -> None:
    def antiderivative(u: Any) -> Any:
        return ((1 + u) * math.log1p(u) + (1 - u) * math.log1p(-u)) / c

    u = math.exp(-c * bid)
    expected = bid * u * math.log((1 + u) / (1 - u)) + antiderivative(u) - antiderivative(math.exp(-c))
    priced = curve(rules.Exponential(c, PAPER), 2.0, PAPER)
    assert float(priced.payment(np.array([bid]))[0]) == pytest.approx(expected, rel=1e-10)


@given(bid=st.floats(0.0, 1.0), cut=st.floats(0.01, 1.0))
def test_a_posted_price_pays_everyone_below_it_the_price(bid: float, cut: Any) -> None:
    setting = Setting(q_max=0.9)
    paid = float(curve(rules.Step(setting=setting), cut, setting).payment(np.array([bid]))[0])
    assert paid == pytest.approx(cut * math.log(1 + 1.8 / 0.1) if bid < cut else 0.0, rel=1e-12)


@pytest.mark.parametrize("name", sorted(RULES))
def test_payments_fall_with_the_bid_and_grow_with_the_scale(name: str) -> None:
    bids = np.linspace(0.0, 1.0, 3001)
    setting = Setting()
    rule = rules.bind(RULES[name](), setting)
    before = np.zeros_like(bids)
    for scale in np.geomspace(0.05, 50, 40):
        paid = curve(rule, float(scale), setting).payment(bids)
        assert (np.diff(paid) <= 1e-12 * paid[:-1]).all()
        assert (paid >= before * (1 - 1e-12)).all()
        before = paid


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.2, 1.0), (0.0, 25.0), (0.0, 1e4)])
@pytest.mark.parametrize("rule", [rules.Optimal, rules.Robust])
def test_a_normal_prior_far_above_the_range_is_priced_whatever_its_width(
    rule: type[rules.Optimal | rules.Robust], low: float, high: float
) -> None:
    width = high - low
    setting = Setting(low=low, high=high)
    bids = np.linspace(low, high, 2001)
    for far, sd in itertools.product((1.5, 10.0, 1000.0), (0.01, 1.0)):
        prior = TruncatedNormal(low + far * width, sd * width, low, high)
        assert (np.diff(prior.virtual_price(bids)) >= 0).all()
        priced = curve(rules.bind(rule(prior=prior), setting), 2.0 * high, setting)  # refuses a curve that rises
        assert np.diff(priced.q(bids)).max() < 1e-14  # the noise of a float; what is refused is a rise above 1e-9
        assert priced.q(bids)[0] > 0
