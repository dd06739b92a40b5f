"""The public jitter of the scale: ties are told apart, and the promises of the ladder stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.auditing.temptation import Deal, tempted
from pdqs.clearing.jitter import EXACT, OFFSETS, apply_jittered, calibrate_jittered, jitter_level, summarise_jittered
from pdqs.clearing.ladder import ladder_of
from pdqs.model.money import payment_micros
from pdqs.model.priors import TruncatedNormal
from pdqs.pricing.payment import curve
from pdqs.privacy.loss import round_q_down
from pdqs.rounds.terms import Terms


def terms_of(budget: float, **more: Any) -> pdqs.Terms:
    return pdqs.presets.sound(query=pdqs.Count(), budget=budget, **{"rule": "optimal", "epsilon_max": 4.0, **more})


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
    honest, lying = (Deal(q=float(x[0]), payment_micros=int(p[0])) for x, p in ((q, paid), (lied_q, lied_paid)))
    assert not tempted(honest, lying, bids[0], terms.setting).gains


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


def paid_by_the_book(bid: float, level: int, rung: int, terms: Terms) -> Any:
    """q and payment at s_{g+d}, from the rule's own curve at that one scale."""
    scale = ladder_of(*terms.bid_range).scale(rung + int(OFFSETS[level]))
    if scale <= 0:
        return 0.0, 0.0
    chosen = curve(terms.bound_rule, scale, terms.setting)
    return float(chosen.q(np.array([bid]))[0]), float(chosen.payment(np.array([bid]))[0])


@pytest.mark.parametrize(
    ("more", "n", "budget"),
    [
        ({}, 12, 0.2),
        ({"epsilon_max": 12.0}, 12, 0.6),
        ({"epsilon_max": 1.0}, 12, 0.001),
        ({}, 12, 50.0),
        ({"rule": "linear"}, 12, 0.3),
        ({"bid_range": (2.0, 3.0)}, 12, 2.0),
        ({"prior": TruncatedNormal(0.3, 0.2, 0.0, 1.0)}, 2, 0.5),
    ],
)
def test_each_owner_stands_at_the_last_rung_of_the_definition_and_is_paid_by_it(
    rng: np.random.Generator, more: Any, n: int, budget: float
) -> None:
    terms = terms_of(budget * n, **more)
    low, high = terms.bid_range
    bids, words = low + (high - low) * rng.random(n), rng.integers(0, 2**32, n, dtype=np.uint32)
    bids[0] = high
    calibration = calibrate_jittered(summarise_jittered(bids, words, low, high), terms)
    q, paid = apply_jittered(bids, words, calibration, terms)
    levels = jitter_level(words)
    rungs, highest = calibration.rung_of(bids, levels), ladder_of(low, high).highest

    def needed(i: int, rung: Any) -> Any:
        others = sum(paid_by_the_book(bids[j], levels[j], rung, terms)[1] for j in range(n) if j != i)
        return others + paid_by_the_book(low, levels[i], rung, terms)[1]

    for i in range(min(n, 4)):
        own_q, own_paid = paid_by_the_book(bids[i], levels[i], int(rungs[i]), terms)
        assert needed(i, int(rungs[i])) <= terms.budget + 1e-5
        assert rungs[i] + int(OFFSETS[-1]) >= highest or needed(i, int(rungs[i]) + 1) > terms.budget - 1e-5
        assert q[i] == pytest.approx(float(round_q_down(np.array([own_q]))[0]), abs=1e-9)
        assert abs(int(paid[i]) - int(payment_micros(np.array([own_paid]))[0])) <= 1
