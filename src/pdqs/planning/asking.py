"""What a plan knows of smaller questions: which others there are, and how wide their intervals are in ranks."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import numpy as np

from pdqs.estimate.answers import Answer
from pdqs.model.arrays import Floats
from pdqs.model.errors import PdqsError
from pdqs.model.names import QuestionKind
from pdqs.model.question import Question
from pdqs.rounds.choosing import SERVES
from pdqs.rounds.terms import Terms


def other_questions(terms: Terms) -> Iterator[tuple[str, Terms]]:
    """The same query by other questions: whole values or the smaller kind, more and fewer levels or buckets, one stage.

    >>> import pdqs
    >>> terms = pdqs.Terms(query=pdqs.Mean(pdqs.Domain.grid(0, 10_000, 100)), budget=100.0)
    >>> for words, _ in other_questions(terms):
    ...     print(words)
    asking for whole values, 101 of them, instead of levels of 5,000
    asking for levels of 10,000 instead of levels of 5,000
    asking for levels of 2,500 instead of levels of 5,000
    """
    own = terms.asking
    for asked in _others(own, SERVES[terms.query.kind]):
        with contextlib.suppress(PdqsError):  # a cap too low for this question, or too many values to be told whole
            other = dataclasses.replace(terms, question=asked, stages=None)
            if other.asking != own:
                yield f"asking for {in_words(other.asking)} instead of {in_words(own)}", other


def _others(own: Question, serve: tuple[str, ...]) -> Iterator[str | Question]:
    yield from (str(kind) for kind in serve if kind != own.kind)
    if own.kind in (QuestionKind.LEVEL, QuestionKind.BUCKET):
        fewer, more = own.codes // 2 + 1, 2 * own.codes - 1
        yield from (f"{own.kind}:{codes}" for codes in (fewer, more) if 2 <= codes < own.domain.size)
    if own.kind == QuestionKind.SIDE and own.stages > 1:
        yield dataclasses.replace(own, stages=1, reason="")


def in_words(question: Question) -> str:
    """What is asked for.

    >>> from pdqs.model.domain import Domain
    >>> in_words(Question(domain=Domain.grid(0, 9, 1), kind="side", stages=4))
    'sides in 4 stages'
    """
    match question.kind:
        case QuestionKind.LEVEL:
            return f"levels of {question.answers.step:,.6g}"
        case QuestionKind.SIDE:
            return f"sides in {question.stages} stage{'s' * (question.stages > 1)}"
        case QuestionKind.BUCKET:
            return f"one of {question.codes} buckets"
        case _:
            return f"whole values, {question.codes:,} of them,"


def ranks_between(found: Answer, terms: Terms, shares: Floats) -> float:
    """Half the share of owners that the guess has between the ends of a quantile's interval.

    An end that lies at a value counts half of those who hold it, so that a single value is an interval of no width.
    """
    low, high = np.asarray(found.interval, dtype=np.float64)
    first, last = ((end - terms.domain.start) / terms.domain.step for end in (low, high))
    heaped = np.concatenate([[0.0], np.cumsum(shares)])
    at = (np.array([first, last]) + 0.5) * (shares.size / terms.domain_size)
    below, above = np.interp(at, np.arange(shares.size + 1), heaped)
    return float(above - below) / 2.0
