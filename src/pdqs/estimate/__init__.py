"""Estimates: reports in, an answer out. ``tally`` adds up, ``estimators`` and ``functional`` read the sums."""

from __future__ import annotations

from pdqs.estimate.answer import Answer, answer, answer_from_tally
from pdqs.estimate.tally import Tally, tally

__all__ = ["Answer", "Tally", "answer", "answer_from_tally", "tally"]
