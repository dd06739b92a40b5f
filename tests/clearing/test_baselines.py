"""Two baselines of the paper's related work, each against a slow oracle and against what it promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.model.arrays import Floats
from pdqs.pricing.rules import Laplace

thousandths = st.lists(st.integers(0, 1000), min_size=2, max_size=25)
budgets = st.floats(0.01, 12.0)


def single_minded(budget: float, epsilon: float = 1.0) -> pdqs.Terms:
    return pdqs.presets.single_minded(query=pdqs.Count(), budget=budget, epsilon=epsilon)


def fallah(budget: float) -> pdqs.Terms:
    return pdqs.presets.fallah_local(query=pdqs.Count(), budget=budget)


def payments(bids: Floats, terms: pdqs.Terms) -> Floats:
    return pdqs.clear(bids, terms).payment


def pay_as_bid(bids: Floats, terms: pdqs.Terms) -> Floats:
    """The control: the same owners are bought, each for what she asks."""
    return np.asarray(bids * pdqs.clear(bids, terms).epsilon)


def most_gained(bids: Floats, terms: pdqs.Terms, paid: Callable[[Floats, pdqs.Terms], Floats] = payments) -> float:
    """The most that any owner gains by any of 41 lies and the others' own bids."""
    gains = []
    for owner, price in enumerate(bids):

        def kept(stated: float, owner: int = owner, price: float = float(price)) -> float:
            told = np.where(np.arange(bids.size) == owner, stated, bids)
            return float(paid(told, terms)[owner] - price * pdqs.clear(told, terms).epsilon[owner])

        honest = kept(float(price))
        gains += [kept(float(lie)) - honest for lie in np.unique(np.concatenate([np.linspace(0.0, 1.0, 41), bids]))]
    return max(gains)


@given(thousandths, budgets, st.floats(0.1, 4.0))
def test_single_minded_is_the_proportional_share_found_by_trying_every_k(
    places: list[int], budget: float, epsilon: float
) -> None:
    bids = np.array(places) / 1000
    offers = pdqs.clear(bids, single_minded(budget, epsilon))
    ascending = np.append(np.sort(bids), 1.0)
    tried = [k for k in range(1, bids.size + 1) if ascending[k - 1] * epsilon <= budget / k]
    k = max(tried, default=0)
    paid = min(budget / k, ascending[k] * epsilon) if k else 0.0
    if k and abs(ascending[k - 1] * epsilon - budget / k) < 1e-5:
        return  # a tie to the micro-unit: either is right
    assert offers.bought == k
    assert offers.payment[offers.q > 0] == pytest.approx(np.full(k, paid), abs=3e-6)
    assert offers.epsilon[offers.q > 0] == pytest.approx(np.full(k, epsilon), rel=1e-6)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=8), budgets)
def test_no_owner_gains_by_lying_to_single_minded(places: list[int], budget: float) -> None:
    assert most_gained(np.array(places) / 1000, single_minded(budget)) <= 2.1e-6


def test_the_same_search_finds_the_liar_where_each_is_paid_what_she_asks() -> None:
    assert most_gained(np.array([0.1, 0.2, 0.3, 0.9]), single_minded(1.0), pay_as_bid) > 0.1


@given(thousandths, budgets)
def test_single_minded_pays_what_is_asked_and_keeps_the_budget(places: list[int], budget: float) -> None:
    bids, terms = np.array(places) / 1000, single_minded(budget)
    offers = pdqs.clear(bids, terms)
    assert offers.spent_micros <= terms.budget_micros
    assert (offers.payment >= bids * offers.epsilon - 1e-9).all()


def slow_epsilon(price: float, scale: float, cap: float) -> float:
    """The best eps by trying ten thousand of them."""
    tried = np.linspace(0.0, cap, 10_001)
    return float(tried[np.argmax(tried**2 / (tried**2 + 8.0) - price * tried / scale)])


@given(st.floats(0.001, 1.0), st.floats(0.01, 100.0))
def test_the_laplace_rule_is_the_best_epsilon_found_by_trying_them_all(bid: float, scale: float) -> None:
    rule = Laplace()
    found = float(np.log1p(2 * (q := rule.q(np.array([bid]), scale)[0]) / (1 - q)))
    wanted = slow_epsilon(2 * bid, scale, 4.0)
    worth = [e * e / (e * e + 8.0) - 2 * bid * e / scale for e in (found, wanted)]
    assert worth[0] >= worth[1] - 1e-8
    assert found == pytest.approx(wanted, abs=2e-3) or worth[0] == pytest.approx(worth[1], abs=1e-6)


def test_fallah_spends_the_budget_on_average_and_passes_it_in_about_half_of_rounds() -> None:
    """400 rounds: a mean off by 1 % would be 6 standard errors; the share of a fair coin leaves .4-.6 once in 10^4."""
    rng, terms = np.random.default_rng(5), fallah(60.0)
    spent = np.array([pdqs.clear(rng.random(200), terms).spent for _ in range(400)])
    assert spent.mean() == pytest.approx(60.0, rel=0.01)
    assert 0.4 <= (spent > 60.0).mean() <= 0.6
    assert not terms.keeps_budget


def test_no_owner_gains_by_lying_to_fallah_and_nobody_pays_to_take_part() -> None:
    bids, terms = np.array([0.02, 0.1, 0.2, 0.35, 0.6, 0.9]), fallah(2.0)
    offers = pdqs.clear(bids, terms)
    assert offers.bought
    assert most_gained(bids, terms) <= 2.1e-6
    assert (offers.payment >= bids * offers.epsilon - 1e-9).all()


def test_fallahs_curve_does_not_read_the_bids() -> None:
    rng, terms = np.random.default_rng(2), fallah(3.0)
    bids = rng.random(10)
    others = np.append(bids[0], rng.random(9))
    assert pdqs.clear(bids, terms).payment_micros[0] == pdqs.clear(others, terms).payment_micros[0]


@pytest.mark.parametrize("terms", [single_minded(3.0), fallah(3.0)], ids=["single-minded", "fallah"])
def test_a_baseline_keeps_by_the_audit_what_it_promises_and_reads_back(terms: pdqs.Terms) -> None:
    report = pdqs.audit(terms, owners=20, effort="quick")
    assert {promise.code for promise in report.broken} <= {"COV"}  # both stand on the cheap where prices tell
    assert pdqs.Terms.read(terms.canonical()) == terms


def test_a_baseline_that_claimed_the_budget_without_a_cut_would_be_caught() -> None:
    report = pdqs.audit(fallah(3.0), owners=20, effort="quick")
    (budget,) = [promise for promise in report.promises if promise.code == "BF"]
    assert budget.verdict == "not promised"


def test_no_money_buys_nothing_of_either() -> None:
    for terms in (single_minded(3.0), fallah(3.0)):
        assert pdqs.clear([0.1, 0.5], dataclasses.replace(terms, budget=0.0)).bought == 0
