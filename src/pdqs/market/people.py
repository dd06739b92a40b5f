"""Registration: the operator lets people in, and hands out one-time codes."""

from __future__ import annotations

from sqlalchemy import Connection, select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.store.schema import users
from pdqs.market.store.sql import insert_new
from pdqs.protocol.market_messages import Invitation, NewUser, User
from pdqs.protocol.problems import NotFoundError, ProblemType


def register_user(market: Market, actor: User, new: NewUser, key: str) -> Invitation:
    """Let someone in. Asked again with the same key, it gives a fresh code for the same user."""
    access.require(actor, "operator")
    user = User(user_id=derived_id("u", actor, key), role=new.role, name=new.name, created_at_ms=market.clock())
    with market.store.write() as connection:
        insert_new(connection, users, user.model_dump())
        kept = user_by_id(connection, user.user_id)
        refuse_other_body((kept.role, kept.name) == (new.role, new.name))
        code, expires = access.new_code(market, connection, kept.user_id)
    return Invitation(user=kept, code=code, expires_at_ms=expires)


def renew_code(market: Market, actor: User, user_id: str) -> Invitation:
    """A fresh one-time code: for oneself (another device), or by an operator for anyone."""
    with market.store.write() as connection:
        if actor.role != "operator" and actor.user_id != user_id:
            raise NotFoundError(ProblemType.NO_USER, f"there is no user {user_id} that you can see")
        user = user_by_id(connection, user_id)
        code, expires = access.new_code(market, connection, user_id)
    return Invitation(user=user, code=code, expires_at_ms=expires)


def first_operator(market: Market) -> Invitation:
    """The operator that a market starts with, and a one-time code for her."""
    clock = User(user_id=f"u_{'0' * 24}", role="operator", name="the market", created_at_ms=0)
    return register_user(market, clock, NewUser(role="operator", name="operator"), "first-operator")


def user_by_id(connection: Connection, user_id: str) -> User:
    """A user, or the answer that there is none."""
    row = connection.execute(select(users).where(users.c.user_id == user_id)).one_or_none()
    if row is None:
        raise NotFoundError(ProblemType.NO_USER, f"there is no user {user_id} that you can see")
    return access.user_from(row)
