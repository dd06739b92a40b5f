"""Figures of a round that its page needs and its message does not hold."""

from __future__ import annotations

import math

from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.level import z_of
from pdqs.model.names import QueryKind, QuestionKind
from pdqs.protocol.market_messages import AnswerMessage, Round


def could_answer(found: Round) -> bool:
    """Whether there is an answer if everyone who was asked reports: of the half-width h of n owners, the information is
    1 / ((2h/z)^2 + 1/n). By sides h is another, and there is none where there is too little for an answer."""
    if found.forecast_half_width is None:
        return False
    by_sides = found.asked.kind == QuestionKind.SIDE
    inverse = (2.0 * found.forecast_half_width / z_of(0.95)) ** 2 + 1.0 / max(found.bids, 1)
    return not why_no_answer(found.offers, math.inf if by_sides else 1.0 / inverse)


def scale(found: Round, answer: AnswerMessage | None) -> tuple[float, float]:
    """The least and the most that the answer could be."""
    if found.plan.query.kind in (QueryKind.COUNT, QueryKind.HISTOGRAM):
        return 0.0, float(answer.owners if answer else 1)
    domain = found.plan.query.domain
    return domain.start, domain.start + domain.step * (domain.size - 1)
