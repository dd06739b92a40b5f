"""Intervals for what a lottery bought: they cover whatever prices say about answers, small samples included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student_t

import pdqs
from pdqs.estimate.chances import sampled, tally_chances
from pdqs.estimate.drawn import share_intervals, simultaneous
from pdqs.estimate.drawn_mean import mean_interval
from pdqs.estimate.functionals import CumulativeShares, NumberMean, Shares
from pdqs.estimate.gap import widened
from pdqs.estimate.quantiles import quantile_interval
from pdqs.estimate.strata import cut, summarise_prices

EPSILON = 2.0


def tallied(rng: np.random.Generator, bids: Any, values: Any, k: Any, scale: Any = 0.2, missing: Any = 0.0) -> Any:
    """Owners asked with chance scale/sqrt(bid) report their value at eps = 2."""
    n = bids.size
    chances = np.floor(np.minimum(1.0, scale / np.sqrt(bids)) * 2**32) / 2**32
    asked = rng.random(n) < chances
    arrived = asked & (rng.random(n) >= missing)
    q = np.full(n, np.expm1(EPSILON) / (np.exp(EPSILON) + k - 1))
    codes = np.where(rng.random(n) < q, values, rng.integers(0, k, n))
    strata = cut(summarise_prices(bids, chances, arrived))
    market = {"bids": bids, "chances": chances, "q": q, "asked": asked, "codes": codes, "arrived": arrived}
    return tally_chances(strata, **market, domain_size=k)


def strong(rng: np.random.Generator, n: int, share: float) -> Any:
    """Owners with the trait ask much more."""
    trait = (rng.random(n) < share).astype(np.int64)
    return trait, np.where(trait == 1, rng.beta(4, 2, n), rng.beta(2, 4, n))


def dear_few(rng: np.random.Generator, n: int, share: float) -> Any:
    """A few ask far more than all others, and they hold the trait."""
    trait = (rng.random(n) < share).astype(np.int64)
    return trait, np.where(trait == 1, 0.9 + 0.1 * rng.random(n), 0.002 + 0.01 * rng.beta(2, 6, n))


def score(found: Any, gap: float) -> Any:
    ends = share_intervals(Shares(2), found, 0.95)
    return tuple(float(end[0]) for end in widened(ends.low[1:], ends.high[1:], gap))


def score_without_gap_rule(found: Any, _gap: float) -> Any:
    return score(found, 0.0)


def wald(found: Any, _gap: float) -> Any:
    """The estimate and 1.96 standard errors of the reports as they came: no variance when all say the same."""
    mean = float(found.estimate[1])
    q = np.expm1(EPSILON) / (np.exp(EPSILON) + 1)
    said = np.clip(q * found.mean[:, 1] + (1 - q) / 2, 0.0, 1.0)
    error = np.sqrt(np.sum(found.part**2 * said * (1 - said) / q**2 / found.effective))
    return mean - 1.96 * error, mean + 1.96 * error


def covered(seed: int, people: Any, n: int, share: float, ends: Any, rounds: int = 300, **more: Any) -> Any:
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(rounds):
        trait, bids = people(rng, n, share)
        tally = tallied(rng, bids, trait, 2, **more)
        low, high = ends(sampled(Shares(2), tally), tally.gap)
        held += bool(low - 1e-9 <= trait.mean() <= high + 1e-9)
    return held / rounds


@pytest.mark.parametrize(
    ("people", "n", "share", "more"),
    [
        (strong, 100, 0.3, {"scale": 0.15}),
        (strong, 800, 0.3, {"missing": 0.3}),
        (strong, 300, 0.01, {}),
        (dear_few, 600, 0.08, {"scale": 0.03}),
    ],
    ids=["few", "missing", "rare", "a dear few"],
)
def test_count_intervals_cover_when_prices_tell(people: Any, n: int, share: float, more: Any) -> None:
    """300 rounds at a true .95: below .90 is 4 standard errors, a false alarm in 10,000 seeds."""
    assert covered(11, people, n, share, score, **more) >= 0.90


def test_without_the_gap_rule_a_dear_few_are_missed() -> None:
    assert covered(11, dear_few, 600, 0.08, score_without_gap_rule, scale=0.03) < 0.90


def test_walds_interval_misses_rare_shares_and_small_samples() -> None:
    assert covered(11, strong, 60, 0.05, wald, scale=0.15) < 0.90
    assert covered(11, strong, 60, 0.05, score, scale=0.15) >= 0.90


def test_the_ends_are_those_of_a_fine_search(rng: np.random.Generator) -> None:
    """Every p is tried, with V_h(p), df and the skewness written out from the equations."""
    trait, bids = strong(rng, 500, 0.1)
    found = sampled(Shares(2), tallied(rng, bids, trait, 2))
    ends = share_intervals(Shares(2), found, 0.95)
    q = np.expm1(2.0) / (np.exp(2.0) + 1)
    p1, p0 = (1 + q) / 2, (1 - q) / 2
    own = found.effective / (found.effective + 4)
    kept = []
    for p in np.linspace(0, 1, 2_001):
        pi = own * np.clip(found.mean[:, 1], 0, 1) + (1 - own) * p
        nu = (pi * p1 * (1 - p1) + (1 - pi) * p0 * (1 - p0)) / (p1 - p0) ** 2
        b = found.square - found.weight
        v = found.part**2 * (b * (pi * (1 - pi) + nu) + found.weight * nu) / found.weight**2
        df = v.sum() ** 2 / np.sum(v**2 / np.maximum(found.effective - 1, 1))
        said = p0 + q * pi
        cubes = (found.part / found.weight) ** 3 * (found.square / q**2) ** 2 / (found.weight / q)
        gamma = np.sum(cubes * said * (1 - said) * (1 - 2 * said)) / v.sum() ** 1.5
        c = student_t.ppf(0.975, df)
        above = found.estimate[1] >= p
        c += min(max(gamma if above else -gamma, 0.0), 1.0) * (c**2 - 1) / 6
        if abs(found.estimate[1] - p) <= c * np.sqrt(v.sum()):
            kept.append(p)
    assert (ends.low[1], ends.high[1]) == pytest.approx((kept[0], kept[-1]), abs=5.1e-4)


def test_the_two_cells_of_a_count_mirror_each_other(rng: np.random.Generator) -> None:
    trait, bids = strong(rng, 500, 0.3)
    ends = share_intervals(Shares(2), sampled(Shares(2), tallied(rng, bids, trait, 2)), 0.95)
    assert (ends.low[1], ends.high[1]) == pytest.approx((1 - ends.high[0], 1 - ends.low[0]))


def test_the_longer_tail_of_a_rare_cell_moves_its_lower_end_only(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports of a rare cell fall above their mean further than below it."""
    found = sampled(Shares(6), tallied(rng, rng.random(400), rng.integers(0, 6, 400), 6, scale=0.5))
    leaning = simultaneous(Shares(6), found, 0.95)
    monkeypatch.setattr("pdqs.estimate.drawn.MOST_SKEW", 0.0)
    even = simultaneous(Shares(6), found, 0.95)
    assert (leaning.low < even.low).any()
    assert (leaning.low <= even.low).all()
    np.testing.assert_allclose(leaning.high, even.high)


