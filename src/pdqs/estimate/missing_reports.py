"""Reports that never came: what an answer takes for granted of those who were asked and stayed silent.

They are not paid (:func:`pdqs.settle`), and the estimators count only who was heard.
"""

from __future__ import annotations

from pdqs.estimate.evidence import Evidence
from pdqs.model.names import EstimatorName
from pdqs.rounds.terms import Terms


def missing_note(evidence: Evidence, terms: Terms, *, answered: bool = True) -> list[str]:
    """What is assumed of those who were asked and did not report; where there is no answer, nothing is."""
    if not evidence.missing:
        return []
    if evidence.missing == evidence.asked:
        return [f"none of the {evidence.asked:,} reports came"]
    by_price = evidence.by_price is not None and terms.estimator == EstimatorName.UNBIASED
    who = "others of their price" if by_price else "the rest"
    silent = "is" if evidence.missing == 1 else "are"
    said = f"{evidence.missing:,} of {evidence.asked:,} reports {silent} missing"
    return [f"{said}: {who} are taken to stand for them" if answered else said]
