"""``/v1`` for groups of owners; each route is one command or query."""

from __future__ import annotations

from fastapi import APIRouter

from pdqs.market import groups
from pdqs.market.http.credentials import Calling
from pdqs.market.http.routes import PROBLEMS, UserId
from pdqs.protocol.groups import GroupList, GroupNames

router = APIRouter(prefix="/v1", responses=PROBLEMS)


@router.get("/groups", tags=["people"])
def get_groups(caller: Calling) -> GroupList:
    """Every group and how many owners are in it (consumer, operator)."""
    return groups.all_groups(caller.market, caller.user())


@router.get("/users/{user_id}/groups", tags=["people"])
def get_groups_of(user_id: UserId, caller: Calling) -> GroupNames:
    """The groups of an owner, for herself or (operator) of anyone."""
    return groups.groups_of(caller.market, caller.user(), user_id)


@router.put("/users/{user_id}/groups", tags=["people"])
def put_groups_of(user_id: UserId, wanted: GroupNames, caller: Calling) -> GroupNames:
    """Have an owner be in these groups and no others (operator)."""
    return groups.put_in_groups(caller.market, caller.user(), user_id, wanted)
