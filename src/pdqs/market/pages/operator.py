"""The operator's pages: rounds, people, the ledger and health. Nobody's bid or report is on any of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from pydantic import ValidationError
from starlette.datastructures import FormData

from pdqs.market import looking_up, page_sessions, passkeys, people, reads, round_steps
from pdqs.market.clock_state import last_tick
from pdqs.market.fresh_codes import never_came_in
from pdqs.market.groups import groups_by_user
from pdqs.market.handing_over import clear_or_wait, settle_or_wait
from pdqs.market.invitation_files import Guest, qr_svg
from pdqs.market.looking_up import MOST_LETTERS, people_like
from pdqs.market.namesakes import called, marks, named
from pdqs.market.pages.code_once import let_in_before, renewed_since
from pdqs.market.pages.confirming import Sure, asked_back, is_confirmed, to_cancel, to_change_access, to_renew_code
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import Filled, address_of_market, page
from pdqs.market.pages.round_step import cancelling, refusal
from pdqs.market.pages.session import After, Form, OperatorSession, RoundId, UserId, key_of, market_of
from pdqs.market.stuck_rounds import stuck_at
from pdqs.market.typed_names import fault_of_name, typed_name
from pdqs.protocol.market_messages import Invitation, NewUser, User
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType, UnprocessableError

router = APIRouter(prefix="/operator", route_class=PageRoute, include_in_schema=False)

Text = Annotated[str, Query(max_length=MOST_LETTERS)]

STEPS = {"clear": clear_or_wait, "settle": settle_or_wait}
ACCESS = {"revoke": people.revoke_all, "disable": people.disable_user, "enable": people.enable_user}
_NOBODY: Mapping[str, str] = MappingProxyType({"name": "", "role": ""})


@router.get("")
def home(request: Request, session: OperatorSession, after: After = None) -> Response:
    """Health, the books at a glance, and the rounds."""
    market = market_of(request)
    listed = reads.rounds_page(market, session.user, after=after)
    books = reads.trial_balance(market, session.user)
    tick = last_tick(market)
    stuck = sorted(tick.stuck, key=lambda one: one.since_ms)
    texts = looking_up.words_of(market, [one.round_id for one in stuck])
    values: Filled = {"books": books, "rounds": listed, "stuck": stuck, "texts": texts, "tick": tick}
    ill = reads.why_ill(market, session.user)
    return page(request, "operator/home.html", about=reads.about(market), ill=ill, **values)


@router.get("/rounds/{round_id}")
def one_round(request: Request, round_id: RoundId, session: OperatorSession) -> Response:
    """One round, in counts and sums."""
    return _round_page(request, session.user, round_id)


@router.post("/rounds/{round_id}/{step}")
def take_step(request: Request, round_id: RoundId, step: str, session: OperatorSession, form: Form) -> Response:
    """Clear, settle or cancel in the consumer's place."""
    market = market_of(request)
    if step == "cancel" and not is_confirmed(form):
        found = reads.round_by_id(market, session.user, round_id)
        sure = to_cancel(found, market.settings.money, whose="its consumer")
        return asked_back(request, sure, back=f"/operator/rounds/{round_id}")
    refused = refusal({**STEPS, **cancelling(form)}, step, market, session.user, round_id)
    if refused:
        return _round_page(request, session.user, round_id, status=refused.status, fault=str(refused))
    return RedirectResponse(f"/operator/rounds/{round_id}", status_code=303)


def _round_page(request: Request, user: User, round_id: str, *, status: int = 200, fault: str = "") -> Response:
    market = market_of(request)
    found, stuck = reads.round_by_id(market, user, round_id), stuck_at(market, round_id)
    return page(request, "operator/round.html", status=status, round=found, stuck=stuck, fault=fault)


@router.get("/people")
def everyone(request: Request, session: OperatorSession, text: Text = "", after: After = None) -> Response:
    """Everyone or those of a name, and a form to let someone in."""
    return _people_page(request, session.user, text=text, after=after)


