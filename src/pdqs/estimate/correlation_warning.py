"""The warning that prices and values look correlated: weighted and unbiased then differ by more than chance."""

from __future__ import annotations

import math

import numpy as np

from pdqs.estimate.estimators import disagreement
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import statistic_of
from pdqs.estimate.readings import Reading
from pdqs.model.names import EstimatorName
from pdqs.model.query import Histogram, Median, Quantile
from pdqs.rounds.terms import Terms

SUSPICIOUS = 3.0
"""Standard errors between weighted and unbiased that call for a warning: a false alarm in 1 round of 370."""


def correlation_note(evidence: Evidence, terms: Terms, reading: Reading) -> list[str]:
    """The warning, or nothing; the unbiased estimator does not need it, for it takes no such thing for granted."""
    gap = 0.0 if terms.estimator == EstimatorName.UNBIASED else abs(_disagreement(evidence, terms, reading))
    if gap <= SUSPICIOUS:
        return []
    return [
        f"bids and values look correlated: cheap and dear owners answer differently, by {gap:.1f} standard errors."
        " Prices may go with answers, reports may be missing for a reason, or some may not be made as agreed;"
        " rule 'lottery' with estimator 'unbiased' is right in the first case"
    ]


def looks_correlated(evidence: Evidence, terms: Terms, reading: Reading) -> bool:
    """Whether weighted and unbiased answers differ by more than chance would have it."""
    return abs(_disagreement(evidence, terms, reading)) > SUSPICIOUS


def _disagreement(evidence: Evidence, terms: Terms, reading: Reading) -> float:
    """The largest disagreement between weighted and unbiased, in standard errors."""
    query = terms.query
    apart = disagreement(statistic_of(terms), evidence.tally)
    if isinstance(query, Histogram):
        # The worst of k gaps is larger by chance alone: compare it with what the worst of k would reach.
        return float(np.abs(apart).max()) - math.sqrt(2 * math.log(max(apart.size / 2, 1)))
    if isinstance(query, Median | Quantile) and terms.asking.whole:
        return float(apart[int(np.searchsorted(query.domain.numbers, reading.value))])
    return float(apart[-1])
