r"""Means from levels: values rounded at random to g even levels, so that each is right on average.

With x the reported level's number about mid-range and weights a = q^2 (prices tell nothing about values), the mean is
mid + sum a x/q / sum a. Its interval holds every m0 (from mid-range) with

.. math:: |\hat\mu - m_0| \le t_{n_{eff} - 1} \sqrt{\max(V_{emp}, V_{min}(m_0))}, \qquad
          V_{min}(m_0) = \frac{\sum a^2 (q e_2(m_0) + (1-q) M_2 - q^2 m_0^2)/q^2}{(\sum a)^2}

where M2 is the mean squared level, e2 the squared levels joined by lines (the least that a rounded value with mean m0
can have), V_emp the variance seen and n_eff = (sum a)^2 / sum a^2 (section 10 of docs/theory). Owners drawn by lottery:
:func:`drawn_level_mean`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import stdtrit

from pdqs.estimate.chances import ChanceTally
from pdqs.estimate.edges import falls_at
from pdqs.estimate.functionals import NumberMean
from pdqs.estimate.guarded import guarded_mean
from pdqs.estimate.whole_sums import Sums, added, as_floats, exact_sums
from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import EstimateError, ensure
from pdqs.model.questions import Level


@final
@dataclass(frozen=True, kw_only=True)
class LevelTally:
    """For each level, the sums of q, q^2 and q^3 over its reports; and over all reports those of q^2, q^3 and q^4."""

    reports: int
    first: Sums
    second: Sums
    third: Sums
    powers: Sums

    def merged(self, other: LevelTally) -> LevelTally:
        """The tally of both sets of reports together."""
        ensure(len(self.first) == len(other.first), "tallies of different level questions")
        return LevelTally(
            reports=self.reports + other.reports,
            first=added(self.first, other.first),
            second=added(self.second, other.second),
            third=added(self.third, other.third),
            powers=added(self.powers, other.powers),
        )


def tally_levels(reports: Integers, q: Floats, levels: int) -> LevelTally:
    """Add up one batch of reports that arrived."""
    nowhere = np.zeros(q.size, dtype=np.int64)
    return LevelTally(
        reports=int(q.size),
        first=exact_sums(q, reports, levels),
        second=exact_sums(q**2, reports, levels),
        third=exact_sums(q**3, reports, levels),
        powers=tuple(exact_sums(q**power, nowhere, 1)[0] for power in (2, 3, 4)),
    )


@final
@dataclass(frozen=True)
class MeanInterval:
    """A mean in the numbers of the domain; ``value`` is raw and may lie outside, the ends do not."""

    value: float
    standard_error: float
    low: float
    high: float


def level_mean(question: Level, tally: LevelTally, confidence: float) -> MeanInterval:
    """The mean of the owners' numbers when prices tell nothing about them, and its interval."""
    s2, s3, s4 = as_floats(tally.powers)
    if not s2:
        raise EstimateError("no report came, so there is nothing to take a mean of")
    levels = question.numbers
    middle, half = (levels[0] + levels[-1]) / 2.0, (levels[-1] - levels[0]) / 2.0
    x = (levels - middle) / half  # on [-1, 1]
    mu = float(as_floats(tally.first) @ x / s2)
    seen = as_floats(tally.second) @ x**2 - 2.0 * mu * (as_floats(tally.third) @ x) + mu**2 * s4
    least = _least_variance(x, s2, s3, s4)
    reach = float(stdtrit(max(s2**2 / s4 - 1.0, 1.0), 0.5 + confidence / 2.0))
    seen_variance = max(float(seen), 0.0) / s2**2

    start = min(max(mu, -1.0), 1.0)  # an estimate outside the range: its nearer end stands for it

    def stands(m: float) -> bool:
        return abs(start - m) <= reach * math.sqrt(max(seen_variance, least(m)))

    low, high = falls_at(stands, start, -1.0), falls_at(stands, start, 1.0)
    error = math.sqrt(max(seen_variance, least(start)))
    return MeanInterval(middle + half * mu, half * error, middle + half * low, middle + half * high)


def _least_variance(x: Floats, s2: float, s3: float, s4: float) -> Callable[[float], float]:
    """V_min with a = q^2: sum q^2 (q e2 + (1 - q) M2 - q^2 m0^2) / (sum q^2)^2."""
    uniform = float(np.mean(x**2))

    def at(m: float) -> float:
        e2 = float(np.interp(m, x, x**2))
        return max(s3 * e2 + (s2 - s3) * uniform - s4 * m * m, 0.0) / s2**2

    return at


def drawn_level_mean(question: Level, tally: ChanceTally, confidence: float) -> tuple[float, float, float]:
    """The mean, and the ends of its interval, of what a lottery bought: the tally is of g reported codes."""
    return guarded_mean(NumberMean(question.numbers), tally, confidence, level_gap=question.gap)
