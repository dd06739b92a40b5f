"""The lottery's figures, curves and chances, against slow oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pdqs.model.errors import RuleError
from pdqs.model.priors import Prior, TruncatedNormal
from pdqs.pricing.rules import check
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.flat import Flat
from pdqs.pricing.rules.lottery import Lottery, best_buy
from pdqs.privacy.contracts import ON_REPORT, ON_SELECTION
from pdqs.privacy.loss import cap_epsilon, cap_q, epsilon


def setting_of(cap: float, k: int = 2, span: Any = (0.0, 1.0)) -> Setting:
    return Setting(low=span[0], high=span[1], domain_size=k, q_max=cap_q(cap, k))


def test_the_best_buy_of_a_yes_or_no_question_is_the_one_of_the_theory() -> None:
    best = best_buy(ON_REPORT, 2, cap_q(8.0, 2))
    assert best.q == pytest.approx(0.7964, abs=5e-5)
    assert best.load == pytest.approx(2.1773, abs=5e-5)
    assert best.m1 == pytest.approx(0.7242, abs=1e-4)


@pytest.mark.parametrize(("k", "eps"), [(2, 2.177), (3, 2.75), (4, 3.15), (5, 3.46), (8, 4.08)])
def test_the_best_eps_grows_with_the_number_of_values(k: int, eps: float) -> None:
    assert cap_epsilon(best_buy(ON_REPORT, k, cap_q(9.0, k)).q, k) == pytest.approx(eps, abs=0.006)


@pytest.mark.parametrize("cap", [0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("k", [2, 3, 5, 48])
def test_the_best_buy_has_the_most_information_for_the_money(k: int, cap: float) -> None:
    best, q = best_buy(ON_REPORT, k, cap_q(cap, k)), np.linspace(1e-4, cap_q(cap, k), 20_001)
    assert best.q**2 / best.load >= (q**2 / epsilon(q, k)).max() * (1 - 1e-7)  # q* is on the grid of 2^-32
    assert best.q <= cap_q(cap, k)


def test_a_cap_of_2_costs_nothing_and_a_cap_of_1_a_quarter_of_the_information() -> None:
    worth = {cap: (b := best_buy(ON_REPORT, 2, cap_q(cap, 2))).q ** 2 / b.load for cap in (1.0, 2.0, 8.0)}
    assert best_buy(ON_REPORT, 2, cap_q(2.0, 2)).q == pytest.approx(0.7616, abs=5e-5)
    assert 1 - worth[2.0] / worth[8.0] == pytest.approx(0.003, abs=0.002)
    assert 1 - worth[1.0] / worth[8.0] == pytest.approx(0.27, abs=0.01)


@given(
    bid=st.floats(0.0, 1.0), scale=st.floats(0.05, 40.0), cap=st.sampled_from([0.5, 2.0, 4.0, 8.0]), k=st.integers(2, 9)
)
def test_chance_and_q_are_the_least_variance_for_the_money(bid: Any, scale: Any, cap: Any, k: Any) -> None:
    """An oracle by search: minimise 1/(rho q^2) + m rho l(q) over rho in (0, 1] and q in (0, q_max]."""
    setting = setting_of(cap, k)
    rule, m = Lottery(setting=setting), 2 * bid / scale

    def cost(rho: float, q: float) -> float:
        return 1 / (rho * q * q) + m * rho * float(epsilon(np.array(q), k))

    def best_rho(q: float) -> float:
        return min(1.0, 1 / (q * np.sqrt(max(m * float(epsilon(np.array(q), k)), 1e-12))))

    grid = np.linspace(0.02, 1.0, 60) * setting.q_max
    start = grid[np.argmin([cost(best_rho(q), q) for q in grid])]
    found = minimize_scalar(
        lambda q: cost(best_rho(q), q), bounds=(max(start - 0.05, 0.01), min(start + 0.05, setting.q_max))
    )
    ours = cost(float(rule.chance(np.array([bid]), scale)[0]), float(rule.q(np.array([bid]), scale)[0]))
    assert ours <= found.fun * (1 + 1e-6)


@pytest.mark.parametrize("span", [(0.0, 1.0), (2.0, 3.0), (100.0, 101.0)])
@pytest.mark.parametrize("prior", [None, "normal"])
@pytest.mark.parametrize("cap", [1.0, 4.0])
def test_the_threshold_is_the_largest_bid_that_is_asked(span: Any, prior: Prior, cap: float) -> None:
    believed = TruncatedNormal(span[0] + 0.4, 0.3, *span) if prior else None
    rule = Lottery(prior=believed, setting=setting_of(cap, span=span))
    for scale in (0.01 * span[1], 0.3 * span[1], 2.0 * span[1]):
        for draw in (1e-4, 0.1, 0.35, 0.9):
            edge = float(rule.threshold(np.array([draw]), scale)[0])
            if edge < span[0]:
                assert rule.chance(np.array([span[0]]), scale)[0] < draw
                continue
            assert rule.chance(np.array([edge - 1e-9]), scale)[0] >= draw * (1 - 1e-9)
            if edge < span[1]:
                assert rule.chance(np.array([edge + 1e-6 * span[1]]), scale)[0] < draw


@pytest.mark.parametrize("cap", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("k", [2, 48])
def test_lottery_and_flat_are_families_of_falling_curves(cap: float, k: int) -> None:
    setting = setting_of(cap, k, (0.5, 2.0))
    bids = np.linspace(0.5, 2.0, 301)
    for rule in (Lottery(setting=setting), Flat(setting=setting)):
        check(rule, setting)
        before = np.zeros_like(bids)
        for scale in np.geomspace(1e-4, 1e4, 33):
            chance = rule.chance(bids, float(scale))
            assert (np.diff(chance) <= 0).all()
            assert (chance >= before).all()
            before = chance
        assert (rule.chance(bids, 0.0) == 0).all()


def test_flat_gives_everyone_the_same_chance_and_offers_the_top_of_the_range() -> None:
    rule = Flat(setting=setting_of(2.0))
    chance = rule.chance(np.linspace(0, 1, 11), 0.2)
    assert np.ptp(chance) < 1e-6
    assert rule.threshold(np.array([chance[-1] * 0.99]), 0.2)[0] == 1.0


def test_the_virtual_price_of_a_prior_is_capped() -> None:
    rule = Lottery(prior=TruncatedNormal(0.1, 0.05), setting=setting_of(2.0))
    chance = rule.chance(np.array([0.0, 0.1, 1.0]), 0.05)
    assert chance[2] >= chance[1] / 20


@pytest.mark.parametrize("make", [Lottery, Flat])
def test_a_contract_that_pays_by_the_coin_is_refused(make: Any) -> None:
    with pytest.raises(RuleError, match=r"needs the contract 'on-report', not 'on-selection'"):
        make(setting=Setting(contract=ON_SELECTION))


def test_a_cap_that_tells_nothing_is_refused() -> None:
    with pytest.raises(RuleError, match="too little"):
        Lottery(setting=Setting(q_max=1e-11)).q(np.array([0.5]), 1.0)
