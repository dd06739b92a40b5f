"""Lists for operators with very many people: the journal, who did what, invitations by file."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from pdqs.market import access, looking_up, transfers
from pdqs.market.deeds import deeds_page
from pdqs.market.invitation_files import LIST, Guest, GuestList, guest_files, guests_in
from pdqs.market.invitations import register_many
from pdqs.market.list_remarks import ListRemarks, remarks_on
from pdqs.market.namesakes import Named, marks, named
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, address_of_market, page
from pdqs.market.pages.session import After, OperatorSession, key_of, market_of
from pdqs.market.pages.uploads import Uploaded, file_of
from pdqs.protocol.market_messages import Role
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.problems import ForbiddenError, MarketError, ProblemType
from pdqs.tables.lists import text_of_list

router = APIRouter(prefix="/operator", route_class=PageRoute, include_in_schema=False)

_ROLES: dict[str, Role] = {"owner": "owner", "consumer": "consumer"}


@router.get("/journal")
def journal(request: Request, session: OperatorSession, after: After = None) -> Response:
    """Every entry of the ledger, and whose it is where it is one person's."""
    market = market_of(request)
    found = looking_up.journal_page(market, session.user, after)
    moved = _moved(request, [line.transaction_id for line in found.items])
    return page(request, "operator/journal.html", journal=found, **moved)


@router.get("/deeds")
def who_did_what(request: Request, session: OperatorSession, after: After = None) -> Response:
    """What operators did, and to whom."""
    market = market_of(request)
    found = deeds_page(market, session.user, after)
    whom = [(one.about, one.about_name) for one in found.items if one.about_name]
    who = [(one.actor_id, one.actor_name) for one in found.items]
    moved = _moved(request, [one.about for one in found.items], [*whom, *who])
    return page(request, "operator/deeds.html", deeds=found, **moved)


def _moved(request: Request, names: list[str], people: Iterable[Named] = ()) -> Filled:
    """Of these names what moved one person's money, and the marks of namesakes among these people and others."""
    with market_of(request).store.read() as connection:
        moved = transfers.transfers_of(connection, names)
        return {"moved": moved, "marks": marks(connection, [*named([*moved.values()]), *people])}


@router.get("/invitations")
def invitations_form(request: Request, _session: OperatorSession) -> Response:
    """A form to let many people in by a list of their names."""
    return page(request, "operator/invitations.html", fault="")


@router.post("/invitations")
async def invite_all(request: Request, session: OperatorSession, form: Uploaded) -> Response:
    """Say back whom a list would let in; once that is confirmed, a zip file with codes, links and QR codes."""
    access.check_csrf(session, str(form.get("csrf_token", "")))
    try:
        raw = str(form.get("text", "")).encode() or await file_of(form)
        role, listed = _ROLES.get(str(form.get("role", ""))), guests_in(raw)
        if role is None:
            raise ForbiddenError(ProblemType.WRONG_ROLE, "operators are let in one by one, not by a list")
        listed.refuse_other_than(role)
        market, key = market_of(request), key_of(form)
        remarks = await run_in_threadpool(remarks_on, market, session.user, role, listed, key)
        wanted = listed if form.get("all_the_same") == "yes" else listed.without(remarks.doubted)
        is_as_said = wanted is listed or str(form.get("left_out", "")) == _rows_of(listed, remarks)
        if form.get("confirmed") != "yes" or not is_as_said or not wanted.names:
            return _asked_of_list(request, role, listed, remarks, text_of_list(raw, LIST), key)
        new = NewUsers(role=role, names=wanted.names, groups=wanted.groups)
        made = await run_in_threadpool(register_many, market, session.user, new, key)
    except MarketError as refused:
        return page(request, "operator/invitations.html", status=refused.status, fault=str(refused))
    address = address_of_market(request)
    guests = [Guest(invitation=one, address=address, row=row) for one, row in zip(made.items, wanted.rows, strict=True)]
    return zipped(await run_in_threadpool(guest_files, guests))


def zipped(packed: bytes) -> Response:
    """Codes and cards as a file that nothing on the way may keep."""
    headers = {"Content-Disposition": 'attachment; filename="invitations.zip"', "Cache-Control": "no-store"}
    return Response(packed, media_type="application/zip", headers=headers)


def _asked_of_list(
    request: Request, role: Role, listed: GuestList, remarks: ListRemarks, text: str, key: str
) -> Response:
    """The page that says a list back; it carries which rows it says are left out, for others may come in meanwhile."""
    values: Filled = {"listed": listed, "role": role, "text": text, "key": key, "remarks": remarks}
    return page(request, "operator/confirm_list.html", left_out=_rows_of(listed, remarks), **values)


def _rows_of(listed: GuestList, remarks: ListRemarks) -> str:
    return " ".join(str(listed.rows[place]) for place in sorted(remarks.doubted))