def values_of(rng: np.random.Generator, trait: Any) -> Any:
    return np.where(trait == 1, rng.binomial(5, 0.8, trait.size), rng.binomial(5, 0.25, trait.size))


def test_histogram_cells_cover_apart_and_together() -> None:
    """150 rounds: pointwise 6 x 150 cells, and all at once at least .89 (3.4 standard errors below .95).

    Negative control: the pointwise intervals do not hold all at once that often.
    """
    rng = np.random.default_rng(12)
    apart, together, pointwise_together = [], [], []
    for _ in range(150):
        trait, bids = strong(rng, 600, 0.4)
        values = values_of(rng, trait)
        tally = tallied(rng, bids, values, 6)
        found = sampled(Shares(6), tally)
        truth = np.bincount(values, minlength=6) / values.size
        held = [
            (low - 1e-9 <= truth) & (truth <= high + 1e-9)
            for low, high in (
                widened(ends.low, ends.high, tally.gap)
                for ends in (share_intervals(Shares(6), found, 0.95), simultaneous(Shares(6), found, 0.95))
            )
        ]
        apart.append(held[0].mean())
        pointwise_together.append(held[0].all())
        together.append(held[1].all())
    assert np.mean(apart) >= 0.93
    assert np.mean(together) >= 0.89
    assert np.mean(pointwise_together) < 0.89


