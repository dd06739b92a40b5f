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

from pdqs.market import trail
from pdqs.market.context import Market
from pdqs.market.store.schema import codes, server_keys, sessions, users
from pdqs.market.store.sql import Found, insert_missing, put
from pdqs.protocol.market_messages import Role, Token, User
from pdqs.protocol.problems import ForbiddenError, ProblemType, UnauthorizedError

COOKIE = "pdqs_session"
_HOUR_MS = 3_600_000
_TRUST_MS = 5_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A page session. ``csrf_token`` is made from the cookie by the server's key: only our own pages can say it."""

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


def new_code(market: Market, connection: Connection, user_id: str, *, by: str) -> tuple[str, int]:
    """A one-time code for a user and when it runs out. The one before it is void, and her page sessions end."""
    code, now = _new_secret_word(), market.clock()
    expires = now + int(market.settings.code_hours * _HOUR_MS)
    row = {"user_id": user_id, "code_hash": hashed(code), "expires_at_ms": expires, "made_by": by}
    put(connection, codes, row, key="user_id")
    connection.execute(delete(sessions).where(sessions.c.user_id == user_id))
    trail.note(connection, user_id, "code", by=by, at_ms=now)
    return code, expires


def redeem(market: Market, code: str) -> User:
    """The user a code was made for; it works once."""
    with market.store.write() as connection:
        return _redeemed(market, connection, code)[0]


def redeem_for_token(market: Market, code: str) -> Token:
    """Exchange a code for a bearer token, in one transaction; the user's token before it is void."""
    with market.store.write() as connection:
        user, made_by = _redeemed(market, connection, code)
        trail.note(connection, user.user_id, "token", by=made_by, at_ms=market.clock())
        token = _new_token(connection, user)
    market.callers.forget(user.user_id)
    return Token(token=token, user=user)


def redeem_for_session(market: Market, code: str) -> Session:
    """Exchange a code for a page session, in one transaction."""
    with market.store.write() as connection:
        user, made_by = _redeemed(market, connection, code)
        trail.note(connection, user.user_id, "session", by=made_by, at_ms=market.clock())
        cookie, expires = _new_session(market, connection, user)
    return _session(market, user, cookie, expires)


def issue_token(market: Market, user: User) -> str:
    """A new bearer token; the one before it is void."""
    with market.store.write() as connection:
        token = _new_token(connection, user)
    market.callers.forget(user.user_id)
    return token


def start_session(market: Market, user: User) -> Session:
    """Begin a page session."""
    with market.store.write() as connection:
        cookie, expires = _new_session(market, connection, user)
    return _session(market, user, cookie, expires)


def session_of(market: Market, cookie: str) -> Session:
    """The session behind a cookie."""
    with market.store.read() as connection:
        row = connection.execute(
            select(users, sessions.c.expires_at_ms)
            .join(sessions, sessions.c.user_id == users.c.user_id)
            .where(sessions.c.cookie_hash == hashed(cookie), users.c.disabled_at_ms.is_(None))
        ).one_or_none()
    if row is None or row.expires_at_ms <= market.clock():
        raise UnauthorizedError(ProblemType.NO_SESSION, "sign in first: the session is unknown or has run out")
    return _session(market, user_from(row), cookie, row.expires_at_ms)


def end_session(market: Market, cookie: str) -> None:
    """Sign out."""
    with market.store.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.cookie_hash == hashed(cookie)))


def end_all(connection: Connection, user_id: str) -> None:
    """End every session, the token and the code of a user. Once that is committed, ``market.callers.forget`` her."""
    connection.execute(delete(sessions).where(sessions.c.user_id == user_id))
    connection.execute(delete(codes).where(codes.c.user_id == user_id))
    connection.execute(update(users).where(users.c.user_id == user_id).values(token_hash=None))


def user_of_token(market: Market, token: str) -> User:
    """The user behind a bearer token.

    A device asks several things in a row, so a token is looked up once in a while only: one that was ended is refused
    at once by the process that ended it, and within five seconds by any other.
    """
    digest, now = hashed(token), market.clock()
    known = market.callers.known(digest, now)
    if known is not None:
        return known
    ends = market.callers.ends()
    with market.store.look() as connection:
        row = connection.execute(_BY_TOKEN, {"token_hash": digest}).one_or_none()
    if row is None:
        raise UnauthorizedError(ProblemType.BAD_TOKEN, "the bearer token is unknown or has been replaced")
    user = user_from(row)
    market.callers.remember(digest, user, until_ms=now + _TRUST_MS, ends=ends)
    return user


def form_token(market: Market, purpose: str, cookie: str) -> str:
    """What a form must bring to prove that it came from a page of ours: made from the cookie by the server's key."""
    return hmac.new(_server_key(market), f"{purpose}:{cookie}".encode(), hashlib.sha256).hexdigest()


def is_form_token(market: Market, purpose: str, cookie: str, given: str) -> bool:
    """Whether a form brought the token of its cookie; without a cookie nothing is the right one."""
    expected = form_token(market, purpose, cookie)
    return bool(cookie) and hmac.compare_digest(expected.encode(), given.encode())


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


_BY_TOKEN = select(users).where(users.c.token_hash == bindparam("token_hash"), users.c.disabled_at_ms.is_(None))


def _redeemed(market: Market, connection: Connection, code: str) -> tuple[User, str]:
    """The user a code was made for, and who made it."""
    row = connection.execute(
        delete(codes)
        .where(codes.c.code_hash == hashed(code), codes.c.expires_at_ms > market.clock())
        .returning(codes.c.user_id, codes.c.made_by)
    ).one_or_none()
    if row is None:
        raise UnauthorizedError(
            ProblemType.BAD_CODE, "the one-time code is unknown, used or has run out: ask for another"
        )
    return user_from(connection.execute(select(users).where(users.c.user_id == row.user_id)).one()), row.made_by


def _new_token(connection: Connection, user: User) -> str:
    token = secrets.token_urlsafe(32)
    connection.execute(update(users).where(users.c.user_id == user.user_id).values(token_hash=hashed(token)))
    return token


def _new_session(market: Market, connection: Connection, user: User) -> tuple[str, int]:
    """The cookie of a session that begins now, and when it runs out."""
    now = market.clock()
    cookie = secrets.token_urlsafe(32)
    expires = now + int(market.settings.session_hours * _HOUR_MS)
    connection.execute(delete(sessions).where(sessions.c.expires_at_ms <= now))
    row = {"cookie_hash": hashed(cookie), "user_id": user.user_id, "expires_at_ms": expires}
    connection.execute(sessions.insert(), row)
    return cookie, expires


def _session(market: Market, user: User, cookie: str, expires_at_ms: int) -> Session:
    csrf_token = form_token(market, "csrf", cookie)
    return Session(user=user, cookie=cookie, csrf_token=csrf_token, expires_at_ms=expires_at_ms)


def _server_key(market: Market) -> bytes:
    """The key that form tokens are made with: one for all processes of a market, made when it is first needed."""
    known = market.keys.get("forms")
    if known is None:
        with market.store.write() as connection:
            insert_missing(connection, server_keys, [{"purpose": "forms", "key": secrets.token_hex(32)}])
            kept = connection.scalar(select(server_keys.c.key).where(server_keys.c.purpose == "forms"))
        known = market.keys["forms"] = bytes.fromhex(str(kept))
    return known
