"""The front door: what this place is, and a one-time code to come in by."""

from __future__ import annotations

import secrets
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from pdqs.market import access
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import HOMES, Fields, market_of, session_or_none
from pdqs.protocol.problems import ForbiddenError, MarketError, NotFoundError, ProblemType

router = APIRouter(route_class=PageRoute)

_KNOCK = "pdqs_knock"
"""A cookie that stands in for a session until there is one, so that another site cannot sign a visitor in."""

_DEVICE = Path(str(files("pdqs.owner"))) / "browser"
_MODULES = frozenset(path.name for path in _DEVICE.glob("*.mjs"))


@router.get("/")
@router.get("/enter")
def front_door(request: Request) -> Response:
    """Who goes where; those who are signed in go home."""
    session = session_or_none(request)
    if session is not None:
        return RedirectResponse(HOMES[session.user.role], status_code=303)
    return _door(request, code=request.query_params.get("code", ""))


def _door(request: Request, *, code: str = "", fault: str = "", status: int = 200) -> Response:
    knock = request.cookies.get(_KNOCK) or secrets.token_urlsafe(32)
    answer = page(request, "door.html", status=status, code=code, fault=fault, door_token=access.csrf_token(knock))
    _set_cookie(request, answer, _KNOCK, knock, seconds=3600)
    return answer


@router.post("/enter")
def enter(request: Request, form: Fields) -> Response:
    """Exchange a one-time code for a session."""
    expected = access.csrf_token(request.cookies.get(_KNOCK, ""))
    if not secrets.compare_digest(expected, str(form.get("door_token", ""))):
        raise ForbiddenError(ProblemType.OTHER_SITE, "sign in from this site's own page, with cookies allowed")
    market = market_of(request)
    try:
        session = access.redeem_for_session(market, str(form.get("code", "")).strip()[:200])
    except MarketError as fault:
        return _door(request, fault=str(fault), status=fault.status)
    answer = RedirectResponse(HOMES[session.user.role], status_code=303)
    seconds = (session.expires_at_ms - market.clock()) // 1000
    _set_cookie(request, answer, access.COOKIE, session.cookie, seconds=seconds)
    answer.delete_cookie(_KNOCK)
    return answer


@router.post("/leave")
def leave(request: Request, form: Fields) -> Response:
    """Sign out."""
    session = session_or_none(request)
    if session is not None:
        access.check_csrf(session, str(form.get("csrf_token", "")))
        access.end_session(market_of(request), session.cookie)
    answer = RedirectResponse("/", status_code=303)
    answer.delete_cookie(access.COOKIE)
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


def _set_cookie(request: Request, answer: Response, name: str, value: str, *, seconds: int) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", secure=secure, path="/")
