"""When there is no answer: too few reports, or too little in them, and then no number at all."""

from __future__ import annotations

import math

LEAST_INFORMATION = 4.0
"""Information 4 is a half-width of 49 points of share: below it an interval says nothing."""

LEAST_REPORTS = 5

LIKELY_MISSING = 0.2
"""The share of those who are asked whose reports a careful plan does without: people lose phones and forget."""


def fewest_reports(most_q: float) -> int:
    """Below so many no answer can come, whoever they are: each report says q^2 at most.

    >>> fewest_reports(0.7616), fewest_reports(1.0)
    (7, 5)
    """
    return max(LEAST_REPORTS, math.ceil(LEAST_INFORMATION / most_q**2))


def fewest_bids(most_q: float) -> int:
    """So many give an answer at best, and still where some of them do not report.

    >>> fewest_bids(0.7616), fewest_bids(1.0)
    (9, 7)
    """
    return math.ceil(fewest_reports(most_q) / (1.0 - LIKELY_MISSING))


def why_no_answer(reports: int, information: float) -> str:
    """A plain reason, or nothing when there is enough.

    Information is sum q^2 for estimators with weights; with chances it is n_eff q^2, that of as many equal weights.

    >>> why_no_answer(3, 12.0)
    'no answer: 3 reports came, and at least 5 are needed'
    >>> why_no_answer(100, 12.0)
    ''
    """
    if reports < LEAST_REPORTS:
        came = {0: "no report came", 1: "1 report came"}.get(reports, f"{reports} reports came")
        return f"no answer: {came}, and at least {LEAST_REPORTS} are needed"
    if information < LEAST_INFORMATION:
        return (
            f"no answer: the {reports:,} reports that came say too little"
            f" (information {information:.1f}, at least {LEAST_INFORMATION:.0f} needed)"
        )
    return ""
