"""The front door: what this place is, and a one-time code or a passkey to come in by."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.datastructures import FormData

from pdqs.market import access, passkeys
from pdqs.market.access import Session
from pdqs.market.http.cookies import KNOCK, drop_cookie, read_cookie, set_cookie
from pdqs.market.identity import SECRET_LETTERS
from pdqs.market.pages.door import door_page, is_knock
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import address_of_market, page
from pdqs.market.pages.session import (
    HOMES,
    AnySession,
    Fields,
    Form,
    home_or,
    market_of,
    own_path,
    session_or_none,
)
from pdqs.market.pages.whereabouts import device_words, place_here
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ForbiddenError, MarketError, NotFoundError, ProblemType

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_DEVICE = Path(str(files("pdqs.owner"))) / "browser"
_MODULES = frozenset(path.name for path in _DEVICE.glob("*.mjs"))


@router.get("/")
def front_door(request: Request) -> Response:
    """Who goes where; those who are signed in go home."""
    session = session_or_none(request)
    if session is not None:
        return RedirectResponse(HOMES[session.user.role], status_code=303)
    return door_page(request)


@router.get("/enter")
def invitation(request: Request) -> Response:
    """The same with a code to come in by, which no server sees before it is sent; who is in already is told so."""
    wanted = own_path(request.query_params.get("next", ""))
    session = session_or_none(request)
    if session is None:
        return door_page(request, wanted=wanted)
    if wanted:
        return RedirectResponse(home_or(session.user.role, wanted), status_code=303)
    return _already_in(request, session)


def _already_in(
    request: Request, session: Session, *, code: str = "", invited: User | None = None, fault: str = ""
) -> Response:
    """For someone who is signed in and opens a link with a code: whose it is, and a choice."""
    request.state.session = session
    home = HOMES[session.user.role]
    return page(request, "already_in.html", home=home, code=code, invited=invited, fault=fault)


@router.post("/enter")
def enter(request: Request, form: Fields) -> Response:
    """Exchange a one-time code for a session."""
    market, wanted = market_of(request), own_path(str(form.get("next", "")))
    _check_door(request, form)
    try:
        session = access.redeem_for_session(market, _code(form), device=device_words(request))
    except MarketError as fault:
        return door_page(request, wanted=wanted, fault=str(fault), status=fault.status)
    return _let_in(request, session, wanted)


@router.get("/enter/passkey")
def passkey_options(request: Request) -> Response:
    """What the browser needs to ask for a passkey."""
    place, knock = place_here(request), read_cookie(request, KNOCK)
    if place is None or not is_knock(knock):
        raise NotFoundError(ProblemType.NO_SESSION, "reload the page, with cookies allowed")
    options = passkeys.options_to_sign_in(market_of(request), place, knock)
    return Response(options, media_type="application/json")


@router.post("/enter/passkey")
def enter_with_passkey(request: Request, form: Fields) -> Response:
    """Exchange the answer of a passkey for a session."""
    wanted, place = own_path(str(form.get("next", ""))), place_here(request)
    _check_door(request, form)
    if place is None:
        raise NotFoundError(ProblemType.BAD_PASSKEY, "passkeys cannot be used at this address")
    shown, knock = str(form.get("credential", "")), read_cookie(request, KNOCK)
    try:
        session = passkeys.enter_with_passkey(market_of(request), place, knock, shown, device=device_words(request))
    except MarketError as fault:
        return door_page(request, wanted=wanted, fault=str(fault), status=fault.status)
    return _let_in(request, session, wanted)


@router.post("/enter/other")
def open_other(request: Request, session: AnySession, form: Form) -> Response:
    """Whose is this code? With ``instead``, sign out and go on as whoever it is for."""
    market, code = market_of(request), _code(form)
    try:
        invited = access.whose_code(market, code)
    except MarketError as refused:
        return _already_in(request, session, fault=str(refused))
    if form.get("instead") != "yes" or invited.user_id == session.user.user_id:
        return _already_in(request, session, code=code, invited=invited)
    fresh = access.redeem_for_session(market, code, device=device_words(request))
    access.end_session(market, session.cookie)
    return _let_in(request, fresh, "")


def _check_door(request: Request, form: FormData) -> None:
    """Refuse a sign-in that began on another site's page."""
    given = str(form.get("door_token", ""))
    if not access.is_form_token(market_of(request), "door", read_cookie(request, KNOCK), given):
        raise ForbiddenError(ProblemType.OTHER_SITE, "sign in from this site's own page, with cookies allowed")


def _code(form: FormData) -> str:
    """The code, also where somebody pasted the whole link that carries it, or a full stop or brackets with it."""
    pasted = str(form.get("code", "")).strip()[:500].rpartition("#")[2][:200]
    whole = _WHOLE_CODE.search(pasted)
    return whole[0] if whole else pasted


_WHOLE_CODE = re.compile(rf"(?<![\w-])[A-Za-z0-9_-]{{{SECRET_LETTERS}}}(?![\w-])")


def _let_in(request: Request, session: Session, wanted: str) -> Response:
    answer = RedirectResponse(home_or(session.user.role, wanted), status_code=303)
    seconds = (session.expires_at_ms - market_of(request).clock()) // 1000
    set_cookie(request, answer, session.cookie, seconds=seconds)
    drop_cookie(request, answer, KNOCK)
    return answer


@router.post("/leave")
def leave(request: Request, form: Fields) -> Response:
    """Sign out; with ``next``, to sign in for that page as somebody else. Who is not signed in has nothing to lose
    here, and least of all a cookie that was held back.
    """
    session = session_or_none(request)
    if session is None:
        return RedirectResponse("/", status_code=303)
    request.state.session = session
    access.check_csrf(session, str(form.get("csrf_token", "")))
    access.end_session(market_of(request), session.cookie)
    wanted = own_path(str(form.get("next", "")))
    answer = RedirectResponse(f"/enter?next={quote(wanted)}" if wanted else "/", status_code=303)
    drop_cookie(request, answer)
    return answer


@router.get("/device-elsewhere")
def device_elsewhere(request: Request) -> Response:
    """How to run the device from a place that this market does not control."""
    request.state.session = session_or_none(request)
    origins = market_of(request).settings.device_origins.split()
    return page(request, "elsewhere.html", origins=origins, market_address=address_of_market(request))


@router.get("/device/{module}")
def device_module(module: str) -> Response:
    """The browser's half of the owner's device, as it is in the package: anyone may read it."""
    if module not in _MODULES:
        raise NotFoundError(ProblemType.NO_MODULE, "there is no such module")
    return FileResponse(_DEVICE / module, media_type="text/javascript", headers={"Cache-Control": "no-cache"})
