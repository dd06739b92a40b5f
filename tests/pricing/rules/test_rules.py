"""Rules: families of falling curves, and the refusal of what is not one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdqs
from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.priors import TruncatedNormal
from pdqs.pricing import rules
from pdqs.pricing.rules import Rule, Setting
from pdqs.privacy.contracts import CONTRACTS
from pdqs.privacy.loss import cap_q, epsilon

scales = st.floats(1e-4, 1e4)


def settings_of(contract: str, k: int, eps: float = 4.0, low: float = 0.0, high: float = 1.0) -> Setting:
    return Setting(low=low, high=high, domain_size=k, contract=CONTRACTS[contract], q_max=cap_q(eps, k))


@pytest.mark.parametrize("name", sorted(rules.NAMED))
@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("k", [2, 48])
@pytest.mark.parametrize("bid_range", [(0.0, 1.0), (3.0, 5.0)])
def test_every_rule_is_a_family_of_falling_curves(
    name: str, contract: str, k: int, bid_range: tuple[float, float]
) -> None:
    setting = settings_of(contract, k, low=bid_range[0], high=bid_range[1])
    if isinstance(rules.named(name), rules.Asks) and not setting.contract.hides_coin:
        with pytest.raises(RuleError, match="needs the contract 'on-report'"):
            rules.bind(rules.named(name), setting)
        return
    rules.check(rules.bind(rules.named(name), setting), setting)


@pytest.mark.parametrize("name", sorted(rules.NAMED))
def test_nothing_is_bought_at_scale_zero(name: str) -> None:
    assert not rules.named(name).q(np.linspace(0, 1, 11), 0.0).any()


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("k", [2, 3, 10, 101])
@pytest.mark.parametrize("eps", [1.0, 4.0, 8.0])
@given(bid=st.floats(0.01, 1.0), scale=scales)
def test_optimal_beats_every_other_q_at_its_own_objective(
    contract: str, k: int, eps: float, bid: float, scale: float
) -> None:
    setting = settings_of(contract, k, eps)
    chosen = rules.Optimal(setting=setting).q(np.array([bid]), scale)
    others = np.linspace(0.0, setting.q_max, 4001)

    def objective(q: Floats) -> Any:
        return q**2 - 2 * bid * setting.load(q) / scale

    best = objective(others).max()
    assert float(objective(chosen)[0]) >= best - 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("k", [2, 3, 101])
@given(bid=st.floats(0.01, 1.0), scale=scales)
def test_robust_beats_every_other_q_at_its_own_objective(contract: str, k: int, bid: float, scale: float) -> None:
    setting = settings_of(contract, k)
    chosen = rules.Robust(setting=setting).q(np.array([bid]), scale)
    others = np.geomspace(1e-4, setting.q_max, 4001)

    def objective(q: Floats) -> Any:
        return 1 / q**2 + 2 * bid * setting.load(q) / scale

    assert float(objective(chosen)[0]) <= objective(others).min() * (1 + 1e-6)


def test_under_on_report_an_owner_sells_nothing_or_at_least_eps_2_177() -> None:
    bids = np.linspace(0.0, 1.0, 100_001)
    q = rules.Optimal().q(bids, 1.0)
    least = q[q > 0].min()
    assert least == pytest.approx(0.796, abs=5e-4)
    assert float(epsilon(np.array(least), 2)) == pytest.approx(2.177, abs=2e-3)


def test_under_on_selection_the_optimal_curve_has_no_jump() -> None:
    setting = settings_of("on-selection", 2)
    q = rules.Optimal(setting=setting).q(np.linspace(0.2, 0.26, 100_001), 1.0)
    assert np.abs(np.diff(q)).max() < 0.01


def test_beyond_two_values_on_selection_is_no_more_concave_than_on_report() -> None:
    """THEORY section 4 calls q^2 concave in the load q eps: it is for k = 2, but beyond that q / eps rises first."""
    q = np.linspace(1e-3, 0.9, 500)
    for k, rises in ((2, False), (3, True), (48, True)):
        value_for_money = q**2 / CONTRACTS["on-selection"].load(q, k)
        assert bool((np.diff(value_for_money) > 0).any()) is rises
    curve = rules.Optimal(setting=settings_of("on-selection", 48, 8.0)).q(np.linspace(0.0, 1.0, 5001), 1.0)
    assert curve[curve > 0].min() > 0.5  # so an owner sells nothing or a good deal, here too


def test_the_virtual_price_of_another_prior_moves_the_curve() -> None:
    bids = np.array([0.2])
    plain = rules.Optimal().q(bids, 1.5)
    informed = rules.Optimal(prior=TruncatedNormal(0.8, 0.1)).q(bids, 1.5)
    assert informed > plain  # few bid this low, so an owner who does is cheap at the margin


def test_the_printed_curves_are_the_papers() -> None:
    bids = np.array([0.25])
    assert rules.Linear().q(bids, np.inf) == pytest.approx(0.75)
    assert rules.Quadratic().q(bids, np.inf) == pytest.approx(0.5625)
    assert rules.Exponential(2.0).q(bids, np.inf) == pytest.approx(np.exp(-0.5))
    assert rules.Logarithmic(2.0).q(bids, np.inf) == pytest.approx(np.log(2.0))
    assert rules.Logarithmic(8.0, 0.1, 0.9).q(bids, np.inf) == pytest.approx(0.1)


@dataclass(frozen=True)
class Rising:
    def q(self, bids: Floats, scale: float) -> Any:
        return np.where(bids > 0.5, 0.6, 0.2) * min(scale, 1.0)


@dataclass(frozen=True)
class Shrinking:
    def q(self, bids: Floats, scale: float) -> Any:
        return np.full(bids.size, 1.0 / (1.0 + scale))


@dataclass(frozen=True)
class Overflowing:
    def q(self, bids: Floats, scale: float) -> Any:
        return np.full(bids.size, 1.5 + scale)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (Rising(), r"rises with the bid.* at bid 0\.5 but .* at bid 0\.5"),
        (Shrinking(), "falls as the scale grows"),
        (Overflowing(), r"leaves \[0, 1\]"),
    ],
)
def test_a_rule_that_is_no_rule_is_refused_with_the_bids_where_it_breaks(rule: Rule, says: str) -> None:
    with pytest.raises(RuleError, match=says):
        pdqs.clear([0.2, 0.4], pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=rule))


@dataclass(frozen=True)
class Bump:
    """Falls everywhere but on a thousandth of the range that the check's grid of bids may step over."""

    def q(self, bids: Floats, scale: float) -> Any:
        return np.minimum(scale, 1.0) * np.where((bids > 0.33341) & (bids < 0.33359), 0.9, 0.8 - 0.5 * bids)


