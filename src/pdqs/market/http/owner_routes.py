"""``/v1`` for owners: what they may look at, their bids and their reports."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool

from pdqs.market import bidding, offer_access, reads, round_steps
from pdqs.market.bidding import bid_receipt
from pdqs.market.bids_together import first_bid
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, After, Limit, RoundId
from pdqs.market.paging import LIMIT
from pdqs.protocol.device_messages import (
    Bid,
    BidReceipt,
    Millis,
    MyRound,
    Offer,
    Report,
    ReportReceipt,
    RoundNotice,
    Withdrawal,
)
from pdqs.protocol.summaries import NoticePage

router = APIRouter(prefix="/v1", responses=PROBLEMS)


# The requests that come by the thousand stand first, where they are found first, and cross into a worker thread once; a
# plain `def` would cross again to check its answer. Bids cross together.


@router.put("/rounds/{round_id}/bid", tags=["owners"])
async def put_bid(
    round_id: RoundId,
    bid: Bid,
    caller: Calling,
    after: Annotated[
        Millis | None, Query(description="Of your last withdrawal; 0: none. After a later one: 409")
    ] = None,
) -> BidReceipt:
    """Bid, or change the bid that ``replaces`` names. One to a round; the same again is the same bid (owner)."""
    market, owner = caller.market, await caller.user_among_others()
    first = first_bid(market, owner, round_id, bid, after)
    placed_at_ms = await caller.gathered.bids.ask(first) if first else 0
    if placed_at_ms:
        return bid_receipt(market, owner.user_id, round_id, bid.bid_micros, placed_at_ms)
    # Why not may be that her sign-in is over: nothing else is told before that was looked at.
    return await run_in_threadpool(lambda: round_steps.place_bid(market, caller.user(), round_id, bid, after))


@router.put("/rounds/{round_id}/report", tags=["owners"])
async def put_report(round_id: RoundId, report: Report, caller: Calling) -> ReportReceipt:
    """Report. The same bytes again get the same receipt (owner)."""
    return await run_in_threadpool(lambda: round_steps.submit_report(caller.market, caller.user(), round_id, report))


@router.get("/rounds/{round_id}/mine", tags=["owners"])
async def get_mine(round_id: RoundId, caller: Calling) -> MyRound:
    """One round as owners see it, with the caller's own bid, offer and report in it (owner)."""
    return await run_in_threadpool(lambda: offer_access.my_round(caller.market, caller.user(), round_id))


@router.get("/rounds/{round_id}/offer", tags=["owners"])
async def get_offer(round_id: RoundId, caller: Calling) -> Offer:
    """The caller's own offer (owner)."""
    return await run_in_threadpool(lambda: offer_access.offer(caller.market, caller.user(), round_id))


@router.get("/notices", tags=["owners"])
def get_notices(caller: Calling, after: After = None, limit: Limit = LIMIT) -> NoticePage:
    """Rounds to bid in, and those bid in (owner)."""
    return reads.notices(caller.market, caller.user(), after, limit)


@router.get("/notices/{round_id}", tags=["owners"])
def get_notice(round_id: RoundId, caller: Calling) -> RoundNotice:
    """One round as owners see it (owner)."""
    return reads.notice(caller.market, caller.user(), round_id)


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


@router.get("/rounds/{round_id}/report", tags=["owners"])
def get_report(round_id: RoundId, caller: Calling) -> ReportReceipt:
    """The caller's own report (owner)."""
    return offer_access.report(caller.market, caller.user(), round_id)