def test_many_cells_of_few_reports_hold_together_where_reports_tell_much() -> None:
    """150 rounds of 20 values at a cap of 4, with prices that tell: at once at least .91, 2.3 standard errors below.

    With the pull of 95 % at the tails of all together, .88 of them were held.
    """
    rng = np.random.default_rng(8)
    terms = pdqs.Terms(query=pdqs.Histogram(pdqs.Domain.grid(0, 19, 1)), budget=300.0, epsilon_max=4.0)
    held = []
    for _ in range(150):
        values = rng.integers(0, 20, 600)
        bids = np.clip(rng.beta(2, 4, 600) * (1 + 0.65 * values / 19), 0, 1)
        offers = pdqs.clear(bids, terms, draws=rng)
        ends = np.asarray(pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms).simultaneous)
        truth = np.bincount(values, minlength=20)
        held.append(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all())
    assert np.mean(held) >= 0.91


def test_means_and_medians_cover_when_prices_tell() -> None:
    """200 rounds each: .885 is 4.2 standard errors below .95. Negative control: intervals at level .6 do not."""
    rng = np.random.default_rng(13)
    numbers = np.arange(6.0)
    held: dict[str, list[bool]] = {"mean": [], "short mean": [], "median": []}
    for _ in range(200):
        trait, bids = strong(rng, 600, 0.4)
        values = values_of(rng, trait)
        tally = tallied(rng, bids, values, 6)
        found = sampled(NumberMean(numbers), tally)
        for name, level in (("mean", 0.95), ("short mean", 0.6)):
            low, high = (np.array(end) for end in mean_interval(NumberMean(numbers), found, level))
            low, high = widened(low, high, tally.gap, (0.0, 5.0))
            held[name].append(bool(low <= values.mean() <= high))
        codes = quantile_interval(sampled(CumulativeShares(6), tally), 0.5, 0.95, gap=tally.gap)
        held["median"].append(codes.low <= np.sort(values)[299] <= codes.high)
    assert np.mean(held["mean"]) >= 0.885
    assert np.mean(held["median"]) >= 0.885
    assert np.mean(held["short mean"]) < 0.885


def test_a_mean_of_two_values_has_the_interval_of_the_share(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On {0, 1} the second moment about the middle is known: both forms are one, but for the skewness of shares."""
    monkeypatch.setattr("pdqs.estimate.drawn.MOST_SKEW", 0.0)
    trait, bids = strong(rng, 60, 0.3)
    tally = tallied(rng, bids, trait, 2)
    share = share_intervals(Shares(2), sampled(Shares(2), tally), 0.95)
    numbers = NumberMean(np.array([0.0, 1.0]))
    assert mean_interval(numbers, sampled(numbers, tally), 0.95) == pytest.approx(
        (share.low[1], share.high[1]), abs=1e-4
    )


def test_a_gap_of_half_the_owners_leaves_a_median_nowhere_to_stop(rng: np.random.Generator) -> None:
    values = rng.integers(0, 6, 500)
    tally = tallied(rng, rng.random(500), values, 6, scale=1.0)
    found = sampled(CumulativeShares(6), tally)
    wide = quantile_interval(found, 0.5, 0.95, gap=0.5)
    narrow = quantile_interval(found, 0.5, 0.95)
    assert (wide.low, wide.high) == (0, 5)
    assert narrow.high - narrow.low < 5
    assert narrow.low <= narrow.code <= narrow.high


def test_cheats_widen_a_median_too(rng: np.random.Generator) -> None:
    values = rng.integers(0, 6, 2000)
    found = sampled(CumulativeShares(6), tallied(rng, rng.random(2000), values, 6, scale=1.0))
    honest = quantile_interval(found, 0.5, 0.95)
    wary = quantile_interval(found, 0.5, 0.95, dishonest=0.2)
    assert wary.low <= honest.low <= honest.high <= wary.high
    assert wary.high - wary.low > honest.high - honest.low
