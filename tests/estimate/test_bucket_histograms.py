"""Histograms from buckets: right on average, the law of subset selection, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from pdqs.estimate.bucket_histograms import BucketTally, bucket_shares, tally_buckets
from pdqs.estimate.drawn_buckets import DrawnBuckets, found_buckets, guarded_buckets, tally_drawn_buckets
from pdqs.estimate.simplex import on_simplex
from pdqs.estimate.strata import cut, summarise_prices
from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.errors import EstimateError
from pdqs.privacy.asking import ask_buckets
from pdqs.privacy.entropy import SeededEntropy
from pdqs.privacy.loss import q_of_epsilon, round_q_down
from pdqs.privacy.randomiser import q_numerators


def at(eps: float, kappa: int, count: int) -> Floats:
    return round_q_down(np.full(count, float(q_of_epsilon(np.array(eps), kappa))))


def reported(codes: Integers, size: int, buckets: int, q: Floats, rng: np.random.Generator) -> tuple[Words, Integers]:
    seeds = rng.integers(0, 2**32, codes.size, dtype=np.uint32)
    return seeds, ask_buckets(seeds, buckets, codes, q_numerators(q), size, SeededEntropy(rng))[0]


def people(size: int, n: int, rng: np.random.Generator) -> Integers:
    """A tenth hold value 0, the others lie in the lower half."""
    return np.where(rng.random(n) < 0.1, 0, rng.integers(0, size // 2, n))


def test_shares_are_right_on_average_for_every_value() -> None:
    """Six standard errors at 48 values: a false alarm in 1 of 10 million seeds."""
    rng = np.random.default_rng(1)
    size, n = 48, 60_000
    codes, q = people(size, n, rng), at(2.0, 8, n)
    seeds, reports = reported(codes, size, 8, q, rng)
    found = bucket_shares(tally_buckets(seeds, reports, q, size, 8), n)
    error = np.sqrt(found.variance[0] + found.variance[1] / size)
    truth = np.bincount(codes, minlength=size) / n
    assert np.all(np.abs(found.share - truth) < 6 * error)


def test_a_report_read_with_another_owners_map_says_nothing() -> None:
    rng = np.random.default_rng(2)
    size, n = 48, 60_000
    codes, q = np.zeros(n, dtype=np.int64), at(2.0, 8, n)
    seeds, reports = reported(codes, size, 8, q, rng)
    right = bucket_shares(tally_buckets(seeds, reports, q, size, 8), n).share[0]
    wrong = bucket_shares(tally_buckets(np.roll(seeds, 1), reports, q, size, 8), n).share[0]
    assert abs(right - 1.0) < 0.1
    assert abs(wrong) < 0.1


@pytest.mark.parametrize(
    ("size", "eps", "buckets", "variance"),
    [(48, 1.0, 4, 3.49), (48, 2.0, 8, 0.653), (101, 1.0, 4, 3.59), (101, 2.0, 8, 0.69), (1001, 1.0, 4, 3.67)],
)
def test_n_times_the_variance_of_a_rare_share_is_the_theorys(
    size: int, eps: float, buckets: int, variance: float
) -> None:
    """Within 2 %: a domain that is not a prime number of values pays for its empty places."""
    q = at(eps, buckets, 10)
    empty = np.zeros(10, dtype=np.int64)
    tally = tally_buckets(empty.astype(np.uint32), empty, q, size, buckets)
    assert bucket_shares(tally, 10).variance[0][0] * 10 == pytest.approx(variance, rel=0.02)


def test_intervals_hold_for_common_and_rare_shares() -> None:
    """Over 150 rounds of 3 cells; below 405 of 450 where 95 % should hold: 1 false alarm in 10,000 seeds or fewer."""
    rng = np.random.default_rng(3)
    size, n, held = 24, 300, np.zeros(3)
    for _ in range(150):
        codes, q = people(size, n, rng), at(2.0, 8, n)
        seeds, reports = reported(codes, size, 8, q, rng)
        found = bucket_shares(tally_buckets(seeds, reports, q, size, 8), n).intervals(1.96)
        truth = np.bincount(codes, minlength=size) / n
        held += ((found.low <= truth) & (truth <= found.high))[[0, 5, 20]]
    assert held.sum() >= 405
    assert held.min() >= 130


def drawn(rng: np.random.Generator, n: int = 1200, size: int = 24) -> tuple[Integers, DrawnBuckets, BucketTally]:
    """Prices that tell: who holds value 0 asks more and is drawn less often."""
    codes = people(size, n, rng)
    bids = np.where(codes == 0, rng.uniform(0.5, 1.0, n), rng.uniform(0.0, 0.8, n))
    chances = np.floor(np.minimum(1.0, 0.25 / np.sqrt(bids + 0.01)) * 2**32) / 2**32
    asked = rng.random(n) < chances
    arrived = asked & (rng.random(n) < 0.9)
    q = at(2.0, 8, n)
    seeds, reports = reported(codes, size, 8, q, rng)
    strata = cut(summarise_prices(bids, chances, arrived))
    tally = tally_drawn_buckets(
        strata,
        bids=bids,
        chances=chances,
        q=q,
        asked=asked,
        seeds=seeds,
        reports=reports,
        arrived=arrived,
        domain_size=size,
        buckets=8,
    )
    unweighted = tally_buckets(seeds[arrived], reports[arrived], q[arrived], size, 8)
    return codes, tally, unweighted


def test_a_lotterys_intervals_hold_where_prices_tell_and_missing_reports_are_allowed_for() -> None:
    """Below 108 of 120 where 95 % should hold: 1 false alarm in 50 seeds, and the seed is fixed."""
    rng = np.random.default_rng(4)
    held, plain = 0, 0
    for _ in range(120):
        codes, tally, unweighted = drawn(rng)
        truth = float((codes == 0).mean())
        found = guarded_buckets(tally, 0.95)
        held += found.low[0] <= truth <= found.high[0]
        wrong = bucket_shares(unweighted, codes.size).intervals(1.96)
        plain += wrong.low[0] <= truth <= wrong.high[0]
    assert held >= 108
    assert plain < held - 20  # the negative control: equal weights miss the dear


def test_every_cell_of_a_lottery_has_a_share_and_a_variance_that_is_at_least_nothing() -> None:
    _, tally, _ = drawn(np.random.default_rng(5), n=80)
    found, variance = found_buckets(tally)
    assert found.mean.shape[1] == 24
    assert bool((variance.at(np.full(24, 0.1)) >= 0).all())


def test_any_split_of_a_lotterys_owners_adds_up_to_the_same_tally() -> None:
    rng = np.random.default_rng(8)
    n, size = 300, 24
    bids, q = rng.random(n), at(2.0, 8, n)
    chances = np.floor(rng.uniform(0.2, 1.0, n) * 2**32) / 2**32
    asked = rng.random(n) < chances
    seeds, reports = reported(people(size, n, rng), size, 8, q, rng)
    strata = cut(summarise_prices(bids, chances, asked))

    def tallied(some: slice) -> DrawnBuckets:
        return tally_drawn_buckets(
            strata,
            bids=bids[some],
            chances=chances[some],
            q=q[some],
            asked=asked[some],
            seeds=seeds[some],
            reports=reports[some],
            arrived=asked[some],
            domain_size=size,
            buckets=8,
        )

    whole, parts = tallied(slice(None)), tallied(slice(0, 90)).merged(tallied(slice(90, None)))
    assert parts.inside.tolist() == whole.inside.tolist()
    assert parts.chances.weights == whole.chances.weights
    assert guarded_buckets(parts, 0.95).low.tolist() == guarded_buckets(whole, 0.95).low.tolist()


def test_any_split_of_the_reports_adds_up_to_the_same_tally() -> None:
    rng = np.random.default_rng(6)
    q = round_q_down(rng.uniform(0.1, 0.9, 400))
    seeds, reports = reported(rng.integers(0, 30, 400), 30, 5, q, rng)
    whole = tally_buckets(seeds, reports, q, 30, 5)
    first, second = (
        tally_buckets(seeds[some], reports[some], q[some], 30, 5) for some in (slice(0, 150), slice(150, 400))
    )
    both = second.merged(first)
    assert both.inside.tolist() == whole.inside.tolist()
    assert (both.moments, both.reports) == (whole.moments, whole.reports)


def test_shares_on_the_simplex_add_up_to_one_and_are_the_nearest_such() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        raw = rng.normal(0.05, 0.2, 20)
        shown = on_simplex(raw)
        assert shown.sum() == pytest.approx(1.0)
        assert shown.min() >= 0.0
        rivals = rng.dirichlet(np.ones(20), 50)
        assert np.all(((rivals - raw) ** 2).sum(axis=1) >= ((shown - raw) ** 2).sum())


def test_nothing_heard_is_a_sentence_not_a_number() -> None:
    nobody = tally_buckets(np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int64), np.empty(0), 10, 3)
    with pytest.raises(EstimateError, match="no report came"):
        bucket_shares(nobody, 5)
