"""A quantile: the cumulative share, made monotone, inverted at p; its interval holds what no test of a share rules out.

The target is Q = min{j : F(j) >= p}. L is the first j from below whose "F(j) >= p" stands, U the first from above whose
"F(j-1) < p" stands (section 10 of docs/theory).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.dishonest import checked_share, reach_of_shares
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import CumulativeShares
from pdqs.estimate.guarded import guarded_quantile
from pdqs.estimate.level import z_of
from pdqs.estimate.quantiles import CodeInterval
from pdqs.estimate.readings import Cdf, Estimated, Reading, estimated_shares
from pdqs.model.arrays import Floats
from pdqs.model.names import EstimatorName
from pdqs.model.query import Median, Quantile
from pdqs.rounds.terms import Terms


def read_quantile(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """The smallest value that at least a share p of owners do not exceed.

    Its standard error is that of an interval as wide under the normal law: half-width / z.
    """
    numbers, p = terms.domain.numbers, rank_of(terms)
    shares = estimated_shares(CumulativeShares(numbers.size), evidence, terms.estimator, level)
    found = _codes(evidence, terms, level, shares, 0.0)
    low, high = float(numbers[found.low]), float(numbers[found.high])
    at = min(found.code, numbers.size - 2)
    return Reading(
        value=float(numbers[found.code]),
        raw=_crossing(found.shares, numbers, found.code, p),
        interval=(low, high),
        simultaneous=(low, high),
        standard_error=0.5 * (high - low) / z_of(level),
        widening=MovedQuantile(evidence=evidence, terms=terms, level=level, shares=shares),
        slack=float(min(shares.estimate[at] - shares.low[at], shares.high[at] - shares.estimate[at])),
    )


def rank_of(terms: Terms) -> float:
    """The p of a median or quantile."""
    query = terms.query
    assert isinstance(query, Median | Quantile), "a quantile is read of a query for one"
    return float(query.p)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class MovedQuantile:
    """The interval of a quantile when cheats may move every F by a share of its reach."""

    evidence: Evidence
    terms: Terms
    level: float
    shares: Estimated

    def at(self, share: float) -> Floats:
        numbers = self.terms.domain.numbers
        found = _codes(self.evidence, self.terms, self.level, self.shares, checked_share(share))
        return np.array([numbers[found.low], numbers[found.high]])

    def cdf(self) -> Cdf:
        """The cumulative shares, made monotone as they were to be inverted."""
        rising = _codes(self.evidence, self.terms, self.level, self.shares, 0.0).shares
        return Cdf(
            numbers=self.terms.domain.numbers,
            share=rising,
            low=np.minimum(np.clip(self.shares.low, 0.0, 1.0), rising),
            high=np.maximum(np.clip(self.shares.high, 0.0, 1.0), rising),
            p=rank_of(self.terms),
        )


def _codes(evidence: Evidence, terms: Terms, level: float, shares: Estimated, dishonest: float) -> CodeInterval:
    size, p = terms.domain_size, rank_of(terms)
    if evidence.by_price is not None and terms.estimator == EstimatorName.UNBIASED:
        moved = dishonest * reach_of_shares(evidence.drawn.least_q, CumulativeShares(size).centre)
        return guarded_quantile(evidence.drawn, size, p, level, dishonest=moved)
    return _inverted(shares, p, dishonest * shares.reach)


def _inverted(shares: Estimated, p: float, moved: Floats) -> CodeInterval:
    from scipy.optimize import isotonic_regression  # a slow import, needed by quantiles only

    size = shares.estimate.size
    rising = isotonic_regression(shares.estimate).x
    rising[-1] = 1.0  # everyone is at or below the last value, whatever the noise says
    code = int(np.argmax(rising >= p))
    at_least = np.append((shares.high + moved)[:-1] >= p, True)
    below = np.concatenate([[True], (shares.low - moved)[:-1] < p])
    first, last = int(np.argmax(at_least)), size - 1 - int(np.argmax(below[::-1]))
    low, high = sorted((first, last))
    return CodeInterval(code, min(low, code), max(high, code), rising)


def _crossing(shares: Floats, numbers: Floats, at: int, p: float) -> float:
    """Where the straight line between two values crosses p: the quantile before it is put onto the domain."""
    if at == 0 or shares[at] <= shares[at - 1]:
        return float(numbers[at])
    part = (p - shares[at - 1]) / (shares[at] - shares[at - 1])
    return float(numbers[at - 1] + part * (numbers[at] - numbers[at - 1]))
