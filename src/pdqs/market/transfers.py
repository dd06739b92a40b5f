"""Money in and out: deposits and payouts, which happen outside the market and are entered by the operator."""

from __future__ import annotations

from sqlalchemy import Connection, select

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.people import user_by_id
from pdqs.market.store.schema import postings, transactions
from pdqs.model.money import exact_money
from pdqs.protocol.device_messages import MOST_MICROS
from pdqs.protocol.market_messages import Posting, Transaction, Transfer, User
from pdqs.protocol.problems import ConflictError, ProblemType

_MOST_IN_ALL = 10**17


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
        user = user_by_id(connection, transfer.user_id)
        if user.role == "operator" or (kind == "deposit" and user.role != "consumer"):
            raise ConflictError(ProblemType.WRONG_ACCOUNT, f"a {kind} cannot be made for {user.role} {user.user_id}")
        signed = transfer.amount_micros if kind == "deposit" else -transfer.amount_micros
        account = ledger.account_of(user.role, user.user_id)
        amounts = {account: signed, ledger.WORLD: -signed}
        entry = ledger.Entry(transaction_id=transaction_id, kind=kind, at_ms=market.clock(), amounts=amounts)
        ledger.post(connection, entry)
        _refuse_beyond(connection, account)
        kept = transaction_message(connection, transaction_id)
        refuse_other_body({line.account: line.amount_micros for line in kept.postings} == amounts)
    return kept


def _refuse_beyond(connection: Connection, account: str) -> None:
    """A balance is exact in every program that reads it, and so bounded; what all of them hold together is too."""
    if ledger.balance(connection, account) > MOST_MICROS or -ledger.balance(connection, ledger.WORLD) > _MOST_IN_ALL:
        most = exact_money(MOST_MICROS)
        raise ConflictError(ProblemType.WRONG_ACCOUNT, f"a balance may hold at most {most}, and this would be more")


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
