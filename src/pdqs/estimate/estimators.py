"""From a tally to the mean of a functional, with its standard error (section 6 of docs/theory).

Notation: S_j = sum q^j over arrived reports; g' = g - centre; mu' = mean of g' over the owners; m2 = mean of g'^2;
v = ``spread``. The variance of g'(report_i) is q_i m2 + (1 - q_i) v - (q_i mu')^2. The target is the mean over *these*
owners, so the variance of the values themselves over n is taken off (finite population).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.functionals import Functional
from pdqs.estimate.tallies import Tally
from pdqs.model.arrays import Floats
from pdqs.model.errors import EstimateError
from pdqs.model.names import EstimatorName


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Estimated means, their standard errors, and the middle of their intervals (the mean itself unless shrunk)."""

    mean: Floats
    standard_error: Floats
    middle: Floats


def naive(statistic: Functional, tally: Tally) -> Estimate:
    """The mean of the reports as they are, as the paper takes it: leans toward the middle of the domain."""
    if not tally.reports:
        return _nothing(statistic)
    histogram = tally.counts.astype(np.float64)
    mu = statistic.first(histogram) / tally.reports
    variance = statistic.second(histogram) / tally.reports - mu**2
    mean = statistic.centre + mu
    return Estimate(mean, np.sqrt(np.maximum(variance, 0.0) / tally.reports), mean)


def weighted(statistic: Functional, tally: Tally) -> Estimate:
    """centre + sum q_i g'(report_i) / S_2: least variance when bids say nothing about values."""
    s2 = tally.power(2)
    if not s2:
        return _nothing(statistic)
    mu, m2 = _weighted_moments(statistic, tally)
    v = statistic.spread
    variance = (s2 * v + tally.power(3) * (m2 - v) - tally.power(4) * mu**2) / s2**2
    variance = variance - (m2 - mu**2) / tally.owners
    mean = statistic.centre + statistic.first(tally.weighted) / s2
    return Estimate(mean, np.sqrt(np.maximum(variance, 0.0)), mean)


def unbiased(statistic: Functional, tally: Tally) -> Estimate:
    """centre + (1/n) sum g'(report_i) / q_i: right whatever bids say about values, if everyone has a q > 0.

    Its variance given the values, (1/n^2) [sum_v g'(v)^2 (L2_v - L1_v) + v (sum 1/q - n)] with L1, L2 the sums of 1/q
    and 1/q^2 over the reports of v, is itself unbiased, and needs no correction for the finite population where all
    report. Where reports are missing, h, how many came, stands for n, and who they came from adds its own variance.
    """
    if tally.heard < tally.reports:
        silent = tally.reports - tally.heard
        raise EstimateError(
            f"estimator 'unbiased' needs q > 0 for every owner, but {silent:,} of {tally.reports:,} have q = 0:"
            " use rule 'lottery', or estimator 'weighted'"
        )
    if not tally.heard:
        return _nothing(statistic)
    mean, variance = _unbiased_moments(statistic, tally)
    variance = np.maximum(variance, 0.0) + _of_who_reported(statistic, tally, mean)
    return Estimate(mean, np.sqrt(variance), mean)


def shrunk(statistic: Functional, tally: Tally) -> Estimate:
    """The weighted mean pulled toward the middle by kappa = I / (I + 3), I = S_2; its interval is the weighted one's.

    A pulled estimate is closer on average when little was bought; an interval around it would not cover as it says.
    """
    plain = weighted(statistic, tally)
    kappa = tally.power(2) / (tally.power(2) + 3.0)
    return Estimate(
        statistic.shrinks_to + kappa * (plain.mean - statistic.shrinks_to), plain.standard_error, plain.middle
    )


ESTIMATORS: Mapping[str, Callable[[Functional, Tally], Estimate]] = {
    EstimatorName.NAIVE: naive,
    EstimatorName.WEIGHTED: weighted,
    EstimatorName.UNBIASED: unbiased,
    EstimatorName.SHRUNK: shrunk,
}


def disagreement(statistic: Functional, tally: Tally) -> Floats:
    """(weighted - unbiased) / its standard error, among owners with q > 0: large when bids and values go together.

    The two differ by sum (q/S_2 - 1/(q n)) g'(report), whose variance under independence needs only the tally.
    """
    n, s2 = tally.heard, tally.power(2)
    if not s2:
        return np.zeros_like(statistic.centre)
    mu, m2 = _weighted_moments(statistic, tally)
    v = statistic.spread

    def summed(shift: int) -> Floats | float:
        """sum (q/S_2 - 1/(q n))^2 q^shift."""
        powers = {-2: tally.inverse(2), -1: tally.inverse(1), 0: float(n)}
        at = [powers[j] if j <= 0 else tally.power(j) for j in (shift - 2, shift, shift + 2)]
        return at[2] / s2**2 - 2.0 * at[1] / (s2 * n) + at[0] / n**2

    variance = v * summed(0) + (m2 - v) * summed(1) - mu**2 * summed(2)
    gap = statistic.centre + statistic.first(tally.weighted) / s2 - _unbiased_moments(statistic, tally)[0]
    # Equal q make the two the same estimate: then there is no gap to speak of, only rounding.
    noise = np.sqrt(np.maximum(variance, 0.0))
    return np.where(noise > 1e-9, gap / np.maximum(noise, 1e-9), 0.0)


def _weighted_moments(statistic: Functional, tally: Tally) -> tuple[Floats, Floats]:
    """Plausible mu' and m2 for use inside a variance: kept to where a mean of g' can lie."""
    s1, s2 = tally.power(1), tally.power(2)
    low, high = (end - statistic.centre for end in statistic.reach)
    mu = np.clip(statistic.first(tally.weighted) / s2, low, high)
    m2 = (statistic.second(tally.weighted) - (s1 - s2) * statistic.spread) / s2
    return mu, np.clip(m2, mu**2, np.maximum(low**2, high**2))


def _unbiased_moments(statistic: Functional, tally: Tally) -> tuple[Floats, Floats]:
    n = tally.heard
    mean = statistic.centre + statistic.first(tally.lifted) / n
    own = statistic.second(tally.squared_lifted) - statistic.second(tally.lifted)
    return mean, (own + statistic.spread * (tally.inverse(1) - n)) / n**2


def _of_who_reported(statistic: Functional, tally: Tally, mean: Floats) -> Floats:
    """(1 - h/n) s^2/h, s^2 the variance of the values: h of n owners reported, drawn at random as far as anyone knows.

    It is nothing when all reported. s^2 is kept to what values can have.
    """
    low, high = (end - statistic.centre for end in statistic.reach)
    heard = tally.heard
    mu = np.clip(mean - statistic.centre, low, high)
    second = (statistic.second(tally.lifted) - statistic.spread * (tally.inverse(1) - heard)) / heard
    values = np.clip(second, mu**2, np.maximum(low**2, high**2)) - mu**2
    return (1.0 - heard / tally.owners) * values / heard


def _nothing(statistic: Functional) -> Estimate:
    """Nothing was heard: the middle, and no idea how far off."""
    middle = statistic.shrinks_to
    return Estimate(middle, np.full_like(middle, np.inf), middle)
