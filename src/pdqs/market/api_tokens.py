"""Bearer tokens: several a user, each with a name of its own, a time of its last use, and an end."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import ARRAY, Connection, Text, any_, bindparam, delete, select, update
from sqlalchemy.exc import SQLAlchemyError

from pdqs.market import trail
from pdqs.market.context import Market
from pdqs.market.identity import SignedIn, hashed, short_id
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import tokens, users
from pdqs.market.store.sql import Found
from pdqs.protocol.market_messages import USUAL_TOKEN_NAME, Token, User
from pdqs.protocol.problems import ConflictError, ProblemType, UnauthorizedError
from pdqs.protocol.sign_ins import KeptToken

MOST_TOKENS = 20
"""How many a user may have at a time."""

_REMEMBERED_MS = 5_000
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
    """The same in a transaction that is under way. Once that is committed, ``market.callers.forget`` the user.

    Her row is held, so that of two at once the second sees the first, and none is made that an end of all overlooks.
    """
    require_signed_in(connection, user)
    token, now = secrets.token_urlsafe(32), market.clock()
    held = connection.scalars(select(tokens.c.name).where(tokens.c.user_id == user.user_id)).all()
    if name in held:
        connection.execute(delete(tokens).where(tokens.c.user_id == user.user_id, tokens.c.name == name))
    elif len(held) >= MOST_TOKENS:
        raise ConflictError(ProblemType.TOO_MANY, f"you have {len(held)} tokens, which is the most: end one first")
    row = {"token_hash": hashed(token), "user_id": user.user_id, "name": name}
    connection.execute(tokens.insert(), {**row, "created_at_ms": now, "used_at_ms": now})
    return token


def user_of_token(market: Market, token: str) -> User:
    """The user behind a bearer token, looked up anew: one that was ended is refused at once, whoever ended it."""
    return found_user(users_of_tokens(market, [hashed(token)])[0])


def known_user(market: Market, token: str) -> User | None:
    """The user behind a token that was looked up a moment ago; asks no database.

    It may have been ended since, elsewhere: this is for what looks itself whether it is still there, as bids do.
    """
    return market.callers.known(hashed(token), market.clock())


def found_user(user: User | None) -> User:
    """The user whom a look-up found, or a refusal."""
    if user is None:
        # One sentence for all of it: who has no token of ours is not to learn whether there is such an account.
        raise UnauthorizedError(
            ProblemType.BAD_TOKEN,
            "this token is not taken, or no longer: a newer one was made, its sign-in was ended, or the account was"
            " closed; whoever runs the market can make a fresh code",
        )
    return user


def users_of_tokens(market: Market, digests: Sequence[str]) -> list[User | None]:
    """The users behind tokens, by their hashes, which are remembered for a while; nobody for one that is not known."""
    now, ends = market.clock(), market.callers.ends()
    with market.store.look() as connection:
        rows = {row.token_hash: row for row in _rows_of_tokens(connection, digests)}
    users_found = {digest: SignedIn.by("token", digest, row) for digest, row in rows.items()}
    for digest, user in users_found.items():
        market.callers.note_whose(digest, user.user_id)
        market.callers.remember(digest, user, until_ms=now + _REMEMBERED_MS, ends=ends)
    long_unused = [digest for digest, row in rows.items() if now - row.used_at_ms >= _NOTED_MS]
    if long_unused:
        _note_uses(market, long_unused, now)
    return [users_found.get(digest) for digest in digests]


def _rows_of_tokens(connection: Connection, digests: Sequence[str]) -> Sequence[Found]:
    """One trip for all of them; SQLite is no trip away."""
    if connection.dialect.name == "sqlite" or len(digests) == 1:
        return [row for digest in digests for row in connection.execute(_BY_TOKEN, {"token_hash": digest})]
    return connection.execute(_BY_TOKENS, {"token_hashes": list(digests)}).all()


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


_OF_TOKENS = (
    select(*(users.c[name] for name in User.model_fields), tokens.c.used_at_ms, tokens.c.token_hash)
    .join(tokens, tokens.c.user_id == users.c.user_id)
    .where(users.c.disabled_at_ms.is_(None))
)
_BY_TOKEN = _OF_TOKENS.where(tokens.c.token_hash == bindparam("token_hash"))
_BY_TOKENS = _OF_TOKENS.where(tokens.c.token_hash == any_(bindparam("token_hashes", type_=ARRAY(Text))))


def _note_uses(market: Market, digests: Sequence[str], now: int) -> None:
    """Keep when tokens were last used, unless the database or a row is busy: the next request will. Nobody waits."""
    free = (
        select(tokens.c.token_hash)
        .where(tokens.c.token_hash.in_(digests))
        .with_for_update(skip_locked=True, key_share=True)
    )
    with suppress(SQLAlchemyError), market.store.try_write() as connection:
        if connection is not None:
            connection.execute(update(tokens).where(tokens.c.token_hash.in_(free)).values(used_at_ms=now))
