"""What an estimator makes of the evidence: estimate, interval, standard error, and how far cheats could move it.

One function for statistics that are shares (a count, the cells of a histogram, the points of a CDF) and one for means;
each file of a query says what it makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from pdqs.estimate.chances import sampled
from pdqs.estimate.dishonest import interval_if_dishonest, reach_of_means, reach_of_shares
from pdqs.estimate.drawn import share_variance
from pdqs.estimate.drawn_mean import mean_error
from pdqs.estimate.estimators import ESTIMATORS, Estimate
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import Functional, NumberMean
from pdqs.estimate.guarded import guarded_mean, guarded_shares
from pdqs.estimate.level import z_of
from pdqs.estimate.score import Scored, weighted_scores
from pdqs.model.arrays import Figure, Floats
from pdqs.model.names import EstimatorName

PULL = 3.0
"""kappa = I / (I + 3): how far the shrunk estimator believes the reports."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Estimated:
    """Statistics with their intervals, one for each g; ``reach`` is how far an all-dishonest market could move it."""

    estimate: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    reach: Floats


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Cdf:
    """The cumulative shares that a quantile was read off: at each of ``numbers``, with an interval of its own.

    ``windows`` are the intervals that the quantile was known to lie in after each stage, where there were stages.
    """

    numbers: Floats
    share: Floats
    low: Floats
    high: Floats
    p: float
    windows: tuple[tuple[float, float], ...] = ()


@runtime_checkable
class Cumulative(Protocol):
    """A reading that can show the cumulative shares it stands on."""

    def cdf(self) -> Cdf: ...


class Widening(Protocol):
    """The interval that still holds when a share of the weight is arbitrary."""

    def at(self, share: float) -> Figure: ...


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """What a query makes of it. ``simultaneous`` holds for all cells of a histogram at once, and is else the interval.

    ``slack`` is how far the estimate is from its nearer end: as a share, or in the units of a mean.
    """

    value: Figure
    raw: Figure
    interval: Figure
    simultaneous: Figure
    standard_error: Figure
    widening: Widening
    slack: float


def joint_ends(low: Floats, high: Floats, joint: Scored | Estimated) -> Floats:
    """The ends that hold all cells at once, a row each; never inside ``low`` and ``high``, which hold one by one.

    The two are found by different ways of being safe, and where the reports tell least the stricter level may give the
    narrower interval. What holds one by one is no part of a claim for all, so the wider of the two is taken.
    """
    ends: Floats = np.stack([np.minimum(low, joint.low), np.maximum(high, joint.high)], axis=1)
    return ends


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class MovedEnds:
    """Ends that cheats move by a share of ``reach``: a row of two for each statistic, times ``owners``."""

    low: Floats
    high: Floats
    reach: Floats
    ends: tuple[float, float]
    owners: int = 1

    def at(self, share: float) -> Floats:
        moved = interval_if_dishonest(self.low, self.high, share, self.reach, self.ends)
        return self.owners * np.stack(moved, axis=-1)


def estimated_shares(statistic: Functional, evidence: Evidence, estimator: str, level: float) -> Estimated:
    """Shares by this estimator, each with an interval of this level apart from the others."""
    if evidence.by_price is not None and estimator == EstimatorName.UNBIASED:
        return _drawn_shares(statistic, evidence, level)
    plain = ESTIMATORS[estimator](statistic, evidence.tally)
    reach = reach_of_shares(1.0 if estimator == EstimatorName.NAIVE else evidence.least_q, statistic.centre)
    if estimator in (EstimatorName.NAIVE, EstimatorName.UNBIASED):
        return _wald(plain, z_of(level), reach, (0.0, 1.0))
    scored = weighted_scores(statistic, evidence.bands, evidence.owners, z_of(level))
    shrunk = estimator == EstimatorName.SHRUNK
    return Estimated(
        estimate=_pulled(statistic, evidence, scored.estimate) if shrunk else scored.estimate,
        low=scored.low,
        high=scored.high,
        standard_error=plain.standard_error,
        reach=reach,
    )


def estimated_mean(statistic: NumberMean, evidence: Evidence, estimator: str, level: float) -> Estimated:
    """The mean of numbers by this estimator."""
    ends = float(statistic.reach[0][0]), float(statistic.reach[1][0])
    centre = float(statistic.centre[0])
    if evidence.by_price is not None and estimator == EstimatorName.UNBIASED:
        tally = evidence.drawn
        found = sampled(statistic, tally)
        estimate, low, high = guarded_mean(statistic, tally, level)
        return Estimated(
            estimate=np.array([estimate]),
            low=np.array([low]),
            high=np.array([high]),
            standard_error=np.array([mean_error(statistic, found)]),
            reach=np.array([reach_of_means(tally.least_q, *ends, centre)]),
        )
    q = 1.0 if estimator == EstimatorName.NAIVE else evidence.least_q
    reach = np.array([reach_of_means(q, *ends, centre)])
    return _wald(ESTIMATORS[estimator](statistic, evidence.tally), z_of(level), reach, ends)


def _wald(found: Estimate, z: float, reach: Floats, ends: tuple[float, float]) -> Estimated:
    wide = z * found.standard_error
    return Estimated(
        estimate=found.mean,
        low=np.clip(found.middle - wide, *ends),
        high=np.clip(found.middle + wide, *ends),
        standard_error=found.standard_error,
        reach=reach,
    )


def _drawn_shares(statistic: Functional, evidence: Evidence, level: float) -> Estimated:
    tally = evidence.drawn
    found = guarded_shares(statistic, tally, level)
    drawn = sampled(statistic, tally)
    variance = share_variance(statistic, drawn).at(np.clip(found.estimate, 0.0, 1.0)).sum(axis=0)
    return Estimated(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        standard_error=np.sqrt(variance),
        reach=reach_of_shares(tally.least_q, statistic.centre),
    )


def _pulled(statistic: Functional, evidence: Evidence, estimate: Floats) -> Floats:
    information = evidence.tally.power(2)
    pulled: Floats = statistic.shrinks_to + information / (information + PULL) * (estimate - statistic.shrinks_to)
    return pulled
