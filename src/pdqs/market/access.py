"""Who is calling: one-time codes, bearer tokens and page sessions. All are kept as hashes only.

A secret has 256 bits from the operating system, so a plain SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, bindparam, delete, select, update

from pdqs.market.context import Market
from pdqs.market.store.schema import codes, sessions, users
from pdqs.market.store.sql import Found, put
from pdqs.protocol.market_messages import Role, Token, User
from pdqs.protocol.problems import ForbiddenError, ProblemType, UnauthorizedError

COOKIE = "pdqs_session"
_HOUR_MS = 3_600_000
_TRUST_MS = 30_000
_REMEMBERED = 50_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A page session. ``csrf_token`` is made from the cookie, which another site can send but not read."""

    user: User
    cookie: str
    csrf_token: str
    expires_at_ms: int


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def require(actor: User, *roles: Role) -> None:
    """Refuse a caller whose role is none of these."""
    if actor.role not in roles:
        raise ForbiddenError(ProblemType.WRONG_ROLE, f"this is for {' or '.join(roles)}, and you are {actor.role}")


def user_from(row: Found) -> User:
    """A user as the table holds her."""
    return User(user_id=row.user_id, role=row.role, name=row.name, created_at_ms=row.created_at_ms)


def new_code(market: Market, connection: Connection, user_id: str) -> tuple[str, int]:
    """A one-time code for a user and when it runs out; the one before it is void."""
    code = _new_secret_word()
    expires = market.clock() + int(market.settings.code_hours * _HOUR_MS)
    put(connection, codes, {"user_id": user_id, "code_hash": hashed(code), "expires_at_ms": expires}, key="user_id")
    return code, expires


def redeem(market: Market, code: str) -> User:
    """The user a code was made for; it works once."""
    with market.store.write() as connection:
        return _redeemed(market, connection, code)


def redeem_for_token(market: Market, code: str) -> Token:
    """Exchange a code for a bearer token, in one transaction; the user's token before it is void."""
    with market.store.write() as connection:
        user = _redeemed(market, connection, code)
        return Token(token=_new_token(market, connection, user), user=user)


def redeem_for_session(market: Market, code: str) -> Session:
    """Exchange a code for a page session, in one transaction."""
    with market.store.write() as connection:
        return _new_session(market, connection, _redeemed(market, connection, code))


def issue_token(market: Market, user: User) -> str:
    """A new bearer token; the one before it is void."""
    with market.store.write() as connection:
        return _new_token(market, connection, user)


def start_session(market: Market, user: User) -> Session:
    """Begin a page session."""
    with market.store.write() as connection:
        return _new_session(market, connection, user)


def session_of(market: Market, cookie: str) -> Session:
    """The session behind a cookie."""
    with market.store.read() as connection:
        row = connection.execute(
            select(users, sessions.c.expires_at_ms)
            .join(sessions, sessions.c.user_id == users.c.user_id)
            .where(sessions.c.cookie_hash == hashed(cookie))
        ).one_or_none()
    if row is None or row.expires_at_ms <= market.clock():
        raise UnauthorizedError(ProblemType.NO_SESSION, "sign in first: the session is unknown or has run out")
    return Session(user=user_from(row), cookie=cookie, csrf_token=csrf_token(cookie), expires_at_ms=row.expires_at_ms)


def end_session(market: Market, cookie: str) -> None:
    """Sign out."""
    with market.store.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.cookie_hash == hashed(cookie)))


def user_of_token(market: Market, token: str) -> User:
    """The user behind a bearer token.

    A device asks several things in a row, so a token is looked up once in a while only: one that was replaced is
    refused at once by the process that replaced it, and within half a minute by any other.
    """
    digest, now = hashed(token), market.clock()
    known, until = market.callers.get(digest, (None, 0))
    if known is not None and now < until:
        return known
    with market.store.look() as connection:
        row = connection.execute(_BY_TOKEN, {"token_hash": digest}).one_or_none()
    if row is None:
        raise UnauthorizedError(ProblemType.BAD_TOKEN, "the bearer token is unknown or has been replaced")
    if len(market.callers) >= _REMEMBERED:
        market.callers.clear()
    user = user_from(row)
    market.callers[digest] = (user, now + _TRUST_MS)
    return user


def csrf_token(cookie: str) -> str:
    """The token that proves a form came from a page of this session."""
    return hashlib.sha256(b"csrf:" + cookie.encode()).hexdigest()


def check_csrf(session: Session, given: str) -> None:
    """Refuse a request that another site made in the user's name."""
    if not hmac.compare_digest(session.csrf_token.encode(), given.encode()):
        raise ForbiddenError(ProblemType.BAD_CSRF_TOKEN, "the form has run out: reload the page and try again")


def _new_secret_word() -> str:
    """256 random bits to type on a command line, where a word that begins with a dash would be read as an option."""
    word = secrets.token_urlsafe(32)
    while word.startswith("-"):
        word = secrets.token_urlsafe(32)
    return word


_BY_TOKEN = select(users).where(users.c.token_hash == bindparam("token_hash"))


def _redeemed(market: Market, connection: Connection, code: str) -> User:
    row = connection.execute(
        delete(codes)
        .where(codes.c.code_hash == hashed(code), codes.c.expires_at_ms > market.clock())
        .returning(codes.c.user_id)
    ).one_or_none()
    if row is None:
        raise UnauthorizedError(
            ProblemType.BAD_CODE, "the one-time code is unknown, used or has run out: ask for another"
        )
    return user_from(connection.execute(select(users).where(users.c.user_id == row.user_id)).one())


def _new_token(market: Market, connection: Connection, user: User) -> str:
    token = secrets.token_urlsafe(32)
    for digest in [digest for digest, (known, _) in market.callers.copy().items() if known.user_id == user.user_id]:
        market.callers.pop(digest, None)
    connection.execute(update(users).where(users.c.user_id == user.user_id).values(token_hash=hashed(token)))
    return token


def _new_session(market: Market, connection: Connection, user: User) -> Session:
    now = market.clock()
    cookie = secrets.token_urlsafe(32)
    expires = now + int(market.settings.session_hours * _HOUR_MS)
    connection.execute(delete(sessions).where(sessions.c.expires_at_ms <= now))
    row = {"cookie_hash": hashed(cookie), "user_id": user.user_id, "expires_at_ms": expires}
    connection.execute(sessions.insert(), row)
    return Session(user=user, cookie=cookie, csrf_token=csrf_token(cookie), expires_at_ms=expires)
