"""A count: the share of owners who say 1, times the number of owners."""

from __future__ import annotations

from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import Shares
from pdqs.estimate.readings import MovedEnds, Reading, estimated_shares
from pdqs.rounds.terms import Terms


def read_count(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """How many of all owners say 1."""
    found = estimated_shares(Shares(2), evidence, terms.estimator, level)
    n = evidence.owners
    raw, low, high = (n * float(ends[1]) for ends in (found.estimate, found.low, found.high))
    return Reading(
        value=min(max(raw, 0.0), float(n)),
        raw=raw,
        interval=(low, high),
        simultaneous=(low, high),
        standard_error=n * float(found.standard_error[1]),
        widening=MovedEnds(low=found.low[1], high=found.high[1], reach=found.reach[1], ends=(0.0, 1.0), owners=n),
        slack=min(raw - low, high - raw) / n,
    )
