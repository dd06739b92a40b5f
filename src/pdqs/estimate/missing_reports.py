"""Reports that never came: what an answer takes for granted of those who were asked and stayed silent.

They are not paid (:func:`pdqs.settle`), and the estimators count only who was heard.
"""

from __future__ import annotations

from pdqs.estimate.evidence import Evidence


def missing_note(evidence: Evidence, *, answered: bool = True) -> list[str]:
    """What is assumed of those who were asked and did not report; where there is no answer, nothing is."""
    if not evidence.missing:
        return []
    if evidence.missing == evidence.asked:
        return [f"none of the {evidence.asked:,} reports came"]
    who = "the rest" if evidence.by_price is None else "others of their price"
    silent = "is" if evidence.missing == 1 else "are"
    said = f"{evidence.missing:,} of {evidence.asked:,} reports {silent} missing"
    return [f"{said}: {who} are taken to stand for them" if answered else said]
