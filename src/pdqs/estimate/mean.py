"""A mean of numbers."""

from __future__ import annotations

from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import NumberMean
from pdqs.estimate.readings import MovedEnds, Reading, estimated_mean
from pdqs.rounds.terms import Terms


def read_mean(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """The mean of all owners' numbers."""
    numbers = terms.domain.numbers
    least, most = float(numbers[0]), float(numbers[-1])
    found = estimated_mean(NumberMean(numbers), evidence, terms.estimator, level)
    raw, low, high = (float(ends[0]) for ends in (found.estimate, found.low, found.high))
    return Reading(
        value=min(max(raw, least), most),
        raw=raw,
        interval=(low, high),
        simultaneous=(low, high),
        standard_error=float(found.standard_error[0]),
        widening=MovedEnds(low=found.low[0], high=found.high[0], reach=found.reach[0], ends=(least, most)),
        slack=min(raw - low, high - raw),
    )
