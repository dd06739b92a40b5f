"""The page of fresh codes for many: for whom, what it ends, and then a file of codes, links and QR codes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from pdqs.market import passkeys
from pdqs.market.fresh_codes import Portion, make_codes, portions, whom_of
from pdqs.market.groups import all_groups
from pdqs.market.invitation_files import Guest, guest_files
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.operator_lists import zipped
from pdqs.market.pages.render import address_of_market, page
from pdqs.market.pages.session import Form, OperatorSession, market_of
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import MarketError

router = APIRouter(prefix="/operator/codes", route_class=PageRoute, include_in_schema=False)

For = Annotated[str, Query(max_length=80)]


@router.get("")
def for_whom(request: Request, session: OperatorSession, whom: For = "") -> Response:
    """Whom fresh codes can be made for; once that is chosen, what it would do."""
    return _shown(request, session.user, whom)


@router.post("/file")
def made_for_many(request: Request, session: OperatorSession, form: Form) -> Response:
    """Codes for those who were said back, as a zip file."""
    market, whom = market_of(request), str(form.get("whom", ""))
    try:
        passkeys.require_fresh(market, session)
        between = (str(form.get("first", "")), str(form.get("last", "")))
        made = make_codes(market, session.user, whom_of(whom), *between)
    except MarketError as refused:
        return _shown(request, session.user, whom, status=refused.status, fault=str(refused))
    address = address_of_market(request)
    return zipped(guest_files([Guest(invitation=one, address=address) for one in made.items]))


def _shown(request: Request, user: User, whom: str, *, status: int = 200, fault: str = "") -> Response:
    market = market_of(request)
    found: list[Portion] = []
    try:
        found = portions(market, user, whom_of(whom)) if whom else []
    except MarketError as refused:
        status, fault = refused.status, str(refused)
    groups = [one.name for one in all_groups(market, user).items]
    return page(request, "operator/codes.html", status=status, whom=whom, portions=found, groups=groups, fault=fault)
