"""Estimates: reports in, an answer out.

``evidence`` adds up, ``readings`` holds what each estimator makes of the sums, and one file a query reads it.
"""

from __future__ import annotations

from pdqs.estimate.answers import Answer, answer, answer_from_evidence, answer_from_tally, read_evidence
from pdqs.estimate.evidence import Evidence, evidence_of, gathered, of_tally, prices_of
from pdqs.estimate.staged import in_stages, left_before, narrowed
from pdqs.estimate.tallies import Tally, tally

__all__ = [
    "Answer",
    "Evidence",
    "Tally",
    "answer",
    "answer_from_evidence",
    "answer_from_tally",
    "evidence_of",
    "gathered",
    "in_stages",
    "left_before",
    "narrowed",
    "of_tally",
    "prices_of",
    "read_evidence",
    "tally",
]