@router.post("/people")
def invite(request: Request, session: OperatorSession, form: Form) -> Response:
    """Let someone in; the code is shown this once."""
    role, name = str(form.get("role", "")), typed_name(str(form.get("name", ""))[:_MOST_TYPED])
    typed = {"role": role, "name": name}
    try:
        newcomer = _newcomer(role, name)
        if newcomer.role == "operator":
            passkeys.require_fresh(market_of(request), session)
        before = let_in_before(market_of(request), session.user, newcomer, form)
        if before is not None:
            return _people_page(request, session.user, shown_before=before)
        made = round_steps.register_user(market_of(request), session.user, newcomer, key_of(form))
    except MarketError as refused:
        return _people_page(request, session.user, status=refused.status, fault=str(refused), typed=typed)
    return _people_page(request, session.user, invitation=made)


def _newcomer(role: str, name: str) -> NewUser:
    """Someone to let in; refused in a sentence where the name is none, or the role."""
    why = fault_of_name(name)
    try:
        return NewUser.model_validate({"role": role, "name": "" if why else name})
    except ValidationError:
        raise UnprocessableError(ProblemType.INVALID, why or "choose what she comes in as") from None


_MOST_TYPED = 2000


@router.post("/people/{user_id}/code")
def renew(request: Request, user_id: UserId, session: OperatorSession, form: Form) -> Response:
    """A fresh code for someone; the one before is void. The page loaded again makes no other."""
    try:
        passkeys.require_fresh(market_of(request), session)
    except MarketError as refused:
        return _people_page(request, session.user, status=refused.status, fault=str(refused))
    before = renewed_since(market_of(request), session.user, user_id, form)
    if before is not None:
        return _people_page(request, session.user, shown_before=before)
    sure = _to_renew(request, session.user, user_id, form)
    if sure is not None and not is_confirmed(form):
        return asked_back(request, sure, back="/operator/people")
    made = round_steps.renew_code(market_of(request), session.user, user_id)
    return _people_page(request, session.user, invitation=made)


def _to_renew(request: Request, actor: User, user_id: str, form: FormData) -> Sure | None:
    """What is asked before a code that signs somebody else out; nothing where nobody is signed in."""
    market = market_of(request)
    with market.store.read() as connection:
        person = people.user_by_id(connection, user_id)
        signed_in = len(page_sessions.listed(market, connection, person)) if user_id != actor.user_id else 0
        who = called(connection, user_id, person.name)
    return to_renew_code(person, who, signed_in, str(form.get("asked_at", ""))) if signed_in else None


@router.post("/people/{user_id}/{change}")
def change_access(request: Request, user_id: UserId, change: str, session: OperatorSession, form: Form) -> Response:
    """End someone's sign-ins, shut her out, or let her in again; what stands against it is said on the page."""
    if change not in ACCESS:
        raise NotFoundError(ProblemType.NO_STEP, "that cannot be done to an account")
    with market_of(request).store.read() as connection:
        person = people.member_by_id(connection, user_id)
        sure = to_change_access(person, change, called(connection, user_id, person.name))
    try:
        if change == "disable":
            people.refuse_disabling(market_of(request), session.user, user_id)
        if sure is not None and not is_confirmed(form):
            return asked_back(request, sure, back="/operator/people")
        ACCESS[change](market_of(request), session.user, user_id)
    except MarketError as refused:
        return _people_page(request, session.user, status=refused.status, fault=str(refused))
    return RedirectResponse("/operator/people", status_code=303)


def _people_page(
    request: Request,
    user: User,
    *,
    text: str = "",
    after: str | None = None,
    status: int = 200,
    invitation: Invitation | None = None,
    shown_before: User | None = None,
    fault: str = "",
    typed: Mapping[str, str] = _NOBODY,
) -> Response:
    listed = people_like(market_of(request), user, text, after=after)
    with market_of(request).store.read() as connection:
        theirs = groups_by_user(connection, [one.user_id for one in listed.items])
        coded = [one for one in (invitation.user if invitation else None, shown_before) if one is not None]
        known = marks(connection, named(listed.items, coded))
        absent = never_came_in(connection, [one.user_id for one in listed.items])
    values = {
        "groups": theirs,
        "absent": absent,
        "marks": known,
        "people": listed,
        "base": f"{address_of_market(request)}/",
        "invitation": invitation,
        "shown_before": shown_before,
        "fault": fault,
        "text": text,
        "typed": typed,
    }
    return page(request, "operator/people.html", status=status, qr=_qr(request, invitation), **values)


def _qr(request: Request, invitation: Invitation | None) -> Markup:
    """The invitation as a picture for a phone's camera; nothing when there is none."""
    if invitation is None:
        return Markup()
    return Markup(qr_svg(Guest(invitation=invitation, address=address_of_market(request)).link))
