"""Telling a randomiser what to draw: entropy that replays given words, so that its every outcome can be seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import final

import numpy as np

from pdqs.audit.mechanism import Mechanism
from pdqs.offers import Offers
from pdqs.randomiser import WORD_BITS, Reports
from pdqs.terms import Terms
from pdqs.types import Integers, Words

LAST_WORD = 2**WORD_BITS - 1


@final
class Script:
    """Entropy that gives these words in order, and ``after`` once they are used up.

    >>> Script(np.array([5, 6], dtype=np.uint32)).words(3).tolist()
    [5, 6, 0]
    """

    def __init__(self, words: Words, after: int = 0) -> None:
        self._words, self._after = words, after

    def words(self, count: int) -> Words:
        now, self._words = self._words[:count], self._words[count:]
        return np.concatenate([now, np.full(count - now.size, self._after, dtype=np.uint32)])


def scripted(
    mechanism: Mechanism, codes: Integers, offers: Offers, coins: Integers, dice: Integers, after: int = 0
) -> Reports:
    """Reports when the coin words and the die words are these, in the order that a batch draws them."""
    words = np.concatenate([coins, dice]).astype(np.uint32)
    return mechanism.randomise(offers.domain.decode(codes), offers, Script(words, after))


def both_coins(mechanism: Mechanism, offers: Offers) -> Iterator[tuple[bool, Reports]]:
    """Everyone's coin chooses the truth; then nobody's."""
    n = len(offers)
    for truth_told, word in ((True, 0), (False, LAST_WORD)):
        yield (
            truth_told,
            scripted(mechanism, np.zeros(n, dtype=np.int64), offers, np.full(n, word), np.ones(n, dtype=np.int64)),
        )


def unbounded(terms: Terms) -> Terms:
    """The terms with a budget that no settlement passes: rows that stand for chances are not a bill."""
    return dataclasses.replace(terms, budget=1e12)
