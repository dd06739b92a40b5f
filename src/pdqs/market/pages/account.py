"""Everybody's own page: what can act as me, who signed in as me, what the market holds on me, and an end to each."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import RedirectResponse

from pdqs.market import access, groups, own_data, passkeys, people, reads, trail
from pdqs.market.access import Session
from pdqs.market.http.cookies import drop_cookie, set_cookie
from pdqs.market.pages.confirming import GIVEN_UP, TO_END_ALL, asked_back, is_confirmed, to_erase
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import address_of_market, page
from pdqs.market.pages.session import After, AnySession, Form, market_of
from pdqs.market.pages.whereabouts import device_words, place_here
from pdqs.market.typed_names import fault_of_name, typed_name
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ForbiddenError, MarketError, NotFoundError, ProblemType, UnprocessableError

router = APIRouter(prefix="/account", route_class=PageRoute, include_in_schema=False)

WORDS = {
    "code": "A one-time code was made",
    "token": "A token was made for a device or a program",
    "session": "Signed in on the pages",
    "passkey": "A passkey was added",
    "ended-one": "One sign-in was ended",
    "ended": "All sign-ins were ended",
    "disabled": "The account was disabled",
    "enabled": "The account was enabled",
    "erased": "The name was erased",
}
_NO_PLACE = "passkeys need an address with https: they cannot be used at this one"


@router.get("")
def sign_ins(request: Request, session: AnySession, after: After = None) -> Response:
    """What can act as me, and who signed in as me."""
    return _shown(request, session, after=after)


@router.get("/export.json")
def download(request: Request, session: AnySession) -> Response:
    """Everything that the market holds on me, as a file."""
    found = own_data.export_text(market_of(request), session.user, indent=2)
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"', "Cache-Control": "no-store"}
    return Response(found, media_type="application/json", headers=headers)


@router.post("/link")
def make_link(request: Request, session: AnySession, form: Form) -> Response:
    """A link to come in by on another device, or later on this one: shown this once, good once."""
    assert form is not None  # its CSRF token has been checked
    try:
        passkeys.require_fresh(market_of(request), session)
    except ForbiddenError as refused:
        return _shown(request, session, again=True, status=refused.status)
    made = people.renew_code(market_of(request), session.user, session.user.user_id)
    return _shown(request, session, invitation=made)


@router.get("/again/options")
def options_to_show_again(request: Request, session: AnySession) -> Response:
    """What the browser needs to ask for her passkey once more."""
    options = passkeys.options_to_sign_in(market_of(request), _place(request), session.cookie)
    return Response(options, media_type="application/json")


@router.post("/again")
def show_again(request: Request, session: AnySession, form: Form) -> Response:
    """Take the answer of her passkey: this session begins anew."""
    market, shown = market_of(request), str(form.get("credential", ""))
    try:
        fresh = passkeys.show_again(market, _place(request), session, shown, device=device_words(request))
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), again=True, status=refused.status)
    answer = RedirectResponse("/account", status_code=303)
    set_cookie(request, answer, fresh.cookie, seconds=(fresh.expires_at_ms - market.clock()) // 1000)
    return answer


def _place(request: Request) -> passkeys.Place:
    place = place_here(request)
    if place is None:
        raise NotFoundError(ProblemType.BAD_PASSKEY, _NO_PLACE)
    return place


@router.post("/tokens")
def make_token(request: Request, session: AnySession, form: Form) -> Response:
    """A token for a program, shown this once."""
    try:
        name = _name(form.get("name"))
        passkeys.require_fresh(market_of(request), session)
        made = access.make_token(market_of(request), session.user, name, by=session.made_by or session.user.user_id)
    except ForbiddenError as refused:
        return _shown(request, session, again=True, status=refused.status)
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status)
    return _shown(request, session, token=made.token, token_name=name)


@router.get("/passkeys/options")
def passkey_options(request: Request, session: AnySession) -> Response:
    """What the browser needs to make a passkey."""
    passkeys.require_fresh(market_of(request), session)
    options = passkeys.options_to_add(market_of(request), _place(request), session)
    return Response(options, media_type="application/json")


@router.post("/passkeys")
def add_passkey(request: Request, session: AnySession, form: Form) -> Response:
    """Keep a passkey that the browser has made."""
    try:
        passkeys.require_fresh(market_of(request), session)
        name = _name(form.get("name") or device_words(request) or "my device")
        passkeys.add_passkey(market_of(request), _place(request), session, str(form.get("credential", "")), name)
    except ForbiddenError as refused:
        return _shown(request, session, again=True, status=refused.status)
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status)
    return RedirectResponse("/account", status_code=303)


@router.post("/sign-ins/{sign_in_id}/end")
def end_one(request: Request, sign_in_id: Annotated[Identifier, Path()], session: AnySession, form: Form) -> Response:
    """End one of my sign-ins."""
    assert form is not None  # its CSRF token has been checked
    if passkeys.is_passkey(sign_in_id) and passkeys.must_show(market_of(request), session):
        return _shown(request, session, again=True, status=403)
    access.end_sign_in(market_of(request), session.user, sign_in_id)
    return _out(request) if sign_in_id == session.sign_in_id else RedirectResponse("/account", status_code=303)


@router.post("/erase")
def erase(request: Request, session: AnySession, form: Form) -> Response:
    """Forget me; what stands against it is said on the page."""
    if passkeys.must_show(market_of(request), session):
        return _shown(request, session, again=True, status=403)
    market = market_of(request)
    if not is_confirmed(form):
        given_up = reads.me(market, session.user).balance_micros if form.get("forgo") == "yes" else 0
        return asked_back(request, to_erase(given_up, market.settings.money), back="/account")
    said = str(form.get(GIVEN_UP, ""))
    told = int(said) if re.fullmatch(r"[0-9]{1,18}", said) else 0
    try:
        own_data.erase(market, session.user, Erasure(forgo_balance=told > 0), most_micros=told)
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status)
    return _out(request)


@router.post("/end")
def end_all(request: Request, session: AnySession, form: Form) -> Response:
    """End every sign-in, this one too."""
    if not is_confirmed(form):
        return asked_back(request, TO_END_ALL, back="/account")
    people.revoke_all(market_of(request), session.user, session.user.user_id)
    return _out(request)


def _name(given: object) -> str:
    name = typed_name(str(given or ""))
    why = fault_of_name(name)
    if why:
        raise UnprocessableError(ProblemType.INVALID, why)
    return name


def _out(request: Request) -> Response:
    answer = RedirectResponse("/", status_code=303)
    drop_cookie(request, answer)
    return answer


def _shown(
    request: Request, session: Session, *, after: str | None = None, status: int = 200, **made: object
) -> Response:
    """The page, with whatever was made just now."""
    market = market_of(request)
    nothing: dict[str, object] = {"fault": "", "again": False, "invitation": None, "token": "", "token_name": ""}
    found = {
        "trail": reads.access_page(market, session.user, after=after),
        "signed_in": access.sign_ins(market, session.user),
        "has_passkeys": place_here(request) is not None,
        "must_show": passkeys.must_show(market, session),
        "base": f"{address_of_market(request)}/",
        "words": WORDS,
        "the_server": trail.THE_SERVER,
        "groups": groups.groups_of(market, session.user, session.user.user_id).groups,
    }
    return page(request, "account.html", status=status, **{**nothing, **found, **made})
