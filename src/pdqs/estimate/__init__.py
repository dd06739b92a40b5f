"""Estimates: reports in, an answer out. ``tally`` adds up, ``estimators`` and ``functional`` read the sums."""

from __future__ import annotations

from pdqs.estimate.answers import Answer, answer, answer_from_tally
from pdqs.estimate.tallies import Tally, tally

__all__ = ["Answer", "Tally", "answer", "answer_from_tally", "tally"]
