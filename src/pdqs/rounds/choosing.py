"""Which question a round asks: as named, or for "auto" the one of least predicted error (section 10 of docs/theory).

The choice is made when terms are, from the query, its domain and the cap alone, so that it is part of what a round
promises. Errors are compared for as many reports at the cap. That is what a lottery buys; and where less than the cap
is bought, smaller questions gain more still, for the k of whole values weighs heavier the smaller eps is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from pdqs.model.checks import shown, whole
from pdqs.model.errors import TermsError
from pdqs.model.names import QueryKind, QuestionKind, chosen, listed
from pdqs.model.query import Query
from pdqs.model.question import Question
from pdqs.model.questions import Bucket, Level, Side, Value, refuse_too_many_cells
from pdqs.privacy.loss import cap_q
from pdqs.rounds.predicted import Bought, best_question, buckets_for, levels_for

USUAL_STAGES = 4
LARGEST_WHOLE = 2**16
"""Reports of whole values are added up value by value: beyond this, a smaller question is the way."""

SERVES: Mapping[str, tuple[str, ...]] = {
    QueryKind.COUNT: (QuestionKind.VALUE,),
    QueryKind.MEAN: (QuestionKind.VALUE, QuestionKind.LEVEL),
    QueryKind.HISTOGRAM: (QuestionKind.VALUE, QuestionKind.BUCKET),
    QueryKind.MEDIAN: (QuestionKind.VALUE, QuestionKind.SIDE),
    QueryKind.QUANTILE: (QuestionKind.VALUE, QuestionKind.SIDE),
}
"""The questions whose reports answer a query; a test says that every query is here."""

FITTED = "as many as the cap makes best"
"""Why a question that was named without a figure has the one it has: another cap makes another."""

Given = str | Question | Value | Level | Side | Bucket
_REPORTS = 1000
_ASKED_FOR = {"count": "a count", "mean": "a mean", "histogram": "a histogram", "median": "a median"}


def resolved(given: Given, query: Query, epsilon_max: float, *, stages: int | None, plain: bool) -> Question:
    """The question that terms ask. ``plain`` says that only whole values will do: reports are taken as they are, or
    priced as if they had two values."""
    if stages is not None and whole(stages, "stages") < 1:
        raise TermsError(f"stages must be at least 1, or left out, got {stages:,}")
    asked = _read(given, query, epsilon_max, stages, plain=plain)
    if asked.kind not in SERVES[query.kind]:
        raise TermsError(
            f"{_ASKED_FOR.get(query.kind, 'a quantile')} cannot be had from {asked.kind}s:"
            f" its question is one of auto, {listed(SERVES[query.kind])}"
        )
    if plain and not asked.whole:
        raise TermsError(
            f"a {asked.kind} question needs estimator 'unbiased' or 'weighted' and its own price: with the naive or"
            " shrunk estimator, or priced as binary, ask for the value"
        )
    _refuse_too_large(asked, query)
    return asked


def _read(given: Given, query: Query, epsilon_max: float, stages: int | None, *, plain: bool) -> Question:
    if isinstance(given, Question):
        if given.reason == FITTED:
            return _named(QuestionKind(given.kind), "", query, epsilon_max, stages)
        if given.reason:
            return _automatic(query, epsilon_max, stages, plain=plain)
        # The query may have been changed since the question was made: its domain and text are the query's.
        codes = 0 if given.whole else given.codes
        return dataclasses.replace(
            query.question, kind=given.kind, codes=codes, stages=stages or given.stages, guess=given.guess
        )
    if isinstance(given, Value | Level | Side | Bucket):
        return _of_device(given, query, stages)
    kind, _, figure = str(given).partition(":") if isinstance(given, str) else ("", "", "")
    if kind == QuestionKind.AUTO and not figure:
        return _automatic(query, epsilon_max, stages, plain=plain)
    if not kind:
        raise TermsError(f"question must be one of {listed(QuestionKind)}, level:5 or bucket:8, got {shown(given)}")
    return _named(chosen("question", kind, QuestionKind), figure, query, epsilon_max, stages)


def _of_device(given: Value | Level | Side | Bucket, query: Query, stages: int | None) -> Question:
    """As one device would be asked it, for all of them: a bucket's seed is each owner's own, drawn in the round."""
    if isinstance(given, Side):
        raise TermsError("a round asks about many sides, not one: question='side', with a guess if there is one")
    if given.domain != query.question.domain:
        raise TermsError(f"the question is about another domain ({given.domain}) than the query")
    return dataclasses.replace(query.question, kind=given.kind, codes=given.kappa, stages=stages or 1)


def _named(kind: str, figure: str, query: Query, epsilon_max: float, stages: int | None) -> Question:
    """value, level, level:5, side, side:20:40 (a guess), bucket or bucket:8; without a figure, as many codes as the cap
    makes best."""
    takes = (QuestionKind.LEVEL, QuestionKind.BUCKET)
    if kind == QuestionKind.SIDE and figure:
        return dataclasses.replace(query.question, kind=kind, codes=0, stages=stages or 1, guess=_guess(figure))
    if figure and not (kind in takes and figure.isdecimal()):
        raise TermsError(f"a question is {listed(QuestionKind)}, level:5 or bucket:8, got {kind + ':' + figure!r}")
    usual = {QuestionKind.LEVEL: levels_for, QuestionKind.BUCKET: buckets_for}
    codes = (
        int(figure or min(usual[QuestionKind(kind)](epsilon_max), query.question.domain.size)) if kind in takes else 0
    )
    fitted = FITTED if kind in takes and not figure else ""
    usual_stages = USUAL_STAGES if kind == QuestionKind.SIDE else 1
    asked = dataclasses.replace(query.question, kind=kind, codes=codes, stages=stages or usual_stages)
    return dataclasses.replace(asked, reason=fitted)


def _guess(figure: str) -> tuple[float, float]:
    try:
        low, high = map(float, figure.split(":"))
    except ValueError:
        raise TermsError(f"a guess is side:LOW:HIGH, such as side:20:40, got {'side:' + figure!r}") from None
    return low, high


def _automatic(query: Query, epsilon_max: float, stages: int | None, *, plain: bool) -> Question:
    value = query.question
    if plain or len(SERVES[query.kind]) == 1:
        why = "a count has no smaller question" if not plain else "reports are taken, or priced, as whole values"
        return dataclasses.replace(value, reason=why)

    def bought(kappa: int) -> Bought:
        return Bought(q=np.full(_REPORTS, cap_q(epsilon_max, kappa)), chances=None, owners=_REPORTS**2)

    found = best_question(query, epsilon_max, bought, stages=stages)
    if found.kind == QuestionKind.VALUE:
        return dataclasses.replace(value, reason=found.reason)
    asked = _named(found.kind, str(found.kappa) if found.kind != QuestionKind.SIDE else "", query, epsilon_max, stages)
    return dataclasses.replace(asked, reason=found.reason)


def _refuse_too_large(asked: Question, query: Query) -> None:
    """A size guard: what is kept for every value must fit in memory."""
    if query.kind == QueryKind.HISTOGRAM:
        refuse_too_many_cells(asked.domain)
    size = asked.domain.size
    if asked.whole and size > LARGEST_WHOLE:
        other = next((kind for kind in SERVES[query.kind] if kind != QuestionKind.VALUE), "")
        raise TermsError(
            f"asking for whole values among {size:,} is too much: at most {LARGEST_WHOLE:,};"
            f" ask question '{other}', or take a coarser grid"
        )