def test_a_narrow_rise_that_the_grid_misses_is_still_caught_when_the_curve_is_priced() -> None:
    with pytest.raises(RuleError, match="rises with the bid"):
        pdqs.clear([0.2, 0.4], pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=Bump()))


def test_a_rule_that_can_change_is_refused() -> None:
    @dataclass
    class Mutable:
        height: float = 0.5

        def q(self, bids: Floats, scale: float) -> Any:
            return np.where(bids < scale, self.height, 0.0)

    with pytest.raises(RuleError, match="make it frozen"):
        pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=Mutable())


@pytest.mark.parametrize(
    "make",
    [
        lambda: rules.Step(q_max=1.0),
        lambda: rules.Step(q_max=0.0),
        lambda: rules.Logarithmic(1.0, 0.0, 1.0),
        lambda: rules.Logarithmic(0.0),
        lambda: rules.Exponential(-1.0),
        lambda: rules.Exponential(float("nan")),
        lambda: rules.named("cubic"),
    ],
)
def test_figures_that_make_no_rule_are_refused(make: Any) -> None:
    with pytest.raises(RuleError):
        make()


@pytest.mark.parametrize("contract", ["on-report", "on-selection"])
@pytest.mark.parametrize(("k", "cap"), [(48, 0.01), (1000, 0.2)])
def test_the_optimal_rule_falls_under_a_cap_far_below_a_thousandth(contract: str, k: int, cap: float) -> None:
    query = pdqs.Median(pdqs.Domain.grid(1, k, 1))
    terms = pdqs.presets.sound(query=query, budget=1.0, epsilon_max=cap, contract=contract, question="value")
    offers = pdqs.clear([0.1, 0.5, 0.8], terms)
    assert 0 < offers.q.max() <= terms.q_max < 1e-3
