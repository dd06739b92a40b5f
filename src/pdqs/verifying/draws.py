"""The public words of those whom a record lists, made again from the two secrets."""

from __future__ import annotations

import numpy as np

from pdqs.clearing import word_read
from pdqs.model.arrays import Integers, Words
from pdqs.rounds.terms import Terms
from pdqs.verifying.findings import Finding, blamed, judged, wrong_in
from pdqs.verifying.making import words_for
from pdqs.verifying.record import RecordLine, RoundRecord


def words_of(record: RoundRecord, word: int) -> Words:
    """A public word of each who is listed, made again from seed and nonce."""
    return words_for(record.seed, record.nonce, record.names)(word) if record.owners else np.zeros(0, dtype=np.uint32)


def by_owner(record: RoundRecord, made: Words | Integers) -> dict[str, int]:
    """A figure of each who is listed, by her name."""
    return dict(zip((line.pseudonym for line in record.owners), made.tolist(), strict=True))


def check_draws(record: RoundRecord, terms: Terms) -> Finding:
    """Whether the draws that are listed follow from seed and nonce."""
    made = by_owner(record, words_of(record, word_read(terms)))

    def fault(line: RecordLine) -> str:
        draw = made[line.pseudonym]
        return "" if line.draw == draw else f"draw {line.draw} in the record, {draw} made again"

    wrong = wrong_in(record.owners, fault)
    return blamed("draws", wrong) if wrong else judged("draws", True, "all follow from seed and nonce", "")
