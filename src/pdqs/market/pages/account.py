"""Everybody's own page: who signed in as me, what the market holds on me, and an end to either."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from pdqs.market import own_data, people, reads
from pdqs.market.access import Session
from pdqs.market.http.cookies import drop_cookie
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import After, AnySession, Form, market_of
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import MarketError

router = APIRouter(prefix="/account", route_class=PageRoute)

WORDS = {
    "code": "A one-time code was made",
    "token": "Signed in on a device (token)",
    "session": "Signed in on the pages",
    "ended": "All sign-ins were ended",
    "disabled": "The account was disabled",
    "enabled": "The account was enabled",
    "erased": "The name was erased",
}


@router.get("")
def sign_ins(request: Request, session: AnySession, after: After = None) -> Response:
    """Who signed in as me."""
    return _shown(request, session, after=after)


@router.get("/export.json")
def download(request: Request, session: AnySession) -> Response:
    """Everything that the market holds on me, as a file."""
    found = own_data.export(market_of(request), session.user).model_dump_json(indent=2)
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"', "Cache-Control": "no-store"}
    return Response(found, media_type="application/json", headers=headers)


@router.post("/erase")
def erase(request: Request, session: AnySession, form: Form) -> Response:
    """Forget me; what stands against it is said on the page."""
    try:
        wish = Erasure(forgo_balance=form.get("forgo") == "yes")
        own_data.erase(market_of(request), session.user, wish)
    except MarketError as refused:
        return _shown(request, session, fault=str(refused), status=refused.status)
    return _out(request)


@router.post("/end")
def end_all(request: Request, session: AnySession, form: Form) -> Response:
    """End every sign-in, this one too."""
    assert form is not None  # its CSRF token has been checked
    people.revoke_all(market_of(request), session.user, session.user.user_id)
    return _out(request)


def _out(request: Request) -> Response:
    answer = RedirectResponse("/", status_code=303)
    drop_cookie(request, answer)
    return answer


def _shown(
    request: Request, session: Session, *, after: str | None = None, fault: str = "", status: int = 200
) -> Response:
    trail = reads.access_page(market_of(request), session.user, after=after)
    return page(request, "account.html", status=status, trail=trail, words=WORDS, fault=fault)
