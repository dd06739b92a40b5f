"""Who climbs the ladder first: equal and coarse bids are bought from, and every promise stands for every draw."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.clearing import ladder
from pdqs.clearing.ladder import calibrate, summarise
from pdqs.clearing.ladder_costs import NOBODY, Costs
from pdqs.clearing.summaries import EXACT
from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.money import payment_micros
from pdqs.model.priors import TruncatedNormal
from pdqs.pricing.payment import curve, misreport_micros

DRAWS = st.lists(st.integers(0, 2**32 - 1) | st.sampled_from([0, 2**31, 2**32 - 1]), min_size=6, max_size=6)


def terms_of(budget: float, **more: Any) -> pdqs.Terms:
    return pdqs.presets.sound(query=pdqs.Count(), budget=budget, **{"rule": "optimal", "epsilon_max": 4.0, **more})


def words_of(rng: np.random.Generator, n: int) -> Words:
    return rng.integers(0, 2**32, n, dtype=np.uint32)


@pytest.mark.parametrize("n", [200, 2000, EXACT + 1000])
@pytest.mark.parametrize("budget", [0.05, 0.1, 0.3, 0.6])
def test_equal_bids_spend_nine_tenths_of_the_budget_at_least(rng: np.random.Generator, n: int, budget: float) -> None:
    terms = terms_of(n * budget)
    offers = pdqs.clear(np.full(n, 0.3), terms, draws=rng)
    assert 0.9 * terms.budget <= offers.spent <= terms.budget


@pytest.mark.parametrize("n", [200, EXACT + 1000])
@pytest.mark.parametrize("grid", [4, 10, 20])
def test_coarse_bids_spend_nine_tenths_of_the_budget_at_least(rng: np.random.Generator, n: int, grid: int) -> None:
    bids = rng.integers(0, grid + 1, n) / grid
    for budget in (0.05, 0.1, 0.3):
        terms = terms_of(n * budget)
        assert 0.9 * terms.budget <= pdqs.clear(bids, terms, draws=rng).spent <= terms.budget


@pytest.mark.parametrize("rule", ["linear", "quadratic", "exponential", "step"])
def test_every_rule_that_stops_at_a_price_is_bought_from(rng: np.random.Generator, rule: str) -> None:
    terms = terms_of(30.0, rule=rule)
    assert 0.9 * terms.budget <= pdqs.clear(np.full(300, 0.3), terms, draws=rng).spent <= terms.budget


def test_the_ladder_without_words_buys_nothing_from_equal_bids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the same market if nobody may climb before the others."""

    def nobody(costs: Costs, rung: int) -> Integers:
        return np.full(costs.at(rung).wanted.size, NOBODY)

    monkeypatch.setattr(Costs, "last_to_climb", nobody)
    assert pdqs.clear(np.full(200, 0.3), terms_of(20.0)).spent == 0
    assert pdqs.clear(np.arange(400) % 5 / 4, terms_of(100.0)).spent < 0.7 * 100.0


def test_distinct_bids_buy_as_much_as_they_did(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    bids, terms = rng.random(1000), terms_of(200.0)
    with_words = pdqs.clear(bids, terms)
    monkeypatch.setattr(Costs, "last_to_climb", lambda costs, rung: np.full(costs.at(rung).wanted.size, NOBODY))
    without = pdqs.clear(bids, terms)
    assert (with_words.q >= without.q).all()
    assert with_words.information <= 1.02 * without.information


def test_a_prior_without_a_shared_shape_climbs_too(rng: np.random.Generator) -> None:
    terms = terms_of(20.0, prior=TruncatedNormal(0.3, 0.2, 0.0, 1.0))
    assert 0.9 * terms.budget <= pdqs.clear(np.full(200, 0.3), terms, draws=rng).spent <= terms.budget


def utility(offers: pdqs.Offers, i: int, price: float, terms: pdqs.Terms) -> float:
    """P - theta l(q), in micro-units."""
    return float(offers.payment_micros[i] - 1e6 * price * terms.setting.load(offers.q[i : i + 1])[0])


RANGES = [(0.0, 1.0), (2.0, 3.0), (100.0, 101.0)]


@settings(max_examples=40)
@given(
    places=st.lists(st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 1.0]), min_size=3, max_size=6),
    words=DRAWS,
    lie=st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 1.0]),
    budget=st.floats(0.01, 6.0),
    within=st.sampled_from(RANGES),
    rule=st.sampled_from(["optimal", "optimal", "linear", "step"]),
)
def test_no_lie_gains_nobody_loses_and_the_budget_holds_for_every_draw(
    places: Any, words: Any, lie: float, budget: float, within: Any, rule: str
) -> None:
    low, high = within
    terms = terms_of(budget * high, bid_range=within, rule=rule)
    bids = np.clip(low + (high - low) * np.array(places), low, high)
    draws = np.array(words[: bids.size], dtype=np.uint32)
    told = bids.copy()
    told[0] = min(max(low + (high - low) * lie, low), high)
    honest, lying = pdqs.clear(bids, terms, draws=draws), pdqs.clear(told, terms, draws=draws)
    assert honest.spent_micros <= terms.budget_micros
    assert lying.spent_micros <= terms.budget_micros
    assert all(utility(honest, i, bids[i], terms) >= -1e-6 for i in range(bids.size))
    gain = utility(lying, 0, bids[0], terms) - utility(honest, 0, bids[0], terms)
    assert gain <= misreport_micros(bids[0], terms.setting)


