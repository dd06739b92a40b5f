"""Leave-one-out clearing: summaries, rungs, and agreement of the two summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.clearing import summaries
from pdqs.clearing.ladder import apply, calibrate, ladder_of, summarise
from pdqs.clearing.summaries import BINS, bin_of
from pdqs.model.arrays import Floats
from pdqs.pricing.payment import curve
from pdqs.pricing.rules import Rule


def terms_of(budget: float, **more: Any) -> pdqs.Terms:
    return pdqs.presets.sound(query=pdqs.Count(), budget=budget, **more)


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
    calibration = calibrate(summarise(bids, 0.0, 1.0), terms)
    rungs = calibration.rungs[calibration.segment_of(bids)]
    assert rungs.tolist() == [rung_by_the_book(i, bids, terms) for i in range(bids.size)]


def test_asking_after_one_owner_gives_the_rung_she_has_in_the_whole_market(rng: np.random.Generator) -> None:
    bids, terms = rng.random(60), terms_of(12.0)
    counted = summarise(bids, 0.0, 1.0)
    everyone = calibrate(counted, terms)
    for bid in bids[:10]:
        alone = calibrate(counted, terms, np.array([bid]))
        assert alone.rungs[0] == everyone.rungs[everyone.segment_of(np.array([bid]))[0]]


@given(st.lists(st.floats(0.0, 1.0), max_size=40), st.lists(st.floats(0.0, 1.0), max_size=40))
def test_merging_summaries_is_summarising_together(ours: Any, theirs: Any) -> None:
    merged = summarise(np.array(ours), 0.0, 1.0).merged(summarise(np.array(theirs), 0.0, 1.0))
    together = summarise(np.array(ours + theirs), 0.0, 1.0)
    assert merged.charged_bids.tolist() == together.charged_bids.tolist()
    assert merged.counts.tolist() == together.counts.tolist()


@pytest.mark.parametrize("cut", [1, 1000, BINS - 1, BINS, BINS + 1])
def test_merging_across_the_change_of_summary_is_summarising_together(rng: np.random.Generator, cut: Any) -> None:
    bids = rng.random(BINS + 500)
    merged = summarise(bids[:cut], 0.0, 1.0).merged(summarise(bids[cut:], 0.0, 1.0))
    together = summarise(bids, 0.0, 1.0)
    assert np.array_equal(merged.charged_bids, together.charged_bids)
    assert np.array_equal(merged.counts, together.counts)


@given(
    low=st.floats(0.0, 10.0),
    width=st.floats(0.01, 10.0),
    places=st.lists(st.floats(0.0, 1.0) | st.integers(0, BINS).map(lambda i: i / BINS), min_size=1, max_size=50),
)
def test_a_bid_stands_at_the_last_edge_not_above_it(low: float, width: float, places: Any) -> None:
    high = low + width
    bids = np.clip(low + width * np.array(places), low, high)
    edges = summaries._edges(low, high)
    assert bin_of(bids, low, high).tolist() == (np.searchsorted(edges, bids, side="right") - 1).tolist()


@pytest.mark.parametrize("rule", ["optimal", "robust", "linear", "exponential"])
def test_histogram_clearing_charges_at_most_a_few_parts_in_the_number_of_bins_more(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rule: Rule
) -> None:
    bids = rng.random(BINS + 1)
    terms = terms_of(0.3 * bids.size, rule=rule)
    coarse = summarise(bids, 0.0, 1.0)
    monkeypatch.setattr(summaries, "BINS", 2**20)
    exact = summarise(bids, 0.0, 1.0)
    scale = ladder_of(0.0, 1.0).scale(int(calibrate(exact, terms).rungs[0]))
    priced = curve(terms.bound_rule, scale, terms.setting)

    def charge(summary: Any) -> Any:
        return float(np.dot(priced.payment(summary.charged_bids), summary.counts))

    assert charge(exact) <= charge(coarse) <= charge(exact) * (1 + 8 / BINS)


@pytest.mark.parametrize("rule", ["optimal", "robust", "linear", "exponential"])
def test_histogram_clearing_is_at_most_two_rungs_below_exact_clearing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rule: Rule
) -> None:
    bids = rng.random(BINS + 1)
    terms = terms_of(0.3 * bids.size, rule=rule)
    coarse = calibrate(summarise(bids, 0.0, 1.0), terms)
    monkeypatch.setattr(summaries, "BINS", 2**20)
    exact = calibrate(summarise(bids, 0.0, 1.0), terms)
    lost = exact.rungs[exact.segment_of(bids)] - coarse.rungs[coarse.segment_of(bids)]
    assert lost.min() >= 0
    assert lost.max() <= 2  # a rung is a ten-thousandth of the scale


def test_batches_of_any_size_get_the_same_offers(rng: np.random.Generator) -> None:
    bids, terms = rng.random(5000), terms_of(900.0)
    calibration = calibrate(summarise(bids, 0.0, 1.0), terms)
    whole = apply(bids, calibration, terms)
    for parts in (1, 3, 977):
        pieces = [apply(part, calibration, terms) for part in np.array_split(bids, parts)]
        assert np.array_equal(np.concatenate([piece.q for piece in pieces]), whole.q)
        assert np.array_equal(np.concatenate([piece.payment_micros for piece in pieces]), whole.payment_micros)


def test_the_order_of_bids_does_not_matter(rng: np.random.Generator) -> None:
    bids, terms = rng.random(3000), terms_of(500.0)
    shuffle = rng.permutation(bids.size)
    assert np.array_equal(
        pdqs.clear(bids[shuffle], terms).payment_micros, pdqs.clear(bids, terms).payment_micros[shuffle]
    )


def test_threads_do_not_change_offers(rng: np.random.Generator) -> None:
    bids, terms = rng.random(700_000), terms_of(100_000.0)
    calibration = calibrate(summarise(bids, 0.0, 1.0), terms)
    whole = apply(bids, calibration, terms)
    part = apply(bids[:60_000], calibration, terms)
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
