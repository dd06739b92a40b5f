"""Registration, and its end: the operator lets people in, hands out one-time codes, and can shut people out."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from pdqs.market import access, page_sessions, trail
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.idempotency import refuse_other_body, user_ids
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import users
from pdqs.market.store.sql import Found, insert_new
from pdqs.protocol.market_messages import Invitation, Member, NewUser, User
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType

_SERVER = User(user_id=trail.THE_SERVER, role="operator", name="the market", created_at_ms=0)
_FIRST_KEY = "first-operator"


def the_server() -> User:
    """Who acts when somebody at the machine itself does."""
    return _SERVER


def register_user(market: Market, actor: User, new: NewUser, key: str) -> Invitation:
    """Let someone in. Asked again with the same key, it gives a fresh code for the same user."""
    access.require(actor, "operator")
    (user_id,) = user_ids(market, actor, [key])
    user = User(user_id=user_id, role=new.role, name=new.name, created_at_ms=market.clock())
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)
        if insert_new(connection, users, user.model_dump()):
            note_deed(connection, actor, "invited", user.user_id, at_ms=user.created_at_ms)
        kept = user_by_id(connection, user.user_id)
        refuse_other_body((kept.role, kept.name) == (new.role, new.name))
        return _invitation(market, connection, kept, by=actor)


def renew_code(market: Market, actor: User, user_id: str) -> Invitation:
    """A fresh one-time code: for oneself (another device), or by an operator for anyone."""
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)
        user = _own_or_any(connection, actor, user_id)
        made = _invitation(market, connection, user, by=actor)
        if user_id != actor.user_id:
            note_deed(connection, actor, "code", user_id, at_ms=market.clock())
        return made


def revoke_all(market: Market, actor: User, user_id: str) -> User:
    """End every sign-in: page sessions, the token and a code not used yet; of oneself, or by an operator of anyone."""
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)
        user = _own_or_any(connection, actor, user_id)
        access.end_all(connection, user_id)
        trail.note(connection, user_id, "ended", by=actor.user_id, at_ms=market.clock())
        note_deed(connection, actor, "ended", user_id, at_ms=market.clock())
    market.callers.forget(user_id)
    return user


def disable_user(market: Market, actor: User, user_id: str) -> Member:
    """Shut someone out: every sign-in ends, and no code is made until she is let in again. Her money stays hers."""
    access.require(actor, "operator")
    refuse_disabling(market, actor, user_id)
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)
        known = _row(connection, user_id)
        access.end_all(connection, user_id)
        if known.disabled_at_ms is None:
            _set_disabled(connection, user_id, market.clock())
            trail.note(connection, user_id, "disabled", by=actor.user_id, at_ms=market.clock())
            note_deed(connection, actor, "disabled", user_id, at_ms=market.clock())
        kept = member_by_id(connection, user_id)
    market.callers.forget(user_id)
    return kept


def refuse_disabling(market: Market, actor: User, user_id: str) -> None:
    """Refuse to shut out oneself or the first operator: nobody could let them in again."""
    if user_id == actor.user_id or is_first_operator(market, user_id):
        raise ConflictError(ProblemType.WRONG_ACCOUNT, "neither yourself nor the first operator can be disabled")


def enable_user(market: Market, actor: User, user_id: str) -> Member:
    """Let someone in again, with a code that is to be made next. Who asked to be erased stays so."""
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)
        known = _row(connection, user_id)
        if known.erased_at_ms is not None:
            raise ConflictError(ProblemType.ACCOUNT_DISABLED, "this account was erased, and stays closed")
        if known.disabled_at_ms is not None:
            _set_disabled(connection, user_id, None)
            trail.note(connection, user_id, "enabled", by=actor.user_id, at_ms=market.clock())
            note_deed(connection, actor, "enabled", user_id, at_ms=market.clock())
        return member_by_id(connection, user_id)


def first_operator(market: Market) -> Invitation:
    """The operator that a market starts with, and a one-time code for her."""
    return register_user(market, _SERVER, NewUser(role="operator", name="operator"), _FIRST_KEY)


def first_operator_pages(market: Market) -> int:
    """How many browsers are signed in as that operator: a fresh code signs them out."""
    the_first = user_ids(market, _SERVER, [_FIRST_KEY])
    with market.store.read() as connection:
        first = select(users).where(users.c.user_id.in_(the_first))
        row = connection.execute(first).one_or_none()
        return len(page_sessions.listed(market, connection, access.user_from(row))) if row is not None else 0


def is_new(market: Market) -> bool:
    """Whether nobody was ever let in."""
    with market.store.read() as connection:
        return connection.execute(select(users.c.user_id).limit(1)).first() is None


def user_by_id(connection: Connection, user_id: str) -> User:
    """A user, or the answer that there is none."""
    return access.user_from(_row(connection, user_id))


def member_from(row: Found) -> Member:
    """A user as operators see her."""
    shut = {"disabled_at_ms": row.disabled_at_ms, "erased_at_ms": row.erased_at_ms}
    return Member(**access.user_from(row).model_dump(), **shut)


def member_by_id(connection: Connection, user_id: str) -> Member:
    """The same, as operators see her."""
    return member_from(_row(connection, user_id))


def is_first_operator(market: Market, user_id: str) -> bool:
    """Whether this is the operator that the market started with."""
    return [user_id] == user_ids(market, _SERVER, [_FIRST_KEY])


def _row(connection: Connection, user_id: str) -> Found:
    row = connection.execute(select(users).where(users.c.user_id == user_id)).one_or_none()
    if row is None:
        raise _nobody(user_id)
    return row


def _nobody(user_id: str) -> NotFoundError:
    return NotFoundError(ProblemType.NO_USER, f"there is no user {user_id} that you can see")


def _own_or_any(connection: Connection, actor: User, user_id: str) -> User:
    """Oneself, or for an operator anyone; to others nobody is there."""
    if actor.role != "operator" and actor.user_id != user_id:
        raise _nobody(user_id)
    return user_by_id(connection, user_id)


def _invitation(market: Market, connection: Connection, user: User, *, by: User) -> Invitation:
    if _row(connection, user.user_id).disabled_at_ms is not None:
        raise ConflictError(ProblemType.ACCOUNT_DISABLED, "this account is disabled: no code is made for it")
    code, expires = access.new_code(market, connection, user.user_id, by=by.user_id)
    return Invitation(user=user, code=code, expires_at_ms=expires)


def _set_disabled(connection: Connection, user_id: str, at_ms: int | None) -> None:
    connection.execute(update(users).where(users.c.user_id == user_id).values(disabled_at_ms=at_ms))
