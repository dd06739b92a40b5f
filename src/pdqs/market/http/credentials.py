"""Who is calling over HTTP: a bearer token, or a page's session cookie with its CSRF token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, final

from fastapi import Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase
from sqlalchemy.exc import DBAPIError

from pdqs.market import access, passkeys
from pdqs.market.access import Session
from pdqs.market.context import Market
from pdqs.market.http.cookies import read_cookie
from pdqs.market.http.limits import credentials_of
from pdqs.market.http.together import Gathered
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ProblemType, UnauthorizedError

CSRF_HEADER = "x-csrf-token"
_SECRET = re.compile(r"[A-Za-z0-9_-]{20,80}")
_SAFE = frozenset({"GET", "HEAD"})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A credential that has the right shape. :meth:`user` looks it up, in the thread that does the work."""

    market: Market
    gathered: Gathered
    token: str
    cookie: str
    csrf_token: str
    changes_something: bool

    def user(self) -> User:
        """The user behind the credential."""
        if self.token:
            return access.user_of_token(self.market, self.token)
        return self._session().user

    async def user_among_others(self) -> User:
        """Who it was a moment ago, without a thread of its own: a token is looked up together with those of others.

        Only for a bid that is kept with others, whose transaction looks once more whether she is still in.
        """
        if not self.token:
            return await run_in_threadpool(self.user)
        known = access.known_user(self.market, self.token)
        if known is not None:
            return known
        try:
            return access.found_user(await self.gathered.users.ask(access.hashed(self.token)))
        except DBAPIError:  # of whoever's look-up: hers may do
            return await run_in_threadpool(self.user)

    def fresh_user(self) -> User:
        """The same, for what outlives a session: that must have begun just now, where there is a passkey to show."""
        if self.token:
            return self.user()
        session = self._session()
        passkeys.require_fresh(self.market, session)
        return session.user

    def _session(self) -> Session:
        session = access.session_of(self.market, self.cookie)
        if self.changes_something or self.csrf_token:  # a page of an earlier session reads nothing as whoever is in now
            access.check_csrf(session, self.csrf_token)
        return session


@final
class Credential(SecurityBase):
    """The credential of a request, as the API's description has it."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(description="A token from POST /v1/tokens")
        self.scheme_name = "bearer"

    async def __call__(self, request: Request) -> Caller:
        """Refuse a caller without a credential before anything else is looked at."""
        token, cookie = credentials_of(request.headers.get("authorization", ""), read_cookie(request))
        if not _SECRET.fullmatch(token or cookie):
            raise UnauthorizedError(
                ProblemType.NO_CREDENTIAL, "send 'Authorization: Bearer TOKEN', or sign in on the pages"
            )
        return Caller(
            market=request.app.state.market,
            gathered=request.app.state.gathered,
            token=token,
            cookie=cookie,
            csrf_token=request.headers.get(CSRF_HEADER, ""),
            changes_something=request.method not in _SAFE,
        )


Calling = Annotated[Caller, Security(Credential())]
