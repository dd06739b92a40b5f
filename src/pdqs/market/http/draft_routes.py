"""``/v1`` for plans that are not yet promised to anybody."""

from __future__ import annotations

from fastapi import APIRouter

from pdqs.market import drafts
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, RoundId
from pdqs.protocol.market_messages import Round, RoundPlan

router = APIRouter(prefix="/v1", responses=PROBLEMS)


@router.put("/rounds/{round_id}/plan", tags=["rounds"])
def put_plan(round_id: RoundId, plan: RoundPlan, caller: Calling) -> Round:
    """Put another plan in the place of a draft's; once a round is open its terms are frozen (its consumer)."""
    return drafts.change_draft(caller.market, caller.user(), round_id, plan)
