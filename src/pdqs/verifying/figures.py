"""A round as whole numbers: bids in micro-units to offers, codes to an answer.

Pure functions over the core, shared by the market and whoever checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from pdqs.clearing import clear, word_read
from pdqs.clearing.lottery import LotteryMarket, posted_to_all
from pdqs.estimate import Answer, answer, narrowed
from pdqs.estimate.enough import why_no_answer
from pdqs.model.arrays import Figure, Words
from pdqs.model.errors import EstimateError, ensure
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import EstimatorName
from pdqs.pricing.rules import Asks
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.stages import dealt_by
from pdqs.rounds.terms import Terms

LEVEL = 0.95
DISHONEST_SHARE = 0.05
"""The share of dishonest owners that an answer's second interval is for."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What clearing made of a round's bids, in their order. ``posted_micros``: None where no one price can be said."""

    offers: Offers
    draws: Words
    posted_micros: list[int | None]


PublicWords = Callable[[int], Words]
"""A public word of every owner of a round, in the order of its bids, by the word's number."""


def cleared(bid_micros: Sequence[int], words: PublicWords | None, terms: Terms) -> Cleared:
    """Clear, and deal each owner her part of the question: a pure function of the frozen bids, the public words and the
    terms. Without words, as in rounds that were opened before there were any, the terms must ask for whole values."""
    bids = np.array(bid_micros, dtype=np.float64) / MICROS_PER_UNIT
    draws = None if words is None else words(word_read(terms))
    offers = clear(bids, terms, draws=draws)
    if words is not None:
        offers = dealt_by(offers, words)
    ensure(words is not None or terms.asking.whole, "a question is dealt without words to deal it by")
    rule, paid = terms.bound_rule, offers.payment_micros.tolist()
    posted = None
    if isinstance(rule, Asks) and draws is not None:
        posted = posted_to_all(bids, draws, LotteryMarket(rule=rule, budget_micros=terms.budget_micros))
    known = [payment or None for payment in paid] if posted is None else posted.tolist()
    drawn = np.zeros(bids.size, dtype=np.uint32) if draws is None else draws
    return Cleared(offers=offers, draws=drawn, posted_micros=known)


def reports_of(codes: Sequence[int | None], offers: Offers, terms: Terms) -> Reports:
    """Reports from codes, None where nothing came.

    An owner on whom the lot did not fall has nothing to send: she is not missing, she was not asked. Without a lottery
    an owner at q = 0 sends a report of no weight, as everyone does, and the market spares her that.
    """
    came = np.array([code is not None for code in codes], dtype=bool)
    return Reports(
        codes=np.array([code or 0 for code in codes], dtype=np.int64),
        arrived=came if isinstance(terms.bound_rule, Asks) else came | ~offers.asked,
        selected=np.zeros(0, dtype=bool),
        domain=offers.question.answers,
    )


def why_hopeless(offers: Offers, terms: Terms) -> str:
    """Why there is no answer even if everyone who is asked reports, or nothing where there may be one."""
    naive = terms.estimator == EstimatorName.NAIVE
    return why_no_answer(offers.bought, math.inf if naive else offers.information_for(terms.estimator))


def with_stage(codes: Sequence[int | None], made: Cleared, terms: Terms, stage: int) -> Cleared:
    """The offers with the questions of one stage, from the reports of those before it."""
    return replace(made, offers=narrowed(made.offers, reports_of(codes, made.offers, terms), terms, stage))


def with_stages(codes: Sequence[int | None], made: Cleared, terms: Terms) -> Cleared:
    """The offers with the questions of every stage."""
    for stage in range(2, terms.asking.stages + 1):
        made = with_stage(codes, made, terms, stage)
    return made


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """An answer as plain figures. For a histogram ``values``, ``raw`` and the intervals have a row for each of
    ``labels``; otherwise one row with an empty label. None at all, and a warning, when the reports cannot answer."""

    level: float
    dishonest_share: float
    owners: int
    asked: int
    reports: int
    labels: tuple[str, ...]
    values: tuple[float, ...]
    raw: tuple[float, ...]
    interval: tuple[tuple[float, float], ...]
    interval_if_dishonest: tuple[tuple[float, float], ...]
    information: float
    sensitivity: str
    warnings: tuple[str, ...]


def answer_figures(
    codes: Sequence[int | None],
    offers: Offers,
    terms: Terms,
    *,
    level: float = LEVEL,
    dishonest_share: float = DISHONEST_SHARE,
) -> AnswerFigures:
    """The answer to a round's query, from its offers and what was reported."""
    reason = ""
    try:
        found: Answer | None = answer(reports_of(codes, offers, terms), offers, terms, level=level)
    except EstimateError as fault:
        found, reason = None, str(fault)
    told = found if found is not None and found.value is not None else None
    values, raw = ((), ()) if told is None else (_row(told.value), _row(told.raw))
    ensure(all(map(math.isfinite, [*values, *raw])), "an answer that is not a number")
    return AnswerFigures(
        level=level,
        dishonest_share=dishonest_share,
        owners=len(offers),
        asked=offers.bought,
        reports=sum(code is not None for code in codes),
        labels=() if told is None else _labels(told, terms),
        values=values,
        raw=raw,
        interval=() if told is None else _ends(told.interval),
        interval_if_dishonest=() if told is None else _ends(told.interval_if_dishonest(dishonest_share)),
        information=0.0 if found is None else float(found.information),
        sensitivity="" if told is None else told.sensitivity,
        warnings=(reason,) if found is None else tuple(found.warnings),
    )


def _row(figure: Figure) -> tuple[float, ...]:
    return tuple(float(x) for x in np.atleast_1d(figure))


def _ends(interval: Figure) -> tuple[tuple[float, float], ...]:
    return tuple((float(low), float(high)) for low, high in np.reshape(interval, (-1, 2)))


def _labels(found: Answer, terms: Terms) -> tuple[str, ...]:
    if not isinstance(found.value, np.ndarray):
        return ("",)
    return tuple(str(value) for value in terms.domain.decode(np.arange(terms.domain_size)))
