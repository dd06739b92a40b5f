"""The promises, for every rule and contract, on whatever market hypothesis can think of.

Truthful: no misreport gains more than rounding gives away. Rational: the payment covers the price of the privacy lost.
Within budget: on the integers, always. The paper's greedy clearing goes through the same test and must be caught.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.auditing.mechanism import Mechanism
from pdqs.auditing.temptation import Temptation
from pdqs.model.arrays import Floats
from pdqs.pricing.payment import misreport_micros
from pdqs.pricing.rules import NAMED, Asks, Rule
from pdqs.privacy.contracts import CONTRACTS
from pdqs.rounds.terms import Terms

RULES = sorted(name for name, rule in NAMED.items() if not isinstance(rule(), Asks))  # lotteries have their own tests
IN_FULL = Mechanism(name="every market cleared whole", clear=lambda bids, terms, _draws: pdqs.clear(bids, terms))
owners_bids = st.lists(st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 0.25, 0.5, 1.0]), min_size=2, max_size=8)


def terms_of(rule: Any, contract: Any, budget: Any, k: Any = 2, clearing: Any = "ladder") -> Any:
    query = pdqs.Count() if k == 2 else pdqs.Median(pdqs.Domain.grid(1, k, 1))
    return pdqs.presets.sound(
        query=query, budget=budget, rule=rule, contract=contract, clearing=clearing, question="value"
    )


def temptations(bids: Floats, i: int, lies: Any, terms: Terms) -> list[Temptation]:
    """What each of these lies brings owner i, each market cleared whole."""
    return [IN_FULL.temptation(bids, i, lie, terms) for lie in lies]


def best_gain_micros(bids: Floats, i: int, lies: Any, terms: Terms) -> float:
    """The most that owner i gains by any of these lies."""
    return max(each.gain_micros for each in temptations(bids, i, lies, terms))


def tempting_lies(bids: np.ndarray, more: list[float]) -> list[float]:
    """Others' bids and the places just beside them, the ends of the range, and some anywhere."""
    beside = np.concatenate([bids, np.nextafter(bids, 0), np.nextafter(bids, 1), [0.0, 1.0], more])
    return [float(x) for x in np.unique(np.clip(beside, 0.0, 1.0))]


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=12)
@given(bids=owners_bids, budget=st.floats(0.0, 8.0), k=st.sampled_from([2, 2, 7]), data=st.data())
def test_no_owner_gains_by_misreporting_her_price(
    rule: Rule, contract: str, bids: Floats, budget: float, k: int, data: st.DataObject
) -> None:
    terms, bids = terms_of(rule, contract, budget, k), np.array(bids)
    i = data.draw(st.integers(0, bids.size - 1))
    lies = data.draw(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2))
    lies += [float(bids[data.draw(st.integers(0, bids.size - 1))])]
    assert not any(each.gains for each in temptations(bids, i, lies, terms))


def test_the_papers_greedy_stop_is_caught_as_untruthful() -> None:
    bids = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    terms = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=2.3)
    gain = best_gain_micros(bids, 3, tempting_lies(bids, [0.29]), terms)
    assert gain > 100_000  # a tenth of a unit of money, where the ladder's limit is a millionth
    sound = terms_of("linear", "on-selection", 2.3)
    assert not any(each.gains for each in temptations(bids, 3, tempting_lies(bids, [0.29]), sound))


