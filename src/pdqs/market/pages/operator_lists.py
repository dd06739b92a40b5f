"""Lists for operators with very many people: payouts by the batch, the journal, who did what, invitations by file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile

from pdqs.market import access, looking_up, payout_confirmations, payouts
from pdqs.market.deeds import deeds_page
from pdqs.market.invitation_files import Guest, guest_files, guests_in
from pdqs.market.invitations import register_many
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, address_of_market, page
from pdqs.market.pages.session import After, Form, OperatorSession, key_of, market_of
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.market_messages import Role, User
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.problems import ForbiddenError, MarketError, ProblemType, UnprocessableError

router = APIRouter(prefix="/operator", route_class=PageRoute, include_in_schema=False)

BatchId = Annotated[Identifier, Path()]
Text = Annotated[str, Query(max_length=looking_up.MOST_LETTERS)]
_ROLES: dict[str, Role] = {"owner": "owner", "consumer": "consumer"}


async def _with_a_file(request: Request) -> AsyncIterator[FormData]:
    async with request.form(max_files=1, max_fields=20) as form:  # closes the file
        yield form


Uploaded = Annotated[FormData, Depends(_with_a_file)]
"""Fields of a form that may carry one file; its CSRF token is still to be checked."""


@router.get("/payouts")
def payouts_page(
    request: Request, session: OperatorSession, text: Text = "", after: After = None, older: After = None
) -> Response:
    """What is owed to whom, and the batches that providers were asked for."""
    return _payouts(request, session.user, text=text, after=after, older=older)


@router.post("/payouts")
def new_batch(request: Request, session: OperatorSession, form: Form) -> Response:
    """Put what is owed into a batch. No money moves yet."""
    try:
        payouts.make_batch(market_of(request), session.user, key_of(form))
    except MarketError as refused:
        return _payouts(request, session.user, status=refused.status, fault=str(refused))
    return RedirectResponse("/operator/payouts", status_code=303)


@router.post("/payouts/{batch_id}/confirmation")
async def read_confirmation(request: Request, batch_id: BatchId, session: OperatorSession, form: Uploaded) -> Response:
    """Say back what a provider's file confirms; enter it once that is confirmed in turn."""
    access.check_csrf(session, str(form.get("csrf_token", "")))
    market = market_of(request)
    try:
        text = str(form.get("text", "")) or payout_confirmations.confirmation_text(await _file(form))
        told = payout_confirmations.read_confirmation(text)
        if form.get("confirmed") == "yes":
            await run_in_threadpool(payout_confirmations.confirm_batch, market, session.user, batch_id, text)
            return RedirectResponse("/operator/payouts", status_code=303)
    except MarketError as refused:
        return _payouts(request, session.user, status=refused.status, fault=str(refused))
    paid = [said.amount_micros for said in told if said.paid]
    values: Filled = {"paid": len(paid), "paid_micros": sum(paid), "failed": len(told) - len(paid), "text": text}
    return page(request, "operator/confirm_batch.html", batch_id=batch_id, **values)


@router.get("/journal")
def journal(request: Request, session: OperatorSession, after: After = None) -> Response:
    """Every entry of the ledger."""
    return page(
        request, "operator/journal.html", journal=looking_up.journal_page(market_of(request), session.user, after)
    )


@router.get("/deeds")
def who_did_what(request: Request, session: OperatorSession, after: After = None) -> Response:
    """What operators did."""
    return page(request, "operator/deeds.html", deeds=deeds_page(market_of(request), session.user, after))


@router.get("/invitations")
def invitations_form(request: Request, _session: OperatorSession) -> Response:
    """A form to let many people in by a list of their names."""
    return page(request, "operator/invitations.html", fault="")


@router.post("/invitations")
async def invite_all(request: Request, session: OperatorSession, form: Uploaded) -> Response:
    """Let everyone on a list in; a zip file with their codes, links and QR codes, made this once."""
    access.check_csrf(session, str(form.get("csrf_token", "")))
    try:
        role, listed = _ROLES.get(str(form.get("role", ""))), guests_in(await _file(form))
        if role is None:
            raise ForbiddenError(ProblemType.WRONG_ROLE, "operators are let in one by one, not by a list")
        new = NewUsers(role=role, names=listed.names, groups=listed.groups)
        made = await run_in_threadpool(register_many, market_of(request), session.user, new, key_of(form))
    except MarketError as refused:
        return page(request, "operator/invitations.html", status=refused.status, fault=str(refused))
    address = address_of_market(request)
    guests = [Guest(invitation=one, address=address) for one in made.items]
    packed = await run_in_threadpool(guest_files, guests)
    headers = {"Content-Disposition": 'attachment; filename="invitations.zip"', "Cache-Control": "no-store"}
    return Response(packed, media_type="application/zip", headers=headers)


async def _file(form: FormData) -> bytes:
    found = form.get("file")
    if not isinstance(found, UploadFile) or not found.size:
        raise UnprocessableError(ProblemType.BAD_LIST, "choose a file first")
    return await found.read()


def _payouts(
    request: Request,
    user: User,
    *,
    text: str = "",
    after: str | None = None,
    older: str | None = None,
    status: int = 200,
    fault: str = "",
) -> Response:
    market = market_of(request)
    values: Filled = {
        "owed": looking_up.payables_like(market, user, text, after),
        "how_many": looking_up.how_many_owed(market, user),
        "batches": payouts.batches_page(market, user, older, 20),
        "text": text,
        "fault": fault,
    }
    return page(request, "operator/payouts.html", status=status, **values)
