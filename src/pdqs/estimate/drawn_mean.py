"""The interval of a mean under a lottery: all m that the reports do not contradict (section 12 of docs/theory).

About mid-range, with S_h^2 = m2 - m_h^2 the variance of values in a stratum at a hypothesised mean m,

    V_h(m) = W_h^2 { (sum w^2 - N) S_h^2 + m2 (sum w^2/q - sum w^2) + v (sum w^2/q^2 - sum w^2/q) + N D^2/4 } / N^2

where v is the variance of a uniform report and D the gap between levels when values are rounded at random (else 0). m2
is estimated, never below the least that a mean of m_h allows, nor above the square of half the range.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pdqs.estimate.chances import Sampled
from pdqs.estimate.drawn import PULL, student
from pdqs.estimate.edges import crosses_at
from pdqs.estimate.functionals import Functional
from pdqs.model.arrays import Floats


def mean_interval(
    statistic: Functional, found: Sampled, level: float, *, level_gap: float = 0.0
) -> tuple[float, float]:
    """Both ends, within the range of the values. ``level_gap`` is D when values are rounded at random to levels."""
    low, high = float(statistic.reach[0][0]), float(statistic.reach[1][0])
    estimate = float(found.estimate[0])
    spread = _variance(statistic, found, level_gap)
    freedom = np.maximum(found.effective - 1.0, 1.0)[:, None]
    tail = (1.0 - level) / 2.0

    def margin(mean: float, centre: float) -> float:
        variances = spread(mean)[:, None]
        reach = float(student(variances, freedom, tail)[0])
        return reach * math.sqrt(float(variances.sum())) - abs(centre - mean)

    start = min(max(estimate, low), high)
    if margin(start, estimate) < 0.0:  # an estimate far outside the range: its nearer end stands for it
        estimate = start
    return crosses_at(lambda m: margin(m, estimate), start, low), crosses_at(lambda m: margin(m, estimate), start, high)


def mean_error(statistic: Functional, found: Sampled, *, level_gap: float = 0.0) -> float:
    """sqrt(sum V_h) at the estimate: its standard error."""
    at = float(np.clip(found.estimate[0], statistic.reach[0][0], statistic.reach[1][0]))
    return float(np.sqrt(_variance(statistic, found, level_gap)(at).sum()))


def _variance(statistic: Functional, found: Sampled, level_gap: float) -> Callable[[float], Floats]:
    """V_h as a function of the hypothesised mean."""
    centre, v = float(statistic.centre[0]), float(statistic.spread[0])
    half = float(max(statistic.reach[1][0] - centre, centre - statistic.reach[0][0]))
    own, second = np.clip(found.mean[:, 0] - centre, -half, half), found.second[:, 0]
    trust = found.effective / (found.effective + PULL) if found.part.size > 1 else np.zeros_like(found.part)
    pooled = float(found.part @ second)
    squares = trust * second + (1.0 - trust) * pooled
    scale = (found.part / found.weight) ** 2
    drawn = np.maximum(found.square - found.weight, 0.0)
    known = v * (found.steep - found.tilted) + found.weight * level_gap**2 / 4.0

    def at(mean: float) -> Floats:
        m = trust * own + (1.0 - trust) * (mean - centre)
        m2 = np.clip(squares, m * m, half * half)
        value: Floats = scale * (drawn * (m2 - m * m) + m2 * (found.tilted - found.square) + known)
        return value

    return at
