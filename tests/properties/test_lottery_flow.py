"""The promises of a lottery, through the public flow: for any bids and any draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.auditing.mechanism import Mechanism
from pdqs.model.arrays import Floats
from pdqs.model.query import Query

QUERIES: list[Query] = [pdqs.Count(), pdqs.Median(pdqs.Domain.grid(0, 4, 1))]
words = st.integers(0, 2**32 - 1)
shares = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
ranges = st.sampled_from([(0.0, 1.0), (2.0, 3.0), (100.0, 101.0)])


@st.composite
def markets(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, pdqs.Terms]:
    """Bids, draws and terms: ties, the ends of the range, budgets below one payment and beyond all of them."""
    low, high = draw(ranges)
    owners = draw(st.integers(2, 9))
    bids = np.array([low + (high - low) * draw(shares) for _ in range(owners)])
    draws = np.array([draw(words) for _ in range(owners)], dtype=np.uint32)
    terms = pdqs.presets.honest(
        query=draw(st.sampled_from(QUERIES)),
        budget=draw(st.floats(0, 3)) * high * owners,
        bid_range=(low, high),
        rule=draw(st.sampled_from(["lottery", "flat"])),
        epsilon_max=draw(st.sampled_from([0.5, 2.0, 4.0])),
    )
    return np.clip(bids, low, high), draws, terms


def with_draws(draws: Callable[[Floats], Any]) -> Mechanism:
    """The shipped mechanism with public words of our own, which may be made from the bids."""
    return Mechanism(name="words given", clear=lambda bids, terms, _: pdqs.clear(bids, terms, draws=draws(bids)))


@settings(max_examples=60)
@given(markets(), shares, st.data())
def test_no_owner_gains_by_misreporting_her_price_whatever_the_draw(
    market: tuple[np.ndarray, np.ndarray, pdqs.Terms], lie: float, data: st.DataObject
) -> None:
    bids, draws, terms = market
    low, high = terms.bid_range
    owner = data.draw(st.integers(0, bids.size - 1))
    told = min(low + (high - low) * lie, high)
    assert not with_draws(lambda _: draws).temptation(bids, owner, told, terms).gains


@settings(max_examples=60)
@given(markets())
def test_nobody_loses_and_the_budget_holds_whatever_the_draw(
    market: tuple[np.ndarray, np.ndarray, pdqs.Terms],
) -> None:
    bids, draws, terms = market
    offers = pdqs.clear(bids, terms, draws=draws)
    assert offers.spent_micros <= terms.budget_micros
    assert (offers.payment_micros[~offers.asked] == 0).all()
    assert (offers.epsilon[~offers.asked] == 0).all()
    assert (offers.epsilon <= terms.epsilon_max + 1e-9).all()
    kept = offers.payment_micros - 1e6 * bids * offers.epsilon
    assert (kept[offers.asked] >= -2e-3 * terms.bid_range[1]).all()


@settings(max_examples=40)
@given(markets())
def test_chances_are_whole_words_and_only_who_has_one_is_asked(
    market: tuple[np.ndarray, np.ndarray, pdqs.Terms],
) -> None:
    bids, draws, terms = market
    offers = pdqs.clear(bids, terms, draws=draws)
    assert (offers.chance * 2**32 == np.floor(offers.chance * 2**32)).all()
    assert ((offers.chance >= 0) & (offers.chance <= 1)).all()
    assert (offers.chance[offers.asked] > 0).all()
    assert offers.asked[offers.chance == 1.0].all()
    assert (offers.draw == draws).all()


def test_draws_that_follow_the_bids_are_caught_as_untruthful() -> None:
    """The negative control: a draw made from the bid itself, as low as the bid is high, rewards overbidding."""
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=6.0)
    rng = np.random.default_rng(5)
    broken = with_draws(lambda bids: ((1.0 - bids) * (2**32 - 1)).astype(np.uint32))
    markets = [rng.random(8) for _ in range(40)]
    lies = [broken.temptation(bids, owner, 0.99, terms) for bids in markets for owner in range(8)]
    assert max(each.gain_micros for each in lies if each.gains) > 1000.0


def test_the_draw_follows_from_the_terms_and_the_owner_not_from_the_order_of_rows() -> None:
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=40.0)
    bids, owners = np.linspace(0.01, 0.99, 200), [f"owner {i}" for i in range(200)]
    turned = np.arange(200)[::-1]
    offers = pdqs.clear(bids, terms, owners=owners)
    again = pdqs.clear(bids[turned], terms, owners=[owners[i] for i in turned])
    assert (offers.q[turned] == again.q).all()
    assert (offers.chance[turned] == again.chance).all()
    assert (pdqs.clear(bids, terms).draw == pdqs.clear(bids, terms).draw).all()
    other = dataclasses.replace(terms, budget=41.0)
    assert (pdqs.clear(bids, other).draw != pdqs.clear(bids, terms).draw).any()


def test_a_seed_fixes_the_draw_and_a_generator_gives_a_fresh_one() -> None:
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=40.0)
    bids = np.linspace(0.01, 0.99, 200)
    assert (pdqs.clear(bids, terms, draws=3).draw == pdqs.clear(bids, terms, draws=3).draw).all()
    rng = np.random.default_rng(3)
    assert (pdqs.clear(bids, terms, draws=rng).draw != pdqs.clear(bids, terms, draws=rng).draw).any()


@pytest.mark.parametrize(
    ("draws", "says"),
    [
        ([1, 2], "column 'draw': 2 draws for 3 bids"),
        ([1, 2, 2**32], "row 3, column 'draw': 4294967296 is not a whole number from 0 to"),
        ([0.1, 0.2, 0.3], "draws must be a seed, a numpy Generator or one whole number below 2"),
        (-1, "a seed is a whole number of at least 0"),
        ("lucky", "draws must be a seed"),
    ],
)
def test_draws_that_are_none_are_refused_in_a_sentence(draws: object, says: str) -> None:
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=1.0)
    with pytest.raises(pdqs.PdqsError, match=says):
        pdqs.clear([0.1, 0.2, 0.3], terms, draws=draws)


def test_only_those_who_are_asked_report_and_are_paid() -> None:
    rng = np.random.default_rng(8)
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=60.0)
    offers = pdqs.clear(rng.random(400), terms, draws=rng)
    reports = pdqs.randomise(rng.random(400) < 0.4, offers, rng)
    assert 0 < offers.bought < 400
    assert (reports.arrived == offers.asked).all()
    payments = pdqs.settle(offers, reports, terms)
    assert payments.total_micros == offers.spent_micros
    assert (payments.micros[~offers.asked] == 0).all()
