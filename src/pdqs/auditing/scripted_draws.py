"""Telling a randomiser what to draw: entropy that replays given words, so that its every outcome can be seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pdqs.auditing.mechanism import Mechanism
from pdqs.model.arrays import Integers
from pdqs.model.names import QuestionKind
from pdqs.privacy.asking import sides_of
from pdqs.privacy.bucket_maps import buckets_of, multipliers
from pdqs.privacy.entropy import WORD_BITS, Script
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

LAST_WORD = 2**WORD_BITS - 1


def scripted(
    mechanism: Mechanism, codes: Integers, offers: Offers, coins: Integers, dice: Integers, after: int = 0
) -> Reports:
    """Reports when the coin words and the die words are these, in the order that a batch draws them."""
    rounding = [np.zeros(codes.size)] if offers.question.kind == QuestionKind.LEVEL else []
    words = np.concatenate([*rounding, coins, dice]).astype(np.uint32)
    return mechanism.randomise(offers.domain.decode(codes), offers, Script(words, after))


def truths(offers: Offers, codes: Integers) -> Integers:
    """The report of each owner if her coin chooses the truth; levels are those of values that lie on one."""
    question, size = offers.question, offers.domain.size
    match question.kind:
        case QuestionKind.LEVEL:
            return codes * (question.codes - 1) // (size - 1)
        case QuestionKind.SIDE:
            return sides_of(codes, offers.side)
        case QuestionKind.BUCKET:
            return buckets_of(codes, multipliers(offers.deal, size), size, question.codes)
        case _:
            return codes


def others(offers: Offers, codes: Integers) -> Integers:
    """A report of each owner that is not her truth."""
    return (truths(offers, codes) + 1) % offers.question.kappa


def with_questions(offers: Offers) -> Offers:
    """The offers as if every stage had come: whoever has no side yet is asked about the middle of the domain."""
    if offers.question.kind != QuestionKind.SIDE:
        return offers
    return dataclasses.replace(offers, side=np.where(offers.side < 0, (offers.domain.size - 1) // 2, offers.side))


def both_coins(mechanism: Mechanism, offers: Offers) -> Iterator[tuple[bool, Reports]]:
    """Everyone's coin chooses the truth; then nobody's."""
    n = len(offers)
    zeros = np.zeros(n, dtype=np.int64)
    other = others(offers, zeros)
    for truth_told, word in ((True, 0), (False, LAST_WORD)):
        yield (
            truth_told,
            scripted(mechanism, zeros, offers, np.full(n, word), other),
        )


def unbounded(terms: Terms) -> Terms:
    """The terms with a budget that no settlement passes: rows that stand for chances are not a bill."""
    return dataclasses.replace(terms, budget=1e12)
