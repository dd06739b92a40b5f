"""Who is looking at a page, and proof that a form came from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Query, Request
from starlette.datastructures import FormData

from pdqs.market import access
from pdqs.market.access import Session
from pdqs.market.context import Market
from pdqs.market.http.cookies import read_cookie
from pdqs.protocol.device_messages import Identifier
from pdqs.protocol.market_messages import Cursor, Role
from pdqs.protocol.problems import MarketError, ProblemType, UnprocessableError

_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
_PATH = re.compile(r"/(?:[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}(?:\?[A-Za-z0-9_.=&:-]{0,200})?)?")

HOMES: dict[Role, str] = {"consumer": "/consumer", "owner": "/owner", "operator": "/operator"}


class SignInFirst(Exception):  # noqa: N818  not a fault: the page asks who is there
    """Nobody is signed in."""


def own_path(given: str) -> str:
    """A path of this very site to go on to, or nothing: what leads elsewhere, or could be read so, is dropped.

    >>> own_path("/owner/rounds/r_1?after=2")
    '/owner/rounds/r_1?after=2'
    >>> [own_path(given) for given in ("//evil.example", "https://evil.example", "/\\\\evil.example", "")]
    ['', '', '', '']
    """
    return given if _PATH.fullmatch(given) else ""


def home_or(role: Role, wanted: str) -> str:
    """Where someone goes who has just come in: the page she wanted, if it is one of hers, or else home."""
    path = own_path(wanted)
    place = "/" + path[1:].partition("?")[0].partition("/")[0]
    return path if place in (HOMES[role], "/account", "/device-elsewhere") else HOMES[role]


def market_of(request: Request) -> Market:
    """The market behind this request."""
    market = request.app.state.market
    assert isinstance(market, Market)
    return market


def session_or_none(request: Request) -> Session | None:
    """The session of whoever is looking, if there is one."""
    cookie = read_cookie(request)
    if not cookie:
        return None
    try:
        return access.session_of(market_of(request), cookie)
    except MarketError:
        return None


def _signed_in(request: Request) -> Session:
    """The session of whoever is looking; the page is told of it."""
    session = session_or_none(request)
    if session is None:
        raise SignInFirst
    request.state.session = session
    return session


def _guard(role: Role) -> Callable[[Request], Session]:
    def guarded(request: Request) -> Session:
        session = _signed_in(request)
        access.require(session.user, role)
        return session

    return guarded


async def _fields(request: Request) -> FormData:
    return await request.form(max_files=0, max_fields=100)


def _form(request: Request, form: Annotated[FormData, Depends(_fields)]) -> FormData:
    """The fields of a form whose CSRF token is that of the session."""
    session = _signed_in(request)
    access.check_csrf(session, str(form.get("csrf_token", "")))
    return form


AnySession = Annotated[Session, Depends(_signed_in)]
ConsumerSession = Annotated[Session, Depends(_guard("consumer"))]
OwnerSession = Annotated[Session, Depends(_guard("owner"))]
OperatorSession = Annotated[Session, Depends(_guard("operator"))]
Fields = Annotated[FormData, Depends(_fields)]
"""Fields of a form that anybody may have sent."""
Form = Annotated[FormData, Depends(_form)]
"""Fields of a form, its CSRF token checked."""


RoundId = Annotated[Identifier, Path()]
UserId = Annotated[Identifier, Path()]
After = Annotated[Cursor | None, Query()]


def is_key(text: str) -> bool:
    """Whether a text could be the key of a form."""
    return _KEY.fullmatch(text) is not None


def key_of(form: FormData) -> str:
    """The form's own idempotency key, made when the page was: pressing twice does once."""
    key = str(form.get("key", ""))
    if not is_key(key):
        raise UnprocessableError(ProblemType.NO_KEY, "the form has run out: reload the page and try again")
    return key


Result = TypeVar("Result")


def if_any(look: Callable[[], Result]) -> Result | None:
    """What a query finds, or None where it says that there is nothing."""
    try:
        return look()
    except MarketError as missing:
        if missing.status != 404:
            raise
        return None
