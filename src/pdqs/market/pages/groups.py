"""The operator's pages of groups: which there are, and which an owner is in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from pdqs.market import groups
from pdqs.market.namesakes import called
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import Form, OperatorSession, UserId, market_of
from pdqs.market.people import user_by_id
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import MarketError

router = APIRouter(prefix="/operator", route_class=PageRoute, include_in_schema=False)


@router.get("/groups")
def every_group(request: Request, session: OperatorSession) -> Response:
    """The groups, and how many are in each."""
    return page(request, "operator/groups.html", groups=groups.all_groups(market_of(request), session.user).items)


@router.get("/people/{user_id}/groups")
def of_one(request: Request, user_id: UserId, session: OperatorSession) -> Response:
    """The groups of one owner, to be changed."""
    kept = groups.groups_of(market_of(request), session.user, user_id).groups
    return _shown(request, session.user, user_id, ", ".join(kept))


@router.post("/people/{user_id}/groups")
def change(request: Request, user_id: UserId, session: OperatorSession, form: Form) -> Response:
    """Put her into the groups that were typed, and no others."""
    typed = str(form.get("groups", ""))[:2000]
    try:
        wanted = groups.group_names(typed.replace(";", ",").split(","))
        groups.put_in_groups(market_of(request), session.user, user_id, wanted)
    except MarketError as refused:
        return _shown(request, session.user, user_id, typed, fault=str(refused), status=refused.status)
    return RedirectResponse("/operator/people", status_code=303)


def _shown(request: Request, user: User, user_id: str, typed: str, *, fault: str = "", status: int = 200) -> Response:
    market = market_of(request)
    with market.store.read() as connection:
        person = user_by_id(connection, user_id)
        name = called(connection, user_id, person.name)
    known = groups.all_groups(market, user).items
    values = {"person": person, "name": name, "typed": typed, "known": known, "fault": fault}
    return page(request, "operator/groups_of.html", status=status, **values)
