"""Commands of the operator: people in, money in and out."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, select

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.errors import ConflictError, NotFoundError
from pdqs.market.messages import Invitation, NewUser, Posting, Transaction, Transfer, User
from pdqs.market.schema import postings, transactions, users
from pdqs.market.sql import insert_new


def derived_id(prefix: str, actor: User, key: str) -> str:
    """The id of what a caller creates with an idempotency key: the same key makes the same thing."""
    return f"{prefix}_{hashlib.sha256(f'{prefix}|{actor.user_id}|{key}'.encode()).hexdigest()[:24]}"


def refuse_other_body(same: bool) -> None:
    """A key may be used again for the same request only."""
    if not same:
        raise ConflictError("idempotency-key-reused", "this Idempotency-Key was used before with another request")


def register_user(market: Market, actor: User, new: NewUser, key: str) -> Invitation:
    """Let someone in. Asked again with the same key, it gives a fresh code for the same user."""
    access.require(actor, "operator")
    user = User(user_id=derived_id("u", actor, key), role=new.role, name=new.name, created_at_ms=market.clock())
    with market.store.write() as connection:
        insert_new(connection, users, user.model_dump())
        kept = _user(connection, user.user_id)
        refuse_other_body((kept.role, kept.name) == (new.role, new.name))
        code, expires = access.new_code(market, connection, kept.user_id)
    return Invitation(user=kept, code=code, expires_at_ms=expires)


def renew_code(market: Market, actor: User, user_id: str) -> Invitation:
    """A fresh one-time code: for oneself (another device), or by an operator for anyone."""
    with market.store.write() as connection:
        if actor.role != "operator" and actor.user_id != user_id:
            raise NotFoundError("no-user", f"there is no user {user_id} that you can see")
        user = _user(connection, user_id)
        code, expires = access.new_code(market, connection, user_id)
    return Invitation(user=user, code=code, expires_at_ms=expires)


def first_operator(market: Market) -> Invitation:
    """The operator that a market starts with, and a one-time code for her."""
    clock = User(user_id=f"u_{'0' * 24}", role="operator", name="the market", created_at_ms=0)
    return register_user(market, clock, NewUser(role="operator", name="operator"), "first-operator")


def deposit(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from outside onto a consumer's balance."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "deposit")


def pay_out(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from a balance to the outside: what the operator has paid by other means is entered here."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "payout")


def _moved(market: Market, actor: User, transfer: Transfer, key: str, kind: ledger.Kind) -> Transaction:
    transaction_id = f"{kind}:{derived_id('t', actor, key)}"
    with market.store.write() as connection:
        user = _user(connection, transfer.user_id)
        if user.role == "operator" or (kind == "deposit" and user.role != "consumer"):
            raise ConflictError("wrong-account", f"a {kind} cannot be made for {user.role} {user.user_id}")
        signed = transfer.amount_micros if kind == "deposit" else -transfer.amount_micros
        account = ledger.account_of(user.role, user.user_id)
        amounts = {account: signed, ledger.WORLD: -signed}
        entry = ledger.Entry(transaction_id=transaction_id, kind=kind, at_ms=market.clock(), amounts=amounts)
        ledger.post(connection, entry)
        kept = transaction_message(connection, transaction_id)
        refuse_other_body({line.account: line.amount_micros for line in kept.postings} == amounts)
    return kept


def transaction_message(connection: Connection, transaction_id: str) -> Transaction:
    """A transaction with its postings."""
    head = connection.execute(select(transactions).where(transactions.c.transaction_id == transaction_id)).one()
    lines = connection.execute(
        select(postings).where(postings.c.transaction_id == transaction_id).order_by(postings.c.account)
    ).all()
    items = [
        Posting(
            transaction_id=transaction_id,
            kind=head.kind,
            account=line.account,
            amount_micros=line.amount_micros,
            at_ms=head.at_ms,
            round_id=head.round_id,
        )
        for line in lines
    ]
    return Transaction(transaction_id=transaction_id, kind=head.kind, at_ms=head.at_ms, postings=items)


def _user(connection: Connection, user_id: str) -> User:
    row = connection.execute(select(users).where(users.c.user_id == user_id)).one_or_none()
    if row is None:
        raise NotFoundError("no-user", f"there is no user {user_id} that you can see")
    return access.user_from(row)
