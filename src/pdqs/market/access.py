"""Who is calling: one-time codes, and what they are exchanged for: tokens and page sessions, kept as hashes only."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from pdqs.market import api_tokens, page_sessions, trail
from pdqs.market.api_tokens import found_user, issue_token, known_user, make_token, user_of_token
from pdqs.market.context import Market
from pdqs.market.identity import (
    ID_DIGITS,
    SECRET_LETTERS,
    form_token,
    hashed,
    is_form_token,
    new_secret_word,
    no_sign_in,
    user_from,
)
from pdqs.market.page_sessions import COOKIE, Session, check_csrf, end_session, session_of, start_session
from pdqs.market.passkeys import end_one_passkey, end_passkeys, kept_passkeys
from pdqs.market.revocation import hold_people, require_signed_in
from pdqs.market.store.schema import codes, users
from pdqs.market.store.sql import Row, put_all
from pdqs.protocol.market_messages import USUAL_TOKEN_NAME, Role, Token, User
from pdqs.protocol.problems import ForbiddenError, ProblemType, UnauthorizedError
from pdqs.protocol.sign_ins import SignIns

__all__ = [
    "COOKIE",
    "ONE",
    "Session",
    "check_csrf",
    "end_all",
    "end_session",
    "end_sign_in",
    "form_token",
    "found_user",
    "hashed",
    "is_form_token",
    "issue_token",
    "known_user",
    "make_token",
    "new_code",
    "new_codes",
    "redeem",
    "redeem_for_session",
    "redeem_for_token",
    "require",
    "session_of",
    "sign_ins",
    "start_session",
    "user_from",
    "user_of_token",
    "whose_code",
]

_HOUR_MS = 3_600_000

ONE: dict[Role, str] = {"consumer": "a consumer", "owner": "an owner", "operator": "an operator"}
"""Someone of each role, in words."""


def require(actor: User, *roles: Role) -> None:
    """Refuse a caller whose role is none of these."""
    if actor.role not in roles:
        whom = " or ".join(f"{role}s" for role in roles)
        raise ForbiddenError(ProblemType.WRONG_ROLE, f"this is for {whom}, and you are {ONE[actor.role]}")


def new_code(market: Market, connection: Connection, user_id: str, *, by: str) -> tuple[str, int]:
    """A one-time code for a user and when it runs out. The one before it is void.

    Made by somebody else, it ends her page sessions; one that she makes herself, for another device of hers, does not.
    """
    found, expires = new_codes(market, connection, [user_id], by=by)
    return found[0], expires


def new_codes(market: Market, connection: Connection, user_ids: Sequence[str], *, by: str) -> tuple[list[str], int]:
    """The same for each of several users, in their order."""
    made, now = [new_secret_word() for _ in user_ids], market.clock()
    expires = now + int(market.settings.code_hours * _HOUR_MS)
    rows: list[Row] = [
        {"user_id": user_id, "code_hash": hashed(code), "expires_at_ms": expires, "made_by": by}
        for user_id, code in zip(user_ids, made, strict=True)
    ]
    put_all(connection, codes, rows, key="user_id")
    page_sessions.end_sessions(connection, *(user_id for user_id in user_ids if user_id != by))
    trail.note_of_each(connection, user_ids, "code", by=by, at_ms=now)
    return made, expires


def whose_code(market: Market, code: str) -> User:
    """The user that a code was made for; it is not used up by looking."""
    with market.store.read() as connection:
        row = connection.execute(
            select(users)
            .join(codes, codes.c.user_id == users.c.user_id)
            .where(codes.c.code_hash == hashed(code), codes.c.expires_at_ms > market.clock())
        ).one_or_none()
    if row is None:
        raise _bad_code(code)
    return user_from(row)


def redeem(market: Market, code: str) -> User:
    """The user a code was made for; it works once."""
    with market.store.write() as connection:
        return _redeemed(market, connection, code)[0]


def redeem_for_token(market: Market, code: str, name: str = USUAL_TOKEN_NAME) -> Token:
    """Exchange a code for a bearer token, in one transaction; the user's token of this name before it is void."""
    with market.store.write() as connection:
        user, made_by = _redeemed(market, connection, code)
        trail.note(connection, user.user_id, "token", by=made_by, at_ms=market.clock())
        token = api_tokens.new_token(market, connection, user, name)
    market.callers.forget(user.user_id)
    return Token(token=token, user=user)


def redeem_for_session(market: Market, code: str, *, device: str = "") -> Session:
    """Exchange a code for a page session, in one transaction."""
    with market.store.write() as connection:
        user, made_by = _redeemed(market, connection, code)
        trail.note(connection, user.user_id, "session", by=made_by, at_ms=market.clock())
        cookie = page_sessions.begin(market, connection, user, by=made_by, device=device)
    return session_of(market, cookie)


def sign_ins(market: Market, actor: User) -> SignIns:
    """Everything that can act as the caller."""
    with market.store.read() as connection:
        return sign_ins_in(market, connection, actor)


def sign_ins_in(market: Market, connection: Connection, actor: User) -> SignIns:
    """The same, in a transaction that reads more."""
    return SignIns(
        pages=page_sessions.listed(market, connection, actor),
        tokens=api_tokens.listed(connection, actor.user_id),
        passkeys=kept_passkeys(connection, actor.user_id),
    )


def end_sign_in(market: Market, actor: User, sign_in_id: str) -> None:
    """End one session, token or passkey of the caller; of anybody else's there is none."""
    kind, _, part = sign_in_id.partition("_")
    ways = {"s": page_sessions.end_one, "k": api_tokens.end_one, "p": end_one_passkey}
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        whole = len(part) == ID_DIGITS  # a shorter one would begin many
        if kind not in ways or not whole or not ways[kind](connection, actor.user_id, part):
            raise no_sign_in()
        trail.note(connection, actor.user_id, "ended-one", by=actor.user_id, at_ms=market.clock())
    market.callers.forget(actor.user_id)


def end_all(connection: Connection, user_id: str) -> None:
    """End every session, token, passkey and code of a user. Once committed, ``market.callers.forget`` her.

    Her row is held first: what is being made for her is there to be ended, or finds that it comes too late.
    """
    hold_people(connection, user_id)
    page_sessions.end_sessions(connection, user_id)
    api_tokens.end_tokens(connection, user_id)
    end_passkeys(connection, user_id)
    connection.execute(delete(codes).where(codes.c.user_id == user_id))


def _redeemed(market: Market, connection: Connection, code: str) -> tuple[User, str]:
    """The user a code was made for, and who made it. Her row is held first, as by whoever ends all that is hers."""
    theirs = connection.scalar(select(codes.c.user_id).where(codes.c.code_hash == hashed(code)))
    people, good = hold_people(connection, theirs or ""), codes.c.expires_at_ms > market.clock()
    row = connection.execute(
        delete(codes)
        .where(codes.c.code_hash == hashed(code), codes.c.user_id.in_(people), good)
        .returning(codes.c.user_id, codes.c.made_by)
    ).one_or_none()
    if row is None:
        raise _bad_code(code)
    return user_from(people[row.user_id]), row.made_by


def _bad_code(code: str) -> UnauthorizedError:
    """Why a code is none: another one would void the first, so that it is asked for only where that may be needed."""
    why = "the one-time code is unknown, used or has run out: ask for another"
    if len(code) != SECRET_LETTERS:
        why = "this is not a whole one-time code: copy all of it, or the whole link"
    return UnauthorizedError(ProblemType.BAD_CODE, why)
