"""Leave-one-out clearing: summaries, rungs, and agreement of the two summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.clearing import summaries
from pdqs.clearing.ladder import STRIDE, apply, calibrate, ladder_of, summarise
from pdqs.clearing.summaries import BINS, EXACT, BidSummary, bin_of
from pdqs.model.arrays import Floats, Words
from pdqs.pricing.payment import curve
from pdqs.pricing.rules import Rule


def terms_of(budget: float, **more: Any) -> pdqs.Terms:
    return pdqs.presets.sound(query=pdqs.Count(), budget=budget, **more)


def words_of(rng: np.random.Generator, n: int) -> Words:
    return rng.integers(0, 2**32, n, dtype=np.uint32)


def same(ours: BidSummary, theirs: BidSummary) -> bool:
    """Whether two summaries are equal to the bit."""
    counted = ours.cells is not None and theirs.cells is not None and np.array_equal(ours.cells, theirs.cells)
    listed = ours.cells is None and theirs.cells is None
    alike = np.array_equal(ours.bids, theirs.bids) and np.array_equal(ours.words, theirs.words)
    return alike and (counted or listed)


def rung_by_the_book(i: int, bids: np.ndarray, terms: pdqs.Terms) -> int:
    """THEORY section 5, word for word and slowly: the largest g with sum_{j != i} P(b_j) + P(lo) <= beta."""
    ladder = ladder_of(*terms.bid_range)
    others = np.append(np.delete(bids, i), terms.setting.low)

    def affordable(g: int) -> bool:
        paid = curve(terms.bound_rule, ladder.scale(g), terms.setting).payment(others)
        return int(pdqs.model.money.payment_micros(paid * (1 + 1e-9)).sum()) <= terms.budget_micros

    low, high = ladder.lowest, ladder.highest
    if not affordable(low):
        return low - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return high if affordable(high) else low


@settings(max_examples=20)
@given(
    bids=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=9),
    budget=st.floats(0.0, 8.0),
    rule=st.sampled_from(["optimal", "robust", "linear", "step"]),
)
def test_every_rung_is_the_one_of_the_definition(bids: Floats, budget: float, rule: Rule) -> None:
    terms = terms_of(budget, rule=rule)
    bids = np.array(bids)
    calibration = calibrate(summarise(bids, np.zeros(bids.size, dtype=np.uint32), 0.0, 1.0), terms)
    rungs = calibration.rungs[calibration.segment_of(bids)]
    assert rungs.tolist() == [rung_by_the_book(i, bids, terms) for i in range(bids.size)]


def test_asking_after_one_owner_gives_the_rung_she_has_in_the_whole_market(rng: np.random.Generator) -> None:
    bids, words, terms = rng.random(60), words_of(rng, 60), terms_of(12.0)
    counted = summarise(bids, words, 0.0, 1.0)
    everyone = calibrate(counted, terms).rung_of(bids, words)
    for i in range(10):
        alone = calibrate(counted, terms, bids[i : i + 1])
        assert alone.rung_of(bids[i : i + 1], words[i : i + 1])[0] == everyone[i]


_OWNERS = st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 2**32 - 1)), max_size=40)


def summary_of(owners: list[tuple[float, int]]) -> BidSummary:
    bids, words = [bid for bid, _ in owners], [word for _, word in owners]
    return summarise(np.array(bids, dtype=np.float64), np.array(words, dtype=np.uint32), 0.0, 1.0)


@given(_OWNERS, _OWNERS)
def test_merging_summaries_is_summarising_together(ours: Any, theirs: Any) -> None:
    assert same(summary_of(ours).merged(summary_of(theirs)), summary_of(ours + theirs))


@pytest.mark.parametrize("cut", [1, 1000, EXACT - 1, EXACT, EXACT + 1])
def test_merging_across_the_change_of_summary_is_summarising_together(rng: np.random.Generator, cut: Any) -> None:
    bids, words = rng.random(EXACT + 500), words_of(rng, EXACT + 500)
    merged = summarise(bids[:cut], words[:cut], 0.0, 1.0).merged(summarise(bids[cut:], words[cut:], 0.0, 1.0))
    assert same(merged, summarise(bids, words, 0.0, 1.0))


@given(
    low=st.floats(0.0, 10.0),
    width=st.floats(0.01, 10.0),
    places=st.lists(st.floats(0.0, 1.0) | st.integers(0, BINS).map(lambda i: i / BINS), min_size=1, max_size=50),
)
def test_a_bid_stands_at_the_last_edge_not_above_it(low: float, width: float, places: Any) -> None:
    high = low + width
    bids = np.clip(low + width * np.array(places), low, high)
    edges = summaries.edges_of(low, high)
    assert bin_of(bids, low, high).tolist() == (np.searchsorted(edges, bids, side="right") - 1).tolist()


@pytest.mark.parametrize("rule", ["optimal", "robust", "linear", "exponential"])
def test_histogram_clearing_charges_at_most_a_few_parts_in_the_number_of_bins_more(
    rng: np.random.Generator, rule: Rule
) -> None:
    bids = rng.random(EXACT + 1)
    terms = terms_of(0.3 * bids.size, rule=rule)
    edges = summaries.edges_of(0.0, 1.0)[bin_of(bids, 0.0, 1.0)]
    words = words_of(rng, bids.size)
    found = calibrate(summarise(bids, words, 0.0, 1.0), terms)
    priced = curve(terms.bound_rule, found.ladder.scale(int(found.rungs[0])), terms.setting)
    exact, coarse = (float(priced.payment(charged).sum()) for charged in (bids, edges))
    assert exact <= coarse <= exact * (1 + 8 / BINS)


@pytest.mark.parametrize("rule", ["optimal", "robust", "linear", "exponential"])
def test_counted_clearing_buys_within_a_thousandth_of_exact_clearing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rule: Rule
) -> None:
    bids, words = rng.random(EXACT + 1), words_of(rng, EXACT + 1)
    terms = terms_of(0.3 * bids.size, rule=rule)
    coarse = pdqs.clear(bids, terms, draws=words)
    monkeypatch.setattr(summaries, "EXACT", 2**20)
    exact = pdqs.clear(bids, terms, draws=words)
    assert 0.999 * exact.information <= coarse.information
    assert 0.999 * exact.spent <= coarse.spent <= terms.budget


def test_every_second_rung_of_a_ladder_is_a_rung_of_it() -> None:
    fine, coarse = ladder_of(2.0, 3.0), ladder_of(2.0, 3.0, STRIDE)
    for rung in (-7, 0, 11):
        assert coarse.scale(rung) == pytest.approx(fine.scale(rung * STRIDE), rel=1e-12)


def test_batches_of_any_size_get_the_same_offers(rng: np.random.Generator) -> None:
    bids, words, terms = rng.random(20_000), words_of(rng, 20_000), terms_of(3600.0)
    calibration = calibrate(summarise(bids, words, 0.0, 1.0), terms)
    whole = apply(bids, words, calibration, terms)
    for parts in (1, 3, 977):
        split = zip(np.array_split(bids, parts), np.array_split(words, parts), strict=True)
        pieces = [apply(some, theirs, calibration, terms) for some, theirs in split]
        assert np.array_equal(np.concatenate([piece.q for piece in pieces]), whole.q)
        assert np.array_equal(np.concatenate([piece.payment_micros for piece in pieces]), whole.payment_micros)


def test_the_order_of_bids_does_not_matter(rng: np.random.Generator) -> None:
    bids, terms = rng.random(3000), terms_of(500.0)
    shuffle, owners = rng.permutation(bids.size), np.arange(bids.size)
    shuffled = pdqs.clear(bids[shuffle], terms, owners=owners[shuffle])
    assert np.array_equal(shuffled.payment_micros, pdqs.clear(bids, terms, owners=owners).payment_micros[shuffle])


def test_threads_do_not_change_offers(rng: np.random.Generator) -> None:
    bids, words, terms = rng.random(700_000), words_of(rng, 700_000), terms_of(100_000.0)
    calibration = calibrate(summarise(bids, words, 0.0, 1.0), terms)
    whole = apply(bids, words, calibration, terms)
    part = apply(bids[:60_000], words[:60_000], calibration, terms)
    assert np.array_equal(whole.payment_micros[:60_000], part.payment_micros)
    assert whole.spent <= 100_000.0


@pytest.mark.parametrize(("owners", "share"), [(100, 0.96), (1000, 0.99), (10_000, 0.999)])
def test_nearly_all_of_the_budget_is_spent(rng: np.random.Generator, owners: int, share: float) -> None:
    spent = np.mean([pdqs.clear(rng.random(owners), terms_of(0.3 * owners)).spent for _ in range(3)])
    assert share * 0.3 * owners <= spent <= 0.3 * owners


def test_a_narrow_bid_range_far_from_zero_is_not_climbed_in_strides(rng: np.random.Generator) -> None:
    bids = 100 + rng.random(2000)
    terms = terms_of(200_000.0, bid_range=(100.0, 101.0), rule="linear")
    assert pdqs.clear(bids, terms).spent > 0.98 * 200_000.0


EVERYONE_ASKED = sorted(name for name, rule in pdqs.rules.NAMED.items() if not isinstance(rule(), pdqs.rules.Asks))


@pytest.mark.parametrize("rule", EVERYONE_ASKED)
@pytest.mark.parametrize(
    ("bids", "budget"),
    [
        ([0.5] * 7, 3.0),
        ([0.0] * 4, 3.0),
        ([1.0] * 4, 3.0),
        ([0.0, 1.0], 0.5),
        ([0.2, 0.7], 0.0),
        ([0.2, 0.7, 0.9], 1e6),
    ],
)
def test_ties_empty_and_endless_budgets_are_ordinary(rule: Any, bids: Any, budget: Any) -> None:
    offers = pdqs.clear(bids, terms_of(budget, rule=rule))
    assert offers.spent <= budget
    if budget == 0:
        assert not offers.q.any()
    if budget == 1e6 and rule in ("optimal", "robust"):
        assert offers.q == pytest.approx(np.full(3, terms_of(1.0).q_max), abs=1e-9)


def test_payments_too_large_to_add_up_are_refused() -> None:
    with pytest.raises(pdqs.PdqsError, match="too large"):
        terms_of(1.0, bid_range=(0.0, 1e12))
