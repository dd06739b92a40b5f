"""A histogram from buckets: the shares shown are the nearest that can be; their intervals are of the raw ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.bucket_histograms import BucketTally, bucket_shares
from pdqs.estimate.drawn import simultaneous_level
from pdqs.estimate.drawn_buckets import DrawnBuckets, found_buckets, guarded_buckets
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.level import z_of
from pdqs.estimate.readings import MovedEnds, Reading, joint_ends
from pdqs.estimate.score import Scored
from pdqs.estimate.simplex import shown_shares
from pdqs.model.arrays import Floats
from pdqs.privacy.bucket_maps import collision
from pdqs.rounds.terms import Terms


def read_buckets(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """A row for each value of the domain."""
    n, size, buckets = evidence.owners, terms.domain_size, terms.kappa
    found = _found(evidence, level)
    jointly = _found(evidence, simultaneous_level(level, size)).scored
    own = found.scored
    reach = np.full(size, reach_of_buckets(evidence.least_q, collision(size, buckets), buckets))
    return Reading(
        value=n * shown_shares(own.estimate, found.standard_error),
        raw=n * own.estimate,
        interval=n * np.stack([own.low, own.high], axis=1),
        simultaneous=n * joint_ends(own.low, own.high, jointly),
        standard_error=n * found.standard_error,
        widening=MovedEnds(low=own.low, high=own.high, reach=reach, ends=(0.0, 1.0), owners=n),
        slack=float(np.minimum(own.estimate - own.low, own.high - own.estimate).min()),
    )


@final
@dataclass(frozen=True, eq=False)
class _Found:
    scored: Scored
    standard_error: Floats


def _found(evidence: Evidence, level: float) -> _Found:
    if isinstance(evidence.sums, BucketTally):
        cells = bucket_shares(evidence.sums, evidence.owners)
        at = np.clip(cells.share, 0.0, 1.0)
        constant, linear, square = cells.variance
        variance = np.maximum(constant + linear * at + square * at * at, 0.0)
        return _Found(cells.intervals(z_of(level)), np.sqrt(variance))
    assert isinstance(evidence.sums, DrawnBuckets), "a histogram from buckets is read from their sums"
    found, spread = found_buckets(evidence.sums)
    variance = spread.at(np.clip(found.estimate, 0.0, 1.0)).sum(axis=0)
    return _Found(guarded_buckets(evidence.sums, level), np.sqrt(np.maximum(variance, 0.0)))


def reach_of_buckets(q: float, c: float, g: int) -> float:
    """How far one cheat moves a share, at the least q heard: y runs from -p0 to 1 - p0, over p1 - p0 = q (1 - c).

    >>> round(reach_of_buckets(0.5, 0.2, 5), 3)
    2.0
    """
    p0, lift = q * c + (1.0 - q) / g, q * (1.0 - c)
    return max((1.0 - p0) / lift, 1.0 + p0 / lift)
