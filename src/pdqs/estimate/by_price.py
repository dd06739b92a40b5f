"""An answer by price: what cheap and dear owners say, stratum by stratum. The picture of who answers how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.chances import Sampled, sampled
from pdqs.estimate.drawn import share_variance
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import statistic_of
from pdqs.model.arrays import Figure
from pdqs.model.names import QuestionKind
from pdqs.model.query import Count, Mean, Median, Quantile
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBand:
    """The owners who ask from ``low`` up to ``high``: how many there are, were asked and reported, and what they say.

    ``value`` is their share of 1 for a count, their mean for a mean, the share of each value for a histogram, and for a
    quantile the share at or below the answer. ``standard_error`` is that of a share, NaN for a mean.
    """

    low: float
    high: float
    owners: int
    asked: int
    reports: int
    value: Figure
    standard_error: Figure


def bands_by_price(evidence: Evidence, terms: Terms, value: Figure) -> tuple[PriceBand, ...]:
    """One row for each stratum that was heard from; none for estimates without strata, or from sides or buckets."""
    if evidence.by_price is None or terms.asking.kind in (QuestionKind.SIDE, QuestionKind.BUCKET):
        return ()  # sides and buckets differ from owner to owner: what a few of them say together means nothing
    tally, strata = evidence.by_price.tally, evidence.by_price.strata
    statistic = statistic_of(terms)
    found = sampled(statistic, tally)
    errors = _errors(terms, found)
    edges = [terms.setting.low, *strata.bounds.tolist(), min(strata.dearest, terms.setting.high)]
    rows = []
    for row, h in enumerate(np.flatnonzero(tally.reported).tolist()):
        rows.append(
            PriceBand(
                low=float(edges[h]),
                high=float(edges[h + 1]),
                owners=int(tally.owners[h]),
                asked=int(tally.asked[h]),
                reports=int(tally.reported[h]),
                value=_told(terms, found.mean[row], value),
                standard_error=_told(terms, errors[row], value),
            )
        )
    return tuple(rows)


def _errors(terms: Terms, found: Sampled) -> Figure:
    """Standard errors of each stratum's own shares."""
    if isinstance(terms.query, Mean):
        return np.full_like(found.mean, np.nan)
    variance = share_variance(statistic_of(terms), found)
    own = np.clip(found.mean, 0.0, 1.0)
    each = variance.drawn * own * (1 - own) + variance.inside * own + variance.outside * (1 - own)
    return np.sqrt(np.maximum(each, 0.0)) / found.weight[:, None]


def _told(terms: Terms, row: Figure, value: Figure) -> Figure:
    if isinstance(terms.query, Count):
        return float(row[1])
    if isinstance(terms.query, Mean):
        return float(row[0])
    if isinstance(terms.query, Median | Quantile):
        return float(row[int(np.searchsorted(terms.domain.numbers, value))])
    return row
