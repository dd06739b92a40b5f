"""Telling a randomiser what to draw: entropy that replays given words, so that its every outcome can be seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pdqs.auditing.mechanism import Mechanism
from pdqs.model.arrays import Integers
from pdqs.privacy.entropy import WORD_BITS, Script
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

LAST_WORD = 2**WORD_BITS - 1


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
