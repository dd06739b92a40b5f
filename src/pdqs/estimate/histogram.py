"""A histogram: how many owners hold each value, with intervals that hold one by one and such that hold all at once."""

from __future__ import annotations

import numpy as np

from pdqs.estimate.drawn import simultaneous_level
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import Shares
from pdqs.estimate.readings import MovedEnds, Reading, estimated_shares, joint_ends
from pdqs.estimate.simplex import shown_shares
from pdqs.rounds.terms import Terms


def read_histogram(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """A row for each value of the domain."""
    statistic, n = Shares(terms.domain_size), evidence.owners
    found = estimated_shares(statistic, evidence, terms.estimator, level)
    jointly = estimated_shares(statistic, evidence, terms.estimator, simultaneous_level(level, terms.domain_size))
    raw = n * found.estimate
    return Reading(
        value=n * shown_shares(found.estimate, found.standard_error),
        raw=raw,
        interval=n * np.stack([found.low, found.high], axis=1),
        simultaneous=n * joint_ends(found.low, found.high, jointly),
        standard_error=n * found.standard_error,
        widening=MovedEnds(low=found.low, high=found.high, reach=found.reach, ends=(0.0, 1.0), owners=n),
        slack=float(np.minimum(found.estimate - found.low, found.high - found.estimate).max()),
    )
