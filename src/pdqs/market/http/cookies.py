"""Cookies: how they are named, set and read.

Over TLS a cookie's name begins with ``__Host-``: a browser then takes it from this host alone, over TLS, for all paths,
so that no neighbour (a subdomain, or plain HTTP on the way) can plant one.
"""

from __future__ import annotations

from typing import Literal

from fastapi import Request, Response

from pdqs.market.page_sessions import COOKIE
from pdqs.market.settings import Settings

KNOCK = "pdqs_knock"
"""A cookie that stands in for a session until there is one, so that another site cannot sign a visitor in."""


def is_secure(settings: Settings, scheme: str) -> bool:
    """Whether people reach this market over TLS: by its public address, or by the request itself.

    >>> is_secure(Settings(public_url="https://market.example"), "http")
    True
    """
    return scheme == "https" or settings.public_url.startswith("https://")


def cookie_name(settings: Settings, scheme: str, name: str = COOKIE) -> str:
    """The name that a cookie has here.

    >>> cookie_name(Settings(), "https"), cookie_name(Settings(), "http")
    ('__Host-pdqs_session', 'pdqs_session')
    """
    return f"__Host-{name}" if is_secure(settings, scheme) else name


def read_cookie(request: Request, name: str = COOKIE) -> str:
    """What a cookie holds; nothing when it was not sent."""
    return request.cookies.get(cookie_name(_settings(request), request.url.scheme, name), "")


def set_cookie(request: Request, answer: Response, value: str, *, seconds: int, name: str = COOKIE) -> None:
    """Have the browser keep a cookie, out of reach of scripts.

    The session's is ``SameSite=Lax``: it comes along when she follows a link from elsewhere to look at a page, so that
    she need not sign in again; no form of another site carries it. The other one never leaves our own pages.
    """
    full = cookie_name(_settings(request), request.url.scheme, name)
    secure = is_secure(_settings(request), request.url.scheme)
    sent: Literal["lax", "strict"] = "lax" if name == COOKIE else "strict"
    answer.set_cookie(full, value, max_age=seconds, httponly=True, samesite=sent, secure=secure, path="/")


def drop_cookie(request: Request, answer: Response, name: str = COOKIE) -> None:
    """Have the browser forget a cookie."""
    set_cookie(request, answer, "", seconds=0, name=name)


def _settings(request: Request) -> Settings:
    settings = request.app.state.market.settings
    assert isinstance(settings, Settings)
    return settings
