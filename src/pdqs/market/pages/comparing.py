"""One question asked again and again: its answers over time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import final

from fastapi import APIRouter, Request, Response

from pdqs.estimate.remarks import NOTHING_RULED_OUT
from pdqs.market import reads
from pdqs.market.context import Market
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import ConsumerSession, market_of
from pdqs.model.names import QueryKind
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.market_messages import AnswerMessage, RoundPlan, User
from pdqs.protocol.summaries import RoundSummary

router = APIRouter(prefix="/consumer", route_class=PageRoute, include_in_schema=False)

_LOOKED_AT, _SHOWN = 200, 24


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A settled round and what it found. A count is a share here: as many do not bid every time."""

    round: RoundSummary
    answer: AnswerMessage
    value: float
    low: float
    high: float

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high

    @property
    def is_guess(self) -> bool:
        """Whether its reports ruled nothing out."""
        return any(warning.startswith(NOTHING_RULED_OUT) for warning in self.answer.warnings)


@router.get("/compare")
def compare(request: Request, session: ConsumerSession, like: Identifier) -> Response:
    """The answers of her own settled rounds that asked the same, oldest first."""
    market = market_of(request)
    plan = reads.round_by_id(market, session.user, like).plan
    found = _answers(market, session.user, plan)
    return page(request, "consumer/compare.html", plan=plan, found=found, like=like)


def _answers(market: Market, user: User, plan: RoundPlan) -> list[Answered]:
    """Those with one figure, of the last rounds that asked the same of the same."""
    settled = reads.rounds_page(market, user, state="settled", limit=_LOOKED_AT).items
    similar = (one for one in settled if (one.plan.kind, one.plan.attribute) == (plan.query.kind, plan.attribute))
    alike = (one for one in similar if _asks_the_same(reads.round_by_id(market, user, one.round_id).plan, plan))
    found = [(one, reads.answer(market, user, one.round_id)) for one in islice(alike, _SHOWN)]
    return [_answered(one, answer) for one, answer in reversed(found) if len(answer.values) == 1]


def _asks_the_same(one: RoundPlan, other: RoundPlan) -> bool:
    """Whether two plans of a kind, on one fact, are after the same figure of the same owners."""
    same_figure = one.query.kind != QueryKind.QUANTILE or one.query.p == other.query.p
    return same_figure and set(one.groups) == set(other.groups)


def _answered(one: RoundSummary, answer: AnswerMessage) -> Answered:
    part = 100 / max(answer.owners, 1) if answer.kind == QueryKind.COUNT else 1.0
    low, high = (part * end for end in answer.interval[0])
    return Answered(round=one, answer=answer, value=part * answer.values[0], low=low, high=high)