def most_gained(clear: Callable[[Floats, Words, pdqs.Terms], pdqs.Offers], rng: np.random.Generator) -> float:
    """The most that any owner of two markets gained by a lie next to her price, beyond what rounding gives away.

    One rung is worth some 50 micro-units to an owner, and a lie that is next to the truth costs her nothing.
    """
    most = -np.inf
    for n in (8, 12):
        bids, words, terms = 0.05 + 0.2 * rng.random(n), words_of(rng, n), terms_of(0.3 * n)
        honest = clear(bids, words, terms)
        for i, step in itertools.product(range(n), (-1e-7, 1e-7)):
            told = bids.copy()
            told[i] += step
            lying = clear(told, words, terms)
            gain = utility(lying, i, bids[i], terms) - utility(honest, i, bids[i], terms)
            most = max(most, gain - misreport_micros(bids[i], terms.setting))
    return float(most)


def cleared(bids: Floats, words: Words, terms: pdqs.Terms) -> pdqs.Offers:
    return pdqs.clear(bids, terms, draws=words)


def test_lies_next_to_the_truth_gain_nothing(rng: np.random.Generator) -> None:
    assert most_gained(cleared, rng) <= 0


def test_words_that_depend_on_bids_are_caught(rng: np.random.Generator) -> None:
    """A negative control: whoever bids an even number of ten-millionths goes first."""

    def drawn_from_bids(bids: Floats, words: Words, terms: pdqs.Terms) -> pdqs.Offers:
        del words
        odd = np.rint(bids * 1e7).astype(np.int64) % 2
        return pdqs.clear(bids, terms, draws=odd * (2**32 - 1))

    assert most_gained(drawn_from_bids, rng) > 5


def climbs_by_the_book(i: int, rung: int, bids: Floats, words: Words, terms: pdqs.Terms) -> bool:
    """The definition: sum_{j != i} P(b_j; s_{g + [w_j <= w_i]}) + P(lo; s_{g+1}) <= beta, slowly."""
    steps = ladder.ladder_of(*terms.bid_range)

    def charge(bid: float, g: int) -> int:
        if steps.scale(g) <= 0:
            return 0
        paid = curve(terms.bound_rule, steps.scale(g), terms.setting).payment(np.array([bid]))
        return int(payment_micros(paid * (1 + 1e-9))[0])

    others = sum(charge(bids[j], rung + int(words[j] <= words[i])) for j in range(bids.size) if j != i)
    return others + charge(terms.setting.low, rung + 1) <= terms.budget_micros


@settings(max_examples=20)
@given(
    bids=st.lists(st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=6),
    words=DRAWS,
    budget=st.floats(0.0, 8.0),
    rule=st.sampled_from(["optimal", "robust", "linear", "step"]),
)
def test_who_climbs_is_who_climbs_by_the_definition(bids: Any, words: Any, budget: float, rule: str) -> None:
    terms, prices = terms_of(budget, rule=rule), np.array(bids)
    draws = np.array(words[: prices.size], dtype=np.uint32)
    found = calibrate(summarise(prices, draws, 0.0, 1.0), terms)
    common = found.rungs[found.segment_of(prices)]
    climbed = found.rung_of(prices, draws) - common
    for i in range(prices.size):
        if common[i] < found.ladder.highest:
            assert bool(climbed[i]) == climbs_by_the_book(i, int(common[i]), prices, draws, terms)


def test_words_left_out_follow_from_the_terms_and_the_owner() -> None:
    bids, terms, owners = np.full(300, 0.3), terms_of(30.0), np.arange(300)
    first, again = pdqs.clear(bids, terms), pdqs.clear(bids, terms)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.draw, pdqs.clear(bids, terms, owners=owners).draw)
    assert not np.array_equal(first.draw, pdqs.clear(bids, terms_of(31.0)).draw)


def test_a_generator_gives_its_next_coins_as_if_no_ties_had_been_broken() -> None:
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    pdqs.clear(np.full(300, 0.3), terms_of(30.0), draws=one)
    assert one.random() == two.random()
    assert not np.array_equal(
        pdqs.clear(np.full(300, 0.3), terms_of(30.0), draws=one).q, pdqs.clear([0.3] * 300, terms_of(30.0), draws=one).q
    )
