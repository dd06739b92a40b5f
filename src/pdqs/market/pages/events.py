"""Server-sent events: pages that wait are told when there is something new to ask for."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from pdqs.market import reads
from pdqs.market.http.changes import Changes
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.session import ConsumerSession, OwnerSession, RoundId, market_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/consumer/rounds/{round_id}/events")
async def for_the_consumer(request: Request, round_id: RoundId, session: ConsumerSession) -> Response:
    """Something about her round changed: its state, or how many bids and reports there are."""
    await run_in_threadpool(reads.round_by_id, market_of(request), session.user, round_id)
    return _following(request, round_id, session.user.user_id, counts=True)


@router.get("/owner/rounds/{round_id}/events")
async def for_an_owner(request: Request, round_id: RoundId, session: OwnerSession) -> Response:
    """The state of a round changed; of other people's bids and reports an owner is told nothing."""
    await run_in_threadpool(reads.notice, market_of(request), session.user, round_id)
    return _following(request, round_id, session.user.user_id, counts=False)


def _following(request: Request, round_id: str, user_id: str, *, counts: bool) -> Response:
    changes: Changes = request.app.state.changes
    changes.let_in(user_id)
    events = changes.stream(round_id, user_id, counts=counts, gone=request.is_disconnected)
    # A proxy that gathers an answer before it passes it on would keep every event back.
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)