def test_forty_six_of_two_hundred_owners_lie_to_the_greedy_mechanism() -> None:
    bids = (np.arange(200) + 0.5) / 200
    terms = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20.0)
    offers = pdqs.clear(bids, terms)
    assert offers.bought == 21
    assert offers.payment[offers.q > 0].mean() == pytest.approx(0.94, abs=0.005)
    # A lie pays only if it buys her in: bids just above and below those of the last winners are all worth trying.
    lies = np.unique(np.concatenate([bids[:24], bids[:24] - 1e-7, bids[:24] + 1e-7, [0.0]]).clip(0, 1))
    gains = np.array([best_gain_micros(bids, i, lies, terms) for i in range(80)])
    assert int((gains > 1.05).sum()) == 46
    assert gains.max() == pytest.approx(600_000, rel=0.01)
    assert bids[int(gains.argmax())] == pytest.approx(0.1075)


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=20)
@given(bids=owners_bids, budget=st.floats(0.0, 8.0), k=st.sampled_from([2, 2, 7]))
def test_every_owner_is_paid_her_price_and_the_budget_is_kept_on_the_integers(
    rule: Rule, contract: str, bids: Floats, budget: float, k: int
) -> None:
    terms = terms_of(rule, contract, budget, k)
    offers = pdqs.clear(bids, terms)
    assert sum(map(int, offers.payment_micros)) <= terms.budget_micros
    loads = terms.setting.load(offers.q)
    for bid, load, paid in zip(bids, loads, offers.payment_micros, strict=True):
        assert Decimal(bid) * Decimal(float(load)) * 10**6 <= int(paid)
    assert ((offers.payment_micros == 0) | (offers.q > 0)).all()


def test_payments_rounded_down_would_be_caught_as_irrational() -> None:
    """Negative control: at the top of the range the payment is the price itself, and rounding it down breaks it."""
    terms = terms_of("robust", "on-report", 3.0)
    offers = pdqs.clear([1.0, 1.0, 1.0, 0.3], terms)
    price = Decimal(float(offers.epsilon[0])) * 10**6
    assert price <= int(offers.payment_micros[0])
    assert price > int(offers.payment_micros[0]) - 1


@pytest.mark.parametrize("rule", RULES)
def test_every_promise_holds_in_a_larger_market_with_any_prior(rule: Rule, rng: np.random.Generator) -> None:
    bids = rng.beta(2, 5, 400) * 3 + 1
    terms = pdqs.presets.sound(
        query=pdqs.Count(), budget=150.0, bid_range=(1.0, 4.0), rule=rule, prior=pdqs.priors.TruncatedNormal(2, 1, 1, 4)
    )
    offers = pdqs.clear(bids, terms)
    assert offers.spent_micros <= terms.budget_micros
    assert (offers.payment_micros >= bids * offers.epsilon * 1e6 * (1 - 1e-15)).all()
    for i in rng.integers(0, bids.size, 2):
        assert not any(each.gains for each in temptations(bids, int(i), list(rng.uniform(1, 4, 2)), terms))


def test_with_ten_thousand_values_rounding_gives_away_what_the_steepest_load_says(rng: np.random.Generator) -> None:
    """Next to q = 0 the load of many values is k steep, far steeper than at the cap: l'(q_max) would promise 1.01."""
    terms = terms_of("linear", "on-report", 40.0, 10_000)
    bids = np.sort(rng.random(6))
    bids[-1] = 0.97
    lies = 1.0 - np.geomspace(1e-6, 1e-3, 40)
    gain = best_gain_micros(bids, 5, lies, terms)
    bound = misreport_micros(bids[-1], terms.setting)
    assert gain <= bound
    assert bound == pytest.approx(1.0 + 0.97 * 1e4 * 2.0**-32 * 1e6, abs=0.01)


def test_on_a_range_of_a_million_units_a_lie_gains_no_more_than_the_bound_says(rng: np.random.Generator) -> None:
    """One step of q, 2^-32, is worth a thousandth of a unit there, and the bound must say so."""
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=2e6, bid_range=(0.0, 1e6), rule="quadratic")
    bids = np.sort(1e6 * rng.random(6))
    lies = [*(1e6 * (1.0 - np.geomspace(1e-6, 1e-2, 8))), *bids[:-1], 0.0]
    for owner in (2, 5):
        gain, bound = best_gain_micros(bids, owner, lies, terms), misreport_micros(bids[owner], terms.setting)
        assert gain <= bound
        assert bound == pytest.approx(1.0 + bids[owner] * 2 / (1 - terms.q_max**2) * 2.0**-32 * 1e6, rel=0.02)
