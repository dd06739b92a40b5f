"""What should be said beside an answer: what it takes for granted, and what speaks against that."""

from __future__ import annotations

import math

import numpy as np

from pdqs.estimate.correlation_warning import correlation_note
from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.missing_reports import missing_note
from pdqs.estimate.readings import Reading
from pdqs.model.names import EstimatorName
from pdqs.model.query import Count, Histogram, Mean
from pdqs.present.text import in_digits
from pdqs.rounds.terms import Terms

NOTHING_RULED_OUT = "these reports rule nothing out"
"""How it is said of an answer whose interval is all that can be."""


def reason_for_silence(evidence: Evidence, terms: Terms, information: float) -> str:
    """Why there is no answer, or nothing; the naive estimator, as the paper has it, answers whatever was bought."""
    reports = evidence.tally.reports if terms.estimator == EstimatorName.NAIVE else evidence.tally.heard
    return why_no_answer(reports, math.inf if terms.estimator == EstimatorName.NAIVE else information)


def warnings_of(evidence: Evidence, terms: Terms, reading: Reading) -> list[str]:
    """Plain sentences; none where nothing is amiss."""
    found = _nothing_ruled_out(evidence, terms, reading)
    if terms.estimator == EstimatorName.NAIVE:
        found.append(
            "the naive estimator takes randomised reports at face value: it leans toward the middle of the domain"
        )
    if evidence.by_price is not None:
        found += _gap(evidence)
    return found + correlation_note(evidence, terms, reading) + missing_note(evidence)


def _nothing_ruled_out(evidence: Evidence, terms: Terms, reading: Reading) -> list[str]:
    """Where the interval is all that can be, the estimate beside it is no more than a guess, and it is said first."""
    shares = isinstance(terms.query, Count | Histogram)
    start, span = (0.0, float(evidence.owners)) if shares else (terms.domain.start, terms.domain.span)
    low, high = start, start + span
    hair = 1e-9 * span
    ends = np.reshape(reading.interval, (-1, 2))
    if (ends[:, 0] > low + hair).any() or (ends[:, 1] < high - hair).any():
        return []
    return [f"{NOTHING_RULED_OUT}: anything from {in_digits(low)} to {in_digits(high)} could be the answer"]


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
        amount = "" if far >= terms.domain.span else f"{in_digits(far, 3)} on average"
    else:
        amount = "" if far >= 1 else f"{100 * far:.2g} points"
    if not amount:
        return f"{who} could not move the answer out of its interval, whatever they would say"
    return f"if {who} differ from the others by more than {amount}, the answer leaves its interval"
