"""Everybody's own page: who signed in as me, and an end to it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from pdqs.market import people, reads
from pdqs.market.http.cookies import drop_cookie
from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import After, AnySession, Form, market_of

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
    trail = reads.access_page(market_of(request), session.user, after=after)
    return page(request, "account.html", trail=trail, words=WORDS)


@router.post("/end")
def end_all(request: Request, session: AnySession, form: Form) -> Response:
    """End every sign-in, this one too."""
    assert form is not None  # its CSRF token has been checked
    people.revoke_all(market_of(request), session.user, session.user.user_id)
    answer = RedirectResponse("/", status_code=303)
    drop_cookie(request, answer)
    return answer
