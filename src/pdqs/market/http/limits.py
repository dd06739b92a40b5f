"""The gate: how much and how often a caller may send, checked before anything is parsed."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import final

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdqs.market.context import Callers
from pdqs.market.http.cookies import cookie_name
from pdqs.market.http.plain_answers import Asked
from pdqs.market.identity import hashed
from pdqs.market.settings import Settings
from pdqs.protocol.problems import ProblemType

_REMEMBERED = 20_000

Found = dict[bytes, bytes]
"""A request's headers by name; of one that is sent twice, the last."""


@final
class Buckets:
    """Token buckets: each key may spend ``burst`` at once and regains ``rate`` a second; the longest unseen are lost.

    >>> now = [0.0]
    >>> buckets = Buckets(rate=1.0, burst=2.0, now=lambda: now[0])
    >>> [buckets.take("a") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, *, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one; 0, or the seconds to wait before there is one."""
        now = self._now()
        left, seen = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - seen) * self._rate)
        wait = 0.0 if left >= 1.0 else (1.0 - left) / self._rate
        self._left[key] = (left if wait else left - 1.0, now)
        if len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)
        return wait


_LAST = [(b"connection", b"close")]


def bearer_token(authorization: str) -> str:
    """The token of an Authorization header, however its scheme is spelled; nothing when it is no bearer token.

    >>> bearer_token("bEARER abc"), bearer_token("Basic abc")
    ('abc', '')
    """
    scheme, _, token = authorization.partition(" ")
    return token if scheme.lower() == "bearer" else ""


def credentials_of(authorization: str, cookie: str) -> tuple[str, str]:
    """The token and the session that a request speaks by: one of them at most, and a header that is empty says nothing.

    Both who is calling and how often she may are read here, so that nobody is known by one and counted by the other.

    >>> credentials_of("Bearer abc", "session"), credentials_of("", "session"), credentials_of("Basic abc", "session")
    (('abc', ''), ('', 'session'), ('', ''))
    """
    return (bearer_token(authorization), "") if authorization else ("", cookie)


def network_of(address: str) -> str:
    """Whose connections are counted together: those of one address, of IPv6 those of one network, which one caller has.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1") == network_of("2001:db8::2"), network_of("a socket")
    ('192.0.2.7', True, 'a socket')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


@final
class Gate:
    """ASGI middleware: rates by address, credential and user, and a bound on the body, read before it is handed on."""

    def __init__(self, app: ASGIApp, settings: Settings, callers: Callers) -> None:
        self._app = app
        self._most_bytes = settings.most_body_bytes
        self._seconds = settings.body_seconds
        self._settings = settings
        self._addresses = Buckets(rate=settings.address_rate, burst=settings.address_burst)
        self._credentials = Buckets(rate=settings.caller_rate, burst=settings.caller_burst)
        self._users = Buckets(rate=settings.caller_rate, burst=settings.caller_burst)
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: Found = dict(scope["headers"])
        asked = Asked(scope=scope, send=send, prefix=self._settings.prefix)
        wait = self._wait(scope)
        if wait:
            extra = [(b"retry-after", str(int(wait) + 1).encode())]
            detail = f"too many requests: ask again in {int(wait) + 1} seconds"
            await asked.refuse(429, ProblemType.TOO_MANY_REQUESTS, "Too many requests", detail, extra)
            return
        if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
            detail = "a request says once who sends it, and this one has more than one Authorization header"
            await asked.refuse(400, ProblemType.BAD_REQUEST, "Bad request", detail, _LAST)
            return
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._body(headers, receive)
        except ClientDisconnect:
            detail = "the connection was closed before the whole body had come"
            await asked.refuse(400, ProblemType.BAD_REQUEST, "Bad request", detail, _LAST)
            return
        except TimeoutError:
            detail = f"the body of a request must come within {self._seconds:g} seconds"
            await asked.refuse(408, ProblemType.TOO_SLOW, "Request timeout", detail, _LAST)
            return
        if body is None:
            detail = f"a file or a form may hold at most {self._most_bytes:,} bytes, and this one holds more"
            await asked.refuse(413, ProblemType.TOO_LARGE, "Content too large", detail, _LAST)
            return
        await self._app(scope, _replayed(body, receive), send)

    def _wait(self, scope: Scope) -> float:
        address = scope["client"][0] if scope.get("client") else "unknown"
        wait = self._addresses.take(network_of(address))
        credential = self._credential(scope)
        return self._wait_of_caller(hashed(credential)) if credential and not wait else wait

    def _wait_of_caller(self, digest: str) -> float:
        """By her token or session, and by herself once its first request has told who she is: many give her no more."""
        wait, user_id = self._credentials.take(digest), self._callers.whose(digest)
        return self._users.take(user_id) if user_id and not wait else wait

    def _credential(self, scope: Scope) -> str:
        """What the caller is known by: pages have sessions and nothing else."""
        asked = HTTPConnection(scope)
        cookie = asked.cookies.get(cookie_name(self._settings, scope["scheme"]), "")
        authorization = asked.headers.get("authorization", "") if str(scope["path"]).startswith("/v1/") else ""
        token, session = credentials_of(authorization, cookie)
        return token or session

    async def _body(self, headers: Found, receive: Receive) -> bytes | None:
        """The whole body, or nothing when it is too large (by its own word, or when counted)."""
        announced = headers.get(b"content-length", b"0")
        fits = announced.isdigit() and len(announced) <= 12 and int(announced) <= self._most_bytes
        chunks, size, more = [], 0, True
        while more and fits:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect  # half a body is no request: what is cut off may read as something else
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            fits = size <= self._most_bytes
            more = message.get("more_body", False)
        if fits:
            return b"".join(chunks)
        if more:
            await _drain(receive, 8 * self._most_bytes)
        return None


async def _drain(receive: Receive, most_bytes: int) -> None:
    """Hear out a caller who sends too much, up to a point: one cut off in mid-sentence never reads the answer."""
    heard, more = 0, True
    while more and heard <= most_bytes:
        message = await receive()
        heard += len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once, then whatever else the connection says."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
