"""Reports in, an answer with an honest interval out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from pdqs.estimate.estimators import ESTIMATORS, Estimate, disagreement
from pdqs.estimate.functionals import CumulativeShares, Functional, NumberMean, Shares
from pdqs.estimate.level import z_of
from pdqs.estimate.tallies import Tally, tally
from pdqs.model.arrays import Floats
from pdqs.model.errors import EstimateError
from pdqs.model.names import EstimatorName, QueryKind
from pdqs.model.query import Median, Quantile, Query
from pdqs.present.text import Shown
from pdqs.rounds.belonging import refuse_strangers
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

SUSPICIOUS = 3.0
"""Standard errors between weighted and unbiased that call for a warning: a false alarm in 1 round of 370."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answer(Shown):
    """What the consumer learns.

    ``value`` is kept to what is possible (a count between 0 and n, a value of the domain), ``raw`` is the figure before
    that. ``interval`` covers the truth among these owners with probability ``level``. For a histogram the three are
    arrays, a row for each value. ``heard`` counts owners whose report says anything (q > 0): unless the estimator is
    `unbiased`, the others are taken to be like them, and no test on the reports can tell if they are not.
    """

    value: Any
    raw: Any
    interval: Any
    level: float
    estimator: str
    query: Query
    owners: int
    reports: int
    heard: int
    information: float
    warnings: tuple[str, ...]

    def title(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"{self.query.kind.capitalize()} over {self.value.size} values"
        return f"{self.query.kind.capitalize()}: {self.value:,.6g}"

    def rows(self) -> list[tuple[str, str]]:
        if isinstance(self.value, np.ndarray):
            labels = self.query.question.domain.decode(np.arange(self.value.size))
            shown = [
                (str(label), f"{value:,.1f}  ({low:,.1f} to {high:,.1f})")
                for label, value, (low, high) in zip(labels, self.value, self.interval, strict=True)
            ]
            rows = shown if len(shown) <= 12 else [*shown[:6], ("...", f"{len(shown)} in all"), *shown[-5:]]
        else:
            low, high = self.interval
            rows = [
                (f"{self.level:.4g} interval", f"{low:,.6g} to {high:,.6g}"),
                ("before clipping", f"{self.raw:,.6g}"),
            ]
        return [
            *rows,
            ("estimator", self.estimator),
            ("stands on", self._standing()),
        ]

    def _standing(self) -> str:
        heard = f"{self.heard:,} of {self.owners:,} owners, information {self.information:,.1f}"
        return heard if self.heard == self.owners else f"{heard}; the others are taken to be like them"

    def notes(self) -> tuple[str, ...]:
        return self.warnings


def answer(reports: Reports, offers: Offers, terms: Terms, *, level: float = 0.95) -> Answer:
    """The answer to the terms' query from the reports that arrived.

    >>> import pdqs
    >>> terms = pdqs.Terms(query=pdqs.Count(), budget=60.0)
    >>> rng = np.random.default_rng(7)
    >>> values, bids = rng.random(200) < 0.3, rng.random(200)
    >>> offers = pdqs.clear(bids, terms)
    >>> found = pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms)
    >>> bool(found.interval[0] <= values.sum() <= found.interval[1])
    True
    """
    refuse_strangers(reports, offers, terms, EstimateError)
    return answer_from_tally(tally(reports, offers), terms, level=level)


def answer_from_tally(sums: Tally, terms: Terms, *, level: float = 0.95) -> Answer:
    """The answer from sums alone: reports need never be collected in one place."""
    z = z_of(level)
    value, raw, interval, gap = READINGS[terms.query.kind](sums, terms, z)
    return Answer(
        value=value,
        raw=raw,
        interval=interval,
        level=level,
        estimator=terms.estimator,
        query=terms.query,
        owners=sums.owners,
        reports=sums.reports,
        heard=sums.heard,
        information=sums.power(2),
        warnings=tuple(_warnings(sums, terms, z, gap)),
    )


Reading = tuple[Any, Any, Any, float]
"""value, raw, interval, and the largest disagreement between weighted and unbiased in standard errors."""


def _estimated(statistic: Functional, sums: Tally, terms: Terms) -> Estimate:
    return ESTIMATORS[terms.estimator](statistic, sums)


def _ends(found: Estimate, z: float, low: Floats | float, high: Floats | float) -> tuple[Floats, Floats]:
    reach = z * found.standard_error
    return np.clip(found.middle - reach, low, high), np.clip(found.middle + reach, low, high)


def _count(sums: Tally, terms: Terms, z: float) -> Reading:
    statistic = Shares(2)
    found = _estimated(statistic, sums, terms)
    low, high = _ends(found, z, 0.0, 1.0)
    n = sums.owners
    raw = n * float(found.mean[1])
    gap = float(disagreement(statistic, sums)[1])
    return min(max(raw, 0.0), float(n)), raw, (n * float(low[1]), n * float(high[1])), gap


def _mean(sums: Tally, terms: Terms, z: float) -> Reading:
    numbers = terms.question.domain.numbers
    statistic = NumberMean(numbers)
    found = _estimated(statistic, sums, terms)
    low, high = _ends(found, z, numbers[0], numbers[-1])
    raw = float(found.mean[0])
    value = min(max(raw, float(numbers[0])), float(numbers[-1]))
    return value, raw, (float(low[0]), float(high[0])), float(disagreement(statistic, sums)[0])


def _histogram(sums: Tally, terms: Terms, z: float) -> Reading:
    statistic = Shares(terms.domain_size)
    found = _estimated(statistic, sums, terms)
    n = sums.owners
    interval = n * np.stack(_ends(found, z, 0.0, 1.0), axis=1)
    # The worst of k gaps is larger by chance alone: compare it with what the worst of k would reach.
    gap = float(np.abs(disagreement(statistic, sums)).max()) - math.sqrt(2 * math.log(terms.domain_size / 2))
    return np.clip(n * found.mean, 0.0, n), n * found.mean, interval, gap


def _quantile(sums: Tally, terms: Terms, z: float) -> Reading:
    """Invert the cumulative share, made monotone, at p; the interval holds the values that p cannot be told from.

    A value x_j is the quantile when F(x_j) >= p and F(x_{j-1}) < p. It stays in the interval unless one of the two is
    contradicted by more than z standard errors.
    """
    from scipy.optimize import isotonic_regression  # a slow import, needed by quantiles only

    p = cast(Median | Quantile, terms.query).p  # no other kind is read here
    numbers = terms.question.domain.numbers
    statistic = CumulativeShares(numbers.size)
    found = _estimated(statistic, sums, terms)
    shares = isotonic_regression(found.mean).x
    shares[-1] = 1.0  # everyone is at or below the last value, whatever the noise says
    at = int(np.argmax(shares >= p))
    error = np.append(found.standard_error[:-1], 0.0)
    middle = np.append(isotonic_regression(found.middle).x[:-1], 1.0)
    not_below = middle + z * error >= p
    not_above = np.concatenate([[True], (middle - z * error)[:-1] < p])
    possible = np.flatnonzero(not_below & not_above)
    ends = (at, at) if not possible.size else (min(int(possible[0]), at), max(int(possible[-1]), at))
    gap = float(disagreement(statistic, sums)[at])
    interval = (float(numbers[ends[0]]), float(numbers[ends[1]]))
    return float(numbers[at]), _crossing(shares, numbers, at, p), interval, gap


def _crossing(shares: Floats, numbers: Floats, at: int, p: float) -> float:
    """Where the straight line between two values crosses p: the quantile before it is put onto the domain."""
    if at == 0 or shares[at] <= shares[at - 1]:
        return float(numbers[at])
    part = (p - shares[at - 1]) / (shares[at] - shares[at - 1])
    return float(numbers[at - 1] + part * (numbers[at] - numbers[at - 1]))


READINGS: Mapping[str, Callable[[Tally, Terms, float], Reading]] = {
    QueryKind.COUNT: _count,
    QueryKind.MEAN: _mean,
    QueryKind.HISTOGRAM: _histogram,
    QueryKind.MEDIAN: _quantile,
    QueryKind.QUANTILE: _quantile,
}


def _warnings(sums: Tally, terms: Terms, z: float, gap: float) -> list[str]:
    found = []
    information = sums.power(2)
    if terms.estimator == EstimatorName.NAIVE:
        found.append(
            "the naive estimator takes randomised reports at face value: it leans toward the middle of the domain"
        )
    elif information <= z * z:
        found.append(
            f"too little was bought to say anything: information {information:.2f}, at least {z * z:.1f} needed"
        )
    if abs(gap) > SUSPICIOUS:
        found.append(
            f"bids and values look correlated: weighted and unbiased answers differ by {abs(gap):.1f} standard errors;"
            " use rule 'robust' with estimator 'unbiased'"
        )
    if sums.reports < sums.owners:
        missing = sums.owners - sums.reports
        found.append(f"{missing:,} of {sums.owners:,} reports are missing: the rest are taken to stand for them")
    return found
