"""Histograms from the buckets of owners drawn by lottery: strata by price, and the gap allowed for.

The bucket reports are tallied as reports of g codes (:mod:`pdqs.estimate.chances`), and beside that, for every stratum
and value, the sum of w/q over the reports whose bucket holds the value. Shares, intervals and the gap rule are then
those of any other question (sections 9, 10 and 12 of docs/theory), with this question's own p1 and p0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from pdqs.estimate.bucket_histograms import GRAIN, raw_shares, whole_cell_sums
from pdqs.estimate.chances import ChanceTally, Sampled, sampled, tally_chances
from pdqs.estimate.drawn import ShareVariance, general_variance, solved_shares
from pdqs.estimate.functionals import Shares
from pdqs.estimate.gap import widened
from pdqs.estimate.guarded import relaxed
from pdqs.estimate.score import Ends, Scored
from pdqs.estimate.strata import Strata
from pdqs.model.arrays import Booleans, Floats, Integers, Words, read_only
from pdqs.model.errors import ensure
from pdqs.privacy.bucket_maps import collision
from pdqs.privacy.loss import LEAST_LIFTED_Q
from pdqs.privacy.noise import bucket_noise


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnBuckets:
    """``chances`` tallies the reports as g codes; ``inside[h, j]`` is the sum of w/q of stratum h's reports whose
    bucket holds j, in units of 2^-20."""

    chances: ChanceTally
    buckets: int
    inside: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "inside", read_only(self.inside))

    def merged(self, other: DrawnBuckets) -> DrawnBuckets:
        """The tally of both sets of owners together."""
        ensure(
            (self.buckets, self.inside.shape) == (other.buckets, other.inside.shape),
            "tallies of different bucket questions",
        )
        return DrawnBuckets(
            chances=self.chances.merged(other.chances),
            buckets=self.buckets,
            inside=self.inside + other.inside,
        )


def tally_drawn_buckets(
    strata: Strata,
    *,
    bids: Floats,
    chances: Floats,
    q: Floats,
    asked: Booleans,
    seeds: Words,
    reports: Integers,
    arrived: Booleans,
    domain_size: int,
    buckets: int,
) -> DrawnBuckets:
    """Add up one batch of owners, all columns in the same order; reports matter where one arrived only."""
    plain = tally_chances(
        strata, bids=bids, chances=chances, q=q, asked=asked, codes=reports, arrived=arrived, domain_size=buckets
    )
    number = strata.of(bids, chances)
    inside = np.zeros((len(strata), domain_size), dtype=np.int64)
    for h in range(len(strata)):
        told = arrived & (number == h) & (q >= LEAST_LIFTED_Q)
        lifts = 1.0 / (chances[told] * q[told])
        inside[h] = whole_cell_sums(seeds[told], reports[told], lifts, domain_size, buckets)
    return DrawnBuckets(chances=plain, buckets=buckets, inside=inside)


def found_buckets(tally: DrawnBuckets) -> tuple[Sampled, ShareVariance]:
    """The shares of every stratum that was heard from, and the variance at any hypothesised share."""
    g, c = tally.buckets, collision(tally.inside.shape[1], tally.buckets)
    codes = sampled(Shares(g), tally.chances)
    heard = np.flatnonzero(tally.chances.reported)
    rate = (tally.chances.reported[heard] / tally.chances.asked[heard])[:, None]
    weight, lift = codes.weight[:, None] * rate, codes.lift[:, None] * rate
    shares = raw_shares(tally.inside[heard] / GRAIN, weight, lift, c, g)
    found = replace(codes, mean=shares, second=shares)
    inside, outside = bucket_noise(found.square[:, None], found.tilted[:, None], found.steep[:, None], c, g)
    q = (found.weight / found.lift)[:, None]
    ones = np.ones((1, shares.shape[1]))
    variance = general_variance(
        found, inside * ones, outside * ones, floor=(q * c + (1.0 - q) / g) * ones, slope=q * (1.0 - c) * ones
    )
    return found, variance


def guarded_buckets(tally: DrawnBuckets, level: float) -> Scored:
    """Shares of all owners, each interval at this level apart from the others, the gap allowed for."""
    found, variance = found_buckets(tally)

    def ends(at: float, z: float) -> Ends:
        solved = solved_shares(found.estimate, variance, (1.0 - at) / 2.0)
        return widened(solved.low, solved.high, z)

    near = ends(level, tally.chances.barred)
    far = ends(relaxed(level, tally.chances.unheard), tally.chances.gap)
    return Scored(found.estimate, np.minimum(near[0], far[0]), np.maximum(near[1], far[1]))
