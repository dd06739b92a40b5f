"""The public jitter of the scale: ties are told apart, and the promises of the ladder stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.clearing.jitter import EXACT, apply_jittered, calibrate_jittered, summarise_jittered


def terms_of(budget: float, **more: Any) -> pdqs.Terms:
    return pdqs.Terms(query=pdqs.Count(), budget=budget, **{"rule": "optimal", "epsilon_max": 4.0, **more})


def cleared(bids: Any, words: Any, terms: Any) -> Any:
    bids, words = np.asarray(bids, dtype=np.float64), np.asarray(words, dtype=np.uint32)
    calibration = calibrate_jittered(summarise_jittered(bids, words, *terms.bid_range), terms)
    return apply_jittered(bids, words, calibration, terms)


@pytest.mark.parametrize("budget", [0.1, 0.3, 0.6])
def test_a_market_of_equal_bids_is_bought_from(rng: np.random.Generator, budget: Any) -> None:
    words = rng.integers(0, 2**32, 200, dtype=np.uint32)
    terms = terms_of(200 * budget)
    _, payments = cleared(np.full(200, 0.3), words, terms)
    assert 0.9 * terms.budget_micros <= payments.sum() <= terms.budget_micros


def test_a_market_of_coarse_bids_is_bought_from(rng: np.random.Generator) -> None:
    words, bids = rng.integers(0, 2**32, 400, dtype=np.uint32), rng.integers(0, 5, 400) / 4
    for budget in (0.05, 0.1, 0.3):
        terms = terms_of(400 * budget)
        _, payments = cleared(bids, words, terms)
        assert 0.9 * terms.budget_micros <= payments.sum() <= terms.budget_micros


def test_without_jitter_nothing_is_bought_from_equal_bids() -> None:
    """The negative control: the plain ladder on the same market."""
    assert pdqs.clear(np.full(200, 0.3), terms_of(20.0)).spent == 0


@settings(max_examples=12)
@given(
    bids=st.lists(st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 1.0]), min_size=3, max_size=5),
    words=st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5),
    lie=st.floats(0.0, 1.0),
    budget=st.floats(0.1, 6.0),
)
def test_no_lie_gains_nobody_loses_and_the_budget_holds(bids: Any, words: Any, lie: Any, budget: Any) -> None:
    terms, words = terms_of(budget), words[: len(bids)]
    q, paid = cleared(bids, words, terms)
    load = terms.setting.load(q)
    assert paid.sum() <= terms.budget_micros
    assert (paid >= np.array(bids) * load * 1e6).all()
    lied_q, lied_paid = cleared([lie, *bids[1:]], words, terms)
    gain = (lied_paid[0] - bids[0] * terms.setting.load(lied_q)[0] * 1e6) - (paid[0] - bids[0] * load[0] * 1e6)
    assert gain <= 1.001


@pytest.mark.parametrize("n", [500, EXACT + 1000])
def test_merging_in_parts_is_summarising_together(rng: np.random.Generator, n: int) -> None:
    bids, words = rng.random(n), rng.integers(0, 2**32, n, dtype=np.uint32)
    whole = summarise_jittered(bids, words, 0.0, 1.0)
    cut = n // 3
    parts = summarise_jittered(bids[cut:], words[cut:], 0.0, 1.0).merged(
        summarise_jittered(bids[:cut], words[:cut], 0.0, 1.0)
    )
    for ours, theirs in zip(
        (whole.levels, whole.charged_bids, whole.counts), (parts.levels, parts.charged_bids, parts.counts), strict=True
    ):
        assert np.array_equal(ours, theirs)


def test_a_large_market_spends_its_budget(rng: np.random.Generator) -> None:
    n = EXACT + 4000
    words, terms = rng.integers(0, 2**32, n, dtype=np.uint32), terms_of(0.2 * n)
    _, payments = cleared(rng.random(n), words, terms)
    assert 0.99 * terms.budget_micros <= payments.sum() <= terms.budget_micros
