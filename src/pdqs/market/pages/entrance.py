"""The front door: what this place is, and a one-time code to come in by."""

from __future__ import annotations

import re
import secrets
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from pdqs.market import access
from pdqs.market.http.cookies import KNOCK, drop_cookie, read_cookie, set_cookie
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import HOMES, Fields, SignInFirst, market_of, session_or_none
from pdqs.protocol.problems import ForbiddenError, MarketError, NotFoundError, ProblemType

router = APIRouter(route_class=PageRoute)

_WORD = re.compile(r"[A-Za-z0-9_-]{43}")
_DEVICE = Path(str(files("pdqs.owner"))) / "browser"
_MODULES = frozenset(path.name for path in _DEVICE.glob("*.mjs"))


@router.get("/")
@router.get("/enter")
def front_door(request: Request) -> Response:
    """Who goes where; those who are signed in go home."""
    session = session_or_none(request)
    if session is not None:
        return RedirectResponse(HOMES[session.user.role], status_code=303)
    return _door(request)


def _door(request: Request, *, fault: str = "", status: int = 200) -> Response:
    knock = read_cookie(request, KNOCK)
    if not _WORD.fullmatch(knock):
        knock = secrets.token_urlsafe(32)
    token = access.form_token(market_of(request), "door", knock)
    answer = page(request, "door.html", status=status, fault=fault, door_token=token)
    set_cookie(request, answer, knock, seconds=3600, name=KNOCK)
    return answer


@router.post("/enter")
def enter(request: Request, form: Fields) -> Response:
    """Exchange a one-time code for a session."""
    market, given = market_of(request), str(form.get("door_token", ""))
    if not access.is_form_token(market, "door", read_cookie(request, KNOCK), given):
        raise ForbiddenError(ProblemType.OTHER_SITE, "sign in from this site's own page, with cookies allowed")
    try:
        session = access.redeem_for_session(market, str(form.get("code", "")).strip()[:200])
    except MarketError as fault:
        return _door(request, fault=str(fault), status=fault.status)
    answer = RedirectResponse(HOMES[session.user.role], status_code=303)
    seconds = (session.expires_at_ms - market.clock()) // 1000
    set_cookie(request, answer, session.cookie, seconds=seconds)
    drop_cookie(request, answer, KNOCK)
    return answer


@router.post("/leave")
def leave(request: Request, form: Fields) -> Response:
    """Sign out. Who is not signed in has nothing to lose here, and least of all a cookie that was held back."""
    session = session_or_none(request)
    if session is None:
        raise SignInFirst
    access.check_csrf(session, str(form.get("csrf_token", "")))
    access.end_session(market_of(request), session.cookie)
    answer = RedirectResponse("/", status_code=303)
    drop_cookie(request, answer)
    return answer


@router.get("/device-elsewhere")
def device_elsewhere(request: Request) -> Response:
    """How to run the device from a place that this market does not control."""
    request.state.session = session_or_none(request)
    origins = market_of(request).settings.device_origins.split()
    return page(request, "elsewhere.html", origins=origins, market_address=str(request.base_url).rstrip("/"))


@router.get("/device/{module}")
def device_module(module: str) -> Response:
    """The browser's half of the owner's device, as it is in the package: anyone may read it."""
    if module not in _MODULES:
        raise NotFoundError(ProblemType.NO_MODULE, "there is no such module")
    return FileResponse(_DEVICE / module, media_type="text/javascript", headers={"Cache-Control": "no-cache"})
