"""``/v1`` for owners: what they may look at, and a bid taken back. Bids and reports are sent by the other routes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool

from pdqs.market import bidding, offer_access, reads
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, After, Limit, RoundId
from pdqs.market.paging import LIMIT
from pdqs.protocol.device_messages import BidReceipt, Millis, MyRound, Offer, ReportReceipt, RoundNotice, Withdrawal
from pdqs.protocol.summaries import NoticePage

router = APIRouter(prefix="/v1", responses=PROBLEMS)


@router.get("/notices", tags=["owners"])
def get_notices(caller: Calling, after: After = None, limit: Limit = LIMIT) -> NoticePage:
    """Rounds to bid in, and those bid in (owner)."""
    return reads.notices(caller.market, caller.user(), after, limit)


@router.get("/notices/{round_id}", tags=["owners"])
def get_notice(round_id: RoundId, caller: Calling) -> RoundNotice:
    """One round as owners see it (owner)."""
    return reads.notice(caller.market, caller.user(), round_id)


@router.get("/rounds/{round_id}/mine", tags=["owners"])
async def get_mine(round_id: RoundId, caller: Calling) -> MyRound:
    """One round as owners see it, with the caller's own bid, offer and report in it (owner)."""
    return await run_in_threadpool(lambda: offer_access.my_round(caller.market, caller.user(), round_id))


@router.get("/rounds/{round_id}/bid", tags=["owners"])
def get_bid(round_id: RoundId, caller: Calling) -> BidReceipt:
    """The caller's own bid (owner)."""
    return offer_access.bid(caller.market, caller.user(), round_id)


@router.delete("/rounds/{round_id}/bid", tags=["owners"])
def delete_bid(
    round_id: RoundId,
    caller: Calling,
    placed_at_ms: Annotated[Millis | None, Query(description="Of the receipt: withdraw this bid and no other")] = None,
) -> Withdrawal:
    """Withdraw the caller's own bid, until bids close (owner)."""
    return bidding.withdraw_bid(caller.market, caller.user(), round_id, placed_at_ms)


@router.get("/rounds/{round_id}/offer", tags=["owners"])
def get_offer(round_id: RoundId, caller: Calling) -> Offer:
    """The caller's own offer (owner)."""
    return offer_access.offer(caller.market, caller.user(), round_id)


@router.get("/rounds/{round_id}/report", tags=["owners"])
def get_report(round_id: RoundId, caller: Calling) -> ReportReceipt:
    """The caller's own report (owner)."""
    return offer_access.report(caller.market, caller.user(), round_id)
