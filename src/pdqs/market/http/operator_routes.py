"""``/v1`` for an operator with very many people; each route is one command or query."""

from __future__ import annotations

from fastapi import APIRouter

from pdqs.market import invitations
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, Key
from pdqs.protocol.operator_messages import Invitations, NewUsers

router = APIRouter(prefix="/v1", responses=PROBLEMS)


@router.post("/invitations", tags=["people"])
def post_invitations(new: NewUsers, key: Key, caller: Calling) -> Invitations:
    """Let many people in at once (operator)."""
    return invitations.register_many(caller.market, caller.user(), new, key)
