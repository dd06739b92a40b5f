"""Bearer tokens: several a user, each with a name of its own, a time of its last use, and an end."""

from __future__ import annotations

import secrets
from contextlib import suppress

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.exc import OperationalError

from pdqs.market import trail
from pdqs.market.context import Market
from pdqs.market.identity import hashed, short_id, user_from
from pdqs.market.store.schema import tokens, users
from pdqs.protocol.market_messages import USUAL_TOKEN_NAME, Token, User
from pdqs.protocol.problems import ConflictError, ProblemType, UnauthorizedError
from pdqs.protocol.sign_ins import KeptToken

MOST_TOKENS = 20
"""How many a user may have at a time."""

_TRUST_MS = 5_000
_NOTED_MS = 3_600_000


def issue_token(market: Market, user: User, name: str = USUAL_TOKEN_NAME) -> str:
    """A new bearer token; the one of the same name before it is void."""
    with market.store.write() as connection:
        token = new_token(market, connection, user, name)
    market.callers.forget(user.user_id)
    return token


def make_token(market: Market, actor: User, name: str, *, by: str) -> Token:
    """A new bearer token for the caller, shown this once, and a line in her list of sign-ins."""
    with market.store.write() as connection:
        token = new_token(market, connection, actor, name)
        trail.note(connection, actor.user_id, "token", by=by, at_ms=market.clock())
    market.callers.forget(actor.user_id)
    return Token(token=token, user=actor)


def new_token(market: Market, connection: Connection, user: User, name: str) -> str:
    """The same in a transaction that is under way. Once that is committed, ``market.callers.forget`` the user."""
    token, now = secrets.token_urlsafe(32), market.clock()
    connection.execute(delete(tokens).where(tokens.c.user_id == user.user_id, tokens.c.name == name))
    held = connection.scalar(select(func.count()).select_from(tokens).where(tokens.c.user_id == user.user_id)) or 0
    if held >= MOST_TOKENS:
        raise ConflictError(ProblemType.TOO_MANY, f"you have {held} tokens, which is the most: end one first")
    row = {"token_hash": hashed(token), "user_id": user.user_id, "name": name}
    connection.execute(tokens.insert(), {**row, "created_at_ms": now, "used_at_ms": now})
    return token


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
    if now - row.used_at_ms >= _NOTED_MS:
        _note_use(market, digest, now)
    return user


def end_tokens(connection: Connection, user_id: str) -> None:
    """End every token of a user."""
    connection.execute(delete(tokens).where(tokens.c.user_id == user_id))


def end_one(connection: Connection, user_id: str, part: str) -> bool:
    """End the token of a user whose hash begins so; whether there was one."""
    hers = (tokens.c.user_id == user_id) & tokens.c.token_hash.startswith(part, autoescape=True)
    return connection.execute(delete(tokens).where(hers)).rowcount > 0


def listed(connection: Connection, user_id: str) -> list[KeptToken]:
    """The tokens of a user, newest first."""
    hers = select(tokens).where(tokens.c.user_id == user_id).order_by(tokens.c.created_at_ms.desc(), tokens.c.name)
    return [
        KeptToken(
            sign_in_id=short_id("k", row.token_hash),
            name=row.name,
            created_at_ms=row.created_at_ms,
            used_at_ms=row.used_at_ms,
        )
        for row in connection.execute(hers)
    ]


_BY_TOKEN = (
    select(users, tokens.c.used_at_ms)
    .join(tokens, tokens.c.user_id == users.c.user_id)
    .where(tokens.c.token_hash == bindparam("token_hash"), users.c.disabled_at_ms.is_(None))
)


def _note_use(market: Market, digest: str, now: int) -> None:
    """Keep when a token was last used, unless the database is busy: the next request will."""
    with suppress(OperationalError), market.store.try_write() as connection:
        if connection is not None:
            connection.execute(update(tokens).where(tokens.c.token_hash == digest).values(used_at_ms=now))
