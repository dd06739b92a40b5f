"""What should be said beside an answer: what it takes for granted, and what speaks against that."""

from __future__ import annotations

import math

import numpy as np

from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.estimators import disagreement
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import CumulativeShares, Functional, NumberMean, Shares
from pdqs.estimate.readings import Reading
from pdqs.model.names import EstimatorName
from pdqs.model.query import Count, Histogram, Mean, Median, Quantile
from pdqs.rounds.terms import Terms

SUSPICIOUS = 3.0
"""Standard errors between weighted and unbiased that call for a warning: a false alarm in 1 round of 370."""


def reason_for_silence(evidence: Evidence, terms: Terms, information: float) -> str:
    """Why there is no answer, or nothing; the naive estimator, as the paper has it, answers whatever was bought."""
    reports = evidence.tally.reports if terms.estimator == EstimatorName.NAIVE else evidence.tally.heard
    return why_no_answer(reports, math.inf if terms.estimator == EstimatorName.NAIVE else information)


def warnings_of(evidence: Evidence, terms: Terms, reading: Reading) -> list[str]:
    """Plain sentences; none where nothing is amiss."""
    found = []
    if terms.estimator == EstimatorName.NAIVE:
        found.append(
            "the naive estimator takes randomised reports at face value: it leans toward the middle of the domain"
        )
    if evidence.by_price is not None:
        found += _gap(evidence)
    unbiased = terms.estimator == EstimatorName.UNBIASED
    if not unbiased and (gap := abs(_disagreement(evidence, terms, reading))) > SUSPICIOUS:
        found.append(
            f"bids and values look correlated: cheap and dear owners answer differently, by {gap:.1f} standard errors."
            " Prices may go with answers, reports may be missing for a reason, or some may not be made as agreed;"
            " rule 'lottery' with estimator 'unbiased' is right in the first case"
        )
    return found + missing_note(evidence, terms)


def missing_note(evidence: Evidence, terms: Terms) -> list[str]:
    """What is assumed of those who were asked and did not report."""
    if not evidence.missing:
        return []
    if evidence.missing == evidence.asked:
        return [f"none of the {evidence.asked:,} reports came"]
    who = "others of their price" if terms.estimator == EstimatorName.UNBIASED else "the rest"
    return [f"{evidence.missing:,} of {evidence.asked:,} reports are missing: {who} are taken to stand for them"]


def _gap(evidence: Evidence) -> list[str]:
    tally = evidence.drawn
    found = []
    if tally.unreachable:
        found.append(
            f"{tally.unreachable:,} of {tally.everyone:,} owners ask more than the budget can pay:"
            " the interval allows for whatever they would say"
        )
    if tally.dearer:
        found.append(
            f"{tally.dearer:,} of {tally.everyone:,} owners ask so much that too few or none of them reported:"
            " the interval allows for whatever they would say"
        )
    return found


def sensitivity_of(evidence: Evidence, terms: Terms, reading: Reading) -> str:
    """For estimates that take those not heard to be like the rest: how far they must differ to matter.

    With a share z of owners unheard and a distance d from the answer to its interval's nearer end, d/z.
    """
    unheard = 1.0 - evidence.tally.heard / evidence.owners
    if terms.estimator not in (EstimatorName.WEIGHTED, EstimatorName.SHRUNK) or unheard <= 0 or reading.slack <= 0:
        return ""
    far = reading.slack / unheard
    who = f"the {unheard:.0%} of owners not heard"
    if isinstance(terms.query, Mean):
        amount = "" if far >= terms.domain.span else f"{far:.3g} on average"
    else:
        amount = "" if far >= 1 else f"{100 * far:.2g} points"
    if not amount:
        return f"{who} could not move the answer out of its interval, whatever they would say"
    return f"if {who} differ from the others by more than {amount}, the answer leaves its interval"


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


def statistic_of(terms: Terms) -> Functional:
    """The functional that a query is read from; of smaller questions, the shares or numbers of their answers."""
    query = terms.query
    if not terms.asking.whole:
        return NumberMean(terms.asking.answers.numbers) if isinstance(query, Mean) else Shares(terms.kappa)
    if isinstance(query, Count):
        return Shares(2)
    if isinstance(query, Histogram):
        return Shares(query.domain.size)
    if isinstance(query, Median | Quantile):
        return CumulativeShares(query.domain.size)
    if isinstance(query, Mean):
        return NumberMean(query.domain.numbers)
    raise AssertionError(f"no statistic is known for {query.kind}")
