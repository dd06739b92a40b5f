r"""Histograms from buckets: the share of every value, from reports of which bucket holds the owner's.

Each owner's public map splits the domain into g buckets, and any two values share one with chance c
(:mod:`pdqs.privacy.bucket_maps`). The report's bucket holds cell j with chance

.. math:: p_1 = q + \frac{1-q}{g} \text{ if her value is } j, \qquad p_0 = q c + \frac{1-q}{g} \text{ otherwise,}

so y = (1[j in bucket] - p0)/(p1 - p0), with p1 - p0 = q (1 - c), is right on average (section 10 of docs/theory): the
law of subset selection. Weights are q^2 where prices tell nothing. The sums are exact: w/q enters as a whole number of
2^-20, which float64 adds without rounding, whatever the order. A lottery's reports are in
:mod:`pdqs.estimate.drawn_buckets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.score import Quadratic, Scored, solve
from pdqs.estimate.whole_sums import Sums, added, as_floats, exact_sums
from pdqs.model.arrays import Floats, Integers, Words, read_only
from pdqs.model.errors import EstimateError, ensure
from pdqs.privacy.bucket_maps import cell_sums, collision, multipliers
from pdqs.privacy.loss import LEAST_LIFTED_Q
from pdqs.privacy.noise import bucket_noise

GRAIN = 2.0**20


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class BucketTally:
    """Sums over the reports that arrived, with weights w = q^2.

    ``inside[j]`` is the sum of w/q over reports whose bucket holds j, in units of 2^-20; ``moments`` the sums of
    w, w/q, w^2, w^2/q and w^2/q^2 in the units of :mod:`pdqs.estimate.whole_sums`.
    """

    buckets: int
    reports: int
    inside: Integers
    moments: Sums

    def __post_init__(self) -> None:
        object.__setattr__(self, "inside", read_only(self.inside))

    def merged(self, other: BucketTally) -> BucketTally:
        """The tally of both sets of reports together."""
        ensure(
            (self.buckets, self.inside.size) == (other.buckets, other.inside.size),
            "tallies of different bucket questions",
        )
        return BucketTally(
            buckets=self.buckets,
            reports=self.reports + other.reports,
            inside=self.inside + other.inside,
            moments=added(self.moments, other.moments),
        )


def tally_buckets(seeds: Words, reports: Integers, q: Floats, domain_size: int, buckets: int) -> BucketTally:
    """Add up one batch of reports that arrived, all columns in the same order."""
    told = q >= LEAST_LIFTED_Q
    seeds, reports, q = seeds[told], reports[told], q[told]
    inside = whole_cell_sums(seeds, reports, q, domain_size, buckets)
    at = np.zeros(q.size, dtype=np.int64)
    moments = tuple(exact_sums(q**power, at, 1)[0] for power in (2, 1, 4, 3, 2))
    return BucketTally(buckets=buckets, reports=int(q.size), inside=inside, moments=moments)


def whole_cell_sums(seeds: Words, reports: Integers, lifts: Floats, domain_size: int, buckets: int) -> Integers:
    """For every value j: the sum of floor(lift 2^20) over the reports whose bucket holds j, exactly."""
    units = np.floor(lifts * GRAIN)
    ensure(
        float(units.sum()) < 2.0**53, "the weights of a batch are too large to be added exactly: take smaller batches"
    )
    found = cell_sums(reports, units, multipliers(seeds, domain_size), domain_size, buckets)
    return np.rint(found).astype(np.int64)


@final
@dataclass(frozen=True, eq=False)
class Cells:
    """Raw shares of every value, which may lie outside [0, 1], and V(f) = ``variance``[0] + [1] f + [2] f^2."""

    share: Floats
    variance: Quadratic

    def intervals(self, reach: float) -> Scored:
        """Every share that the reports do not contradict: |share - f| <= reach sqrt(V(f)), within [0, 1]."""
        low, high = solve(self.share, self.variance, np.full_like(self.share, reach))
        return Scored(self.share, low, high)


def bucket_shares(tally: BucketTally, owners: int) -> Cells:
    """The share of each value among ``owners``, the whole market, when prices tell nothing about values.

    V(f) = [f sum w^2 p1(1-p1)/(p1-p0)^2 + (1-f) sum w^2 p0(1-p0)/(p1-p0)^2 + f(1-f) sum w^2]/(sum w)^2 - f(1-f)/n:
    the population is finite.
    """
    size, g = tally.inside.size, tally.buckets
    w, lift, w2, w2_q, w2_qq = as_floats(tally.moments)
    if not w:
        raise EstimateError("no report came, so there is nothing to make a histogram of")
    c = collision(size, g)
    share = raw_shares(tally.inside / GRAIN, w, lift, c, g)
    told, silent = bucket_noise(w2, w2_q, w2_qq, c, g)
    drawn = max(w2 - w * w / owners, 0.0)
    ones = np.ones(size) / w**2
    return Cells(share, (ones * silent, ones * (told - silent + drawn), -ones * drawn))


def raw_shares(inside: Floats, weight: Floats | float, lift: Floats | float, c: float, g: int) -> Floats:
    """sum w y / sum w, y = (1[j in bucket] - q c - (1-q)/g) / (q (1-c)); ``inside`` and ``lift`` are sums of w/q."""
    shares: Floats = (inside - c * weight - (lift - weight) / g) / ((1.0 - c) * weight)
    return shares
