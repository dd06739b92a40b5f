"""A mean from levels: rounded at random, right on average (section 10 of docs/theory)."""

from __future__ import annotations

import numpy as np

from pdqs.estimate.chances import sampled
from pdqs.estimate.dishonest import reach_of_means
from pdqs.estimate.drawn_mean import mean_error
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import NumberMean
from pdqs.estimate.level_means import LevelTally, MeanInterval, drawn_level_mean, level_mean
from pdqs.estimate.readings import MovedEnds, Reading
from pdqs.model.questions import Level
from pdqs.rounds.terms import Terms


def read_levels(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """The mean of all owners' numbers, from the levels they reported."""
    question = Level(terms.domain, terms.kappa)
    numbers = question.numbers
    least, most = float(numbers[0]), float(numbers[-1])
    found = _found(question, evidence, level)
    reach = reach_of_means(evidence.least_q, least, most, (least + most) / 2.0)
    return Reading(
        value=min(max(found.value, least), most),
        raw=found.value,
        interval=(found.low, found.high),
        simultaneous=(found.low, found.high),
        standard_error=found.standard_error,
        widening=MovedEnds(
            low=np.array(found.low), high=np.array(found.high), reach=np.array(reach), ends=(least, most)
        ),
        slack=min(found.value - found.low, found.high - found.value),
    )


def _found(question: Level, evidence: Evidence, level: float) -> MeanInterval:
    if isinstance(evidence.sums, LevelTally):
        found = level_mean(question, evidence.sums, level)
        return MeanInterval(*(float(x) for x in (found.value, found.standard_error, found.low, found.high)))
    mean, low, high = drawn_level_mean(question, evidence.drawn, level)
    statistic = NumberMean(question.numbers)
    error = mean_error(statistic, sampled(statistic, evidence.drawn), level_gap=question.gap)
    return MeanInterval(mean, error, low, high)
