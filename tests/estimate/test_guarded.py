"""The gap allowed for, and no more than that: covering where a dear few differ, narrower than widening by all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.estimate.chances import sampled, tally_chances
from pdqs.estimate.dishonest import interval_if_dishonest, reach_of_shares
from pdqs.estimate.drawn import share_intervals
from pdqs.estimate.functionals import NumberMean, Shares
from pdqs.estimate.gap import widened
from pdqs.estimate.guarded import guarded_histogram, guarded_mean, guarded_quantile, guarded_shares, relaxed
from pdqs.estimate.strata import cut, summarise_prices

Q = np.expm1(2.0) / (np.exp(2.0) + 1)


def tallied(rng: np.random.Generator, bids: Any, values: Any, scale: Any, cheats: Any = 0.0) -> Any:
    """Owners asked with chance scale/sqrt(bid) report a bit at eps = 2; a share of them always says 1."""
    n = bids.size
    chances = np.floor(np.minimum(1.0, scale / np.sqrt(bids)) * 2**32) / 2**32
    asked = rng.random(n) < chances
    codes = np.where(rng.random(n) < Q, values, rng.integers(0, 2, n))
    codes = np.where(rng.random(n) < cheats, 1, codes)
    market = {"bids": bids, "chances": chances, "q": np.full(n, Q), "asked": asked, "codes": codes, "arrived": asked}
    return tally_chances(cut(summarise_prices(bids, chances, asked)), **market, domain_size=2)


def dear_few(rng: np.random.Generator, n: int, share: float) -> Any:
    trait = (rng.random(n) < share).astype(np.int64)
    return trait, np.where(trait == 1, 0.9 + 0.1 * rng.random(n), 0.004 + 0.004 * rng.random(n))


def holds(trait: Any, low: float, high: float) -> Any:
    return bool(low - 1e-9 <= trait.mean() <= high + 1e-9)


def test_a_dear_few_are_covered_and_the_interval_is_narrower_than_the_full_rule() -> None:
    """300 rounds: .90 is 4 standard errors below .95. Negative control: with no gap rule at all they are missed."""
    rng = np.random.default_rng(21)
    kept, bare, widths, full_widths = [], [], [], []
    for _ in range(300):
        trait, bids = dear_few(rng, 600, 0.08)
        tally = tallied(rng, bids, trait, 0.03)
        ends = guarded_shares(Shares(2), tally, 0.95)
        plain = share_intervals(Shares(2), sampled(Shares(2), tally), 0.95)
        low, high = widened(plain.low, plain.high, tally.gap)
        kept.append(holds(trait, ends.low[1], ends.high[1]))
        bare.append(holds(trait, plain.low[1], plain.high[1]))
        widths.append(ends.high[1] - ends.low[1])
        full_widths.append(high[1] - low[1])
    assert np.mean(kept) >= 0.90
    assert np.mean(bare) < 0.90
    assert np.mean(widths) < np.mean(full_widths)  # where the dear were heard of at all, the two are one
    assert (np.array(widths) <= np.array(full_widths) + 1e-12).all()


def test_owners_who_can_never_be_asked_widen_by_all_of_their_share(rng: np.random.Generator) -> None:
    trait, bids = dear_few(rng, 600, 0.08)
    tally = tallied(rng, bids, trait, 0.3)
    barred = replace(tally, unreachable=tally.everyone, dearer=0, dearer_chances=0)
    plain = share_intervals(Shares(2), sampled(Shares(2), tally), 0.95)
    ends = guarded_shares(Shares(2), barred, 0.95)
    half = barred.gap
    assert ends.low[1] == pytest.approx((1 - half) * plain.low[1])
    assert ends.high[1] == pytest.approx((1 - half) * plain.high[1] + half)


def test_no_luck_leaves_the_level_and_much_luck_adds_a_quarter_of_the_tail_at_most() -> None:
    assert relaxed(0.95, 0.0) == 0.95
    assert 0.9375 < relaxed(0.95, 0.1) < 0.95
    assert relaxed(0.95, 50.0) == pytest.approx(0.9375)


@pytest.mark.parametrize("question", ["value", "side"])
@pytest.mark.parametrize("level", [0.05, 0.1, 0.19])
def test_an_interval_that_need_hold_in_few_rounds_is_one_too(question: str, level: float) -> None:
    """The relaxed level of these is below nothing, where an interval of half the rounds has all that is relaxed."""
    rng = np.random.default_rng(5)
    values, bids = rng.integers(0, 21, 400) * 5.0, rng.random(400)
    grid = pdqs.Domain.grid(0, 100, 5)
    one = {"stages": 1} if question == "side" else {}
    terms = pdqs.Terms(query=pdqs.Median(grid), budget=200.0, question=question, epsilon_max=4.0, **one)  # type: ignore[arg-type]  # as named
    for draws in range(6):
        offers = pdqs.clear(bids, terms, draws=draws)
        reports = pdqs.randomise(values, offers, rng)
        (low, high), (least, most) = (pdqs.answer(reports, offers, terms, level=at).interval for at in (level, 0.95))
        assert least <= low <= high <= most


def test_every_query_allows_for_the_gap(rng: np.random.Generator) -> None:
    trait, bids = dear_few(rng, 600, 0.3)
    tally = tallied(rng, bids, trait, 0.3)
    nobody = replace(tally, dearer=0, dearer_chances=0)
    wide = replace(tally, dearer=tally.everyone, dearer_chances=0)
    numbers = NumberMean(np.array([0.0, 1.0]))
    for low, high in (
        (guarded_mean(numbers, wide, 0.95)[1:], guarded_mean(numbers, nobody, 0.95)[1:]),
        *(
            ((one.low[1], one.high[1]), (other.low[1], other.high[1]))
            for one, other in (
                (guarded_shares(Shares(2), wide, 0.95), guarded_shares(Shares(2), nobody, 0.95)),
                (guarded_histogram(Shares(2), wide, 0.95), guarded_histogram(Shares(2), nobody, 0.95)),
            )
        ),
    ):
        assert low[0] < high[0] < high[1] < low[1]
    assert (guarded_quantile(wide, 2, 0.5, 0.95).low, guarded_quantile(wide, 2, 0.5, 0.95).high) == (0, 1)
    assert guarded_quantile(nobody, 2, 0.5, 0.95).high == 0


def test_a_twentieth_of_cheats_breaks_the_plain_interval_and_not_the_widened_one() -> None:
    """100 rounds, 5 % of 4,000 owners always say 1: the plain interval holds in fewer than half of them."""
    rng = np.random.default_rng(22)
    plain, wary = [], []
    for _ in range(100):
        trait = (rng.random(4000) < 0.1).astype(np.int64)
        tally = tallied(rng, 0.01 + rng.random(4000), trait, 0.5, cheats=0.05)
        ends = guarded_shares(Shares(2), tally, 0.95)
        reach = reach_of_shares(tally.least_q, Shares(2).centre)
        low, high = interval_if_dishonest(ends.low, ends.high, 0.05, reach)
        plain.append(holds(trait, ends.low[1], ends.high[1]))
        wary.append(holds(trait, low[1], high[1]))
    assert np.mean(wary) >= 0.95
    assert np.mean(plain) < 0.7
