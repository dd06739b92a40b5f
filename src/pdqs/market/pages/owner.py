"""The owner's pages. They show; deciding, randomising and sending is done by the device in the browser."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from pdqs.market import access, offer_access, reads
from pdqs.market.bidding import promise_of
from pdqs.market.context import Market
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, page
from pdqs.market.pages.session import After, OwnerSession, RoundId, if_any, market_of
from pdqs.market.price_outlook import forecast_by_price, past_payments
from pdqs.model.names import QuestionKind, RuleName
from pdqs.owner.price import epsilon_of
from pdqs.protocol.device_messages import BidReceipt, Offer, ReportReceipt, RoundNotice
from pdqs.protocol.market_messages import User
from pdqs.protocol.summaries import NoticeSummary
from pdqs.rounds.terms import Terms

router = APIRouter(prefix="/owner", route_class=PageRoute, include_in_schema=False)

WAITED_FOR = ("waiting", "turn", "reported")
"""The stages in which something comes to her without her doing."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an owner stands in a round: her own bid, offer and report, as far as there are any."""

    notice: RoundNotice | NoticeSummary
    bid: BidReceipt | None
    offer: Offer | None
    report: ReportReceipt | None

    @property
    def stage(self) -> str:
        """What there is for her to do, in one word."""
        if self.report is not None:
            return "done" if self.notice.state == "settled" else "reported"
        if self.notice.state == "open":
            return "waiting" if self.bid else "bid"
        if self.offer is None:
            return "over"
        if not self.offer.q_numerator:
            return "nothing"
        if self.notice.state != "reporting":
            return "missed"
        return self._turn(self.offer)

    @property
    def seen(self) -> str:
        """What a page of hers shows: the stage and her own price, which she may have changed elsewhere."""
        return f"{self.stage} {self.bid.bid_micros}" if self.bid else self.stage

    @property
    def stages(self) -> int:
        """How many stages the round has in all."""
        if isinstance(self.notice, NoticeSummary):
            return self.notice.stages_in_all
        return int(json.loads(self.notice.terms)["terms"].get("question", {}).get("stages", 1))

    def _turn(self, offer: Offer) -> str:
        """Whether her question has yet to come, where there are stages, is there, or was there."""
        if self.stages > 1 and offer.side is None:
            return "turn"
        return "missed" if offer.now_ms >= offer.reports_close_at_ms else "offer"


@router.get("")
def home(request: Request, session: OwnerSession, after: After = None) -> Response:
    """What waits for the owner, what she may bid in, and what she has earned."""
    market = market_of(request)
    listed = reads.notices(market, session.user, after=after)
    standings = [_standing(market, session.user, notice) for notice in listed.items]
    asked = {notice.round_id: _kind_asked(market, notice) for notice in listed.items}
    values: Filled = {
        "me": reads.me(market, session.user),
        "standings": standings,
        "asked": asked,
        "following": listed.next,
    }
    values |= {"after": after, "seen": _seen(standings), "waits": any(one.stage in WAITED_FOR for one in standings)}
    return page(request, "owner/home.html", **values)


@router.get("/standing")
def standing_now(request: Request, session: OwnerSession, after: After = None) -> Response:
    """What is seen of the rounds on a page of her list, for the page to notice when it changes."""
    market = market_of(request)
    listed = reads.notices(market, session.user, after=after)
    seen = _seen([_standing(market, session.user, notice) for notice in listed.items])
    return JSONResponse({"seen": seen}, headers={"Cache-Control": "no-store"})


@router.get("/rounds/{round_id}")
def one_round(request: Request, round_id: RoundId, session: OwnerSession) -> Response:
    """One round: bid, or look at the offer and report."""
    market = market_of(request)
    notice = reads.notice(market, session.user, round_id)
    promised = json.loads(notice.terms)
    by_lot, recorded = promised["terms"]["rule"] == RuleName.LOTTERY, promised.get("record", "none")
    standing = _standing(market, session.user, notice)
    said = {name: promised.get(name, "") for name in ("asked_by", "purpose", "use")}
    said["groups"] = ", ".join(promised.get("groups", []))
    said["retention_days"] = promised.get("retention_days")
    values = {"standing": standing, "by_lot": by_lot, "recorded": recorded, "promised": said}
    asking = Terms.read(promised["terms"]).asking
    values |= {"asked": asking.kind, "each_ms": 1000 * int(promised["report_seconds"])}
    return page(request, "owner/round.html", **values, **_beside(market, session.user, standing, asking.kappa))


def _beside(market: Market, user: User, standing: Standing, codes: int) -> Filled:
    """What stands beside her decision: before the close, past payments and a forecast; then what the offer tells."""
    offer, bidding = standing.offer, standing.stage in ("bid", "waiting")
    return {
        "past": past_payments(market, user) if bidding else None,
        "outlook": forecast_by_price(market, standing.notice.round_id) if bidding else None,
        "offer_epsilon": epsilon_of(offer.q_numerator, codes) if offer else 0.0,
    }


@router.get("/rounds/{round_id}/stage")
def stage(request: Request, round_id: RoundId, session: OwnerSession) -> Response:
    """The round's stage and what is seen of it, for the page to notice when it changes."""
    market = market_of(request)
    standing = _standing(market, session.user, reads.notice(market, session.user, round_id))
    return JSONResponse({"stage": standing.stage, "seen": standing.seen}, headers={"Cache-Control": "no-store"})


@router.get("/earnings")
def earnings(request: Request, session: OwnerSession, after: After = None) -> Response:
    """Every payment."""
    market = market_of(request)
    found = reads.statement(market, session.user, after=after)
    named = {line.round_id for line in found.items if line.round_id}
    return page(request, "owner/earnings.html", statement=found, questions=_questions(market, session.user, named))


@router.get("/privacy")
def privacy(request: Request, session: OwnerSession) -> Response:
    """The device's own ledger. The page is empty until the device in the browser fills it: the market has no copy."""
    access.require(session.user, "owner")
    return page(request, "owner/privacy.html")


def _seen(standings: list[Standing]) -> str:
    """What a list of hers shows, as a text that is another when the list is."""
    return "; ".join(f"{one.notice.round_id} {one.seen}" for one in standings)


def _questions(market: Market, user: User, round_ids: set[str]) -> dict[str, str]:
    """What was asked in each of these rounds, of those that she can see."""
    found = {round_id: if_any(partial(reads.notice, market, user, round_id)) for round_id in round_ids}
    return {round_id: notice.question.text for round_id, notice in found.items() if notice is not None}


def _kind_asked(market: Market, notice: NoticeSummary) -> str:
    """Whether a side of a number is asked for, as the frozen terms say, which are read once; else all, as lists go."""
    is_side = notice.domain_kind == "grid" and promise_of(market, notice.round_id).by_sides
    return QuestionKind.SIDE if is_side else QuestionKind.VALUE


def _standing(market: Market, user: User, notice: RoundNotice | NoticeSummary) -> Standing:
    return Standing(
        notice=notice,
        bid=if_any(lambda: offer_access.bid(market, user, notice.round_id)),
        offer=if_any(lambda: offer_access.offer(market, user, notice.round_id, with_lots=False)),
        report=if_any(lambda: offer_access.report(market, user, notice.round_id)),
    )
