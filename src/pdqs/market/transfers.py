"""Money in and out: deposits and payouts, which happen outside the market and are entered by the operator."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import Connection, Select, and_, select

from pdqs.market import access, ledger
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.people import user_by_id
from pdqs.market.store.schema import postings, transactions, users
from pdqs.market.store.sql import Found
from pdqs.model.money import exact_money
from pdqs.protocol.device_messages import MOST_MICROS
from pdqs.protocol.market_messages import (
    Posting,
    Transaction,
    Transfer,
    User,
)
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType
from pdqs.protocol.summaries import TransferLine, TransferPage

_MOST_IN_ALL = 10**17
Moving = Literal["deposit", "payout"]
_REVERSIBLE = ("deposit", "payout")


def deposit(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from outside onto a consumer's balance."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "deposit")


def pay_out(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from a balance to the outside: what the operator has paid by other means is entered here."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "payout")


_TAKEN_OFF = re.compile(r"payout:[^:]+:[0-9]+")
"""What :mod:`pdqs.market.overpaid` enters."""


def reverse(market: Market, actor: User, transaction_id: str) -> Transaction:
    """Undo a deposit or a payout by an entry that mirrors it; asked again, it is the same entry.

    Refused where it would overdraw: money that a consumer has put in escrow since cannot be taken back.
    """
    access.require(actor, "operator")
    with market.store.write() as connection:
        head = connection.execute(select(transactions).where(transactions.c.transaction_id == transaction_id)).first()
        if head is None:
            raise _no_transaction()
        if head.kind not in _REVERSIBLE:
            detail = f"a {head.kind} cannot be undone: only a deposit or a payout can"
            raise ConflictError(ProblemType.NOT_REVERSIBLE, detail)
        if _TAKEN_OFF.fullmatch(transaction_id):  # undone, what she holds already would be paid to her once more
            detail = "this was taken off what is owed for money that she had been paid already: it cannot be undone"
            raise ConflictError(ProblemType.NOT_REVERSIBLE, detail)
        first = transaction_message(connection, transaction_id)
        amounts = {line.account: -line.amount_micros for line in first.postings}
        undoing = _undoing(transaction_id)
        fresh = ledger.post(
            connection,
            ledger.Entry(transaction_id=undoing, kind="reversal", at_ms=market.clock(), amounts=amounts),
        )
        for account in amounts.keys() - {ledger.WORLD}:
            _refuse_beyond(connection, account)
        if fresh:
            note_deed(connection, actor, "reversal", undoing, at_ms=market.clock())
        return transaction_message(connection, undoing)


def journal(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> TransferPage:
    """Deposits, payouts and reversals, newest first."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        rows, following = newest_first(
            connection, _listed(), transactions.c.at_ms, transactions.c.transaction_id, after, limit
        )
        return TransferPage(items=_lines(connection, rows), next=following)


def one_transfer(market: Market, actor: User, transaction_id: str) -> TransferLine:
    """One of them."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        rows = connection.execute(_listed().where(transactions.c.transaction_id == transaction_id)).all()
        if not rows:
            raise _no_transaction()
        return _lines(connection, rows)[0]


def transfers_of(connection: Connection, names: Collection[str]) -> dict[str, TransferLine]:
    """Those of these transactions that are deposits, payouts or reversals, by their ids."""
    rows = connection.execute(_listed().where(transactions.c.transaction_id.in_(names))).all()
    return {line.transaction_id: line for line in _lines(connection, rows)}


def _no_transaction() -> NotFoundError:
    return NotFoundError(ProblemType.NO_TRANSACTION, "there is no transaction of that id")


def _undoing(transaction_id: str) -> str:
    return f"reversal:{transaction_id}"


def _listed() -> Select[object]:
    theirs = and_(postings.c.transaction_id == transactions.c.transaction_id, postings.c.account != ledger.WORLD)
    columns = (*transactions.c, postings.c.account, postings.c.amount_micros)
    return select(*columns).join(postings, theirs).where(transactions.c.kind.in_((*_REVERSIBLE, "reversal")))


def _lines(connection: Connection, rows: Sequence[Found]) -> list[TransferLine]:
    people = {row.account: row.account.partition(":")[2] for row in rows}
    named = select(users.c.user_id, users.c.name).where(users.c.user_id.in_(set(people.values())))
    names = {row.user_id: row.name for row in connection.execute(named)}
    mirrors = select(transactions.c.transaction_id).where(
        transactions.c.transaction_id.in_([_undoing(row.transaction_id) for row in rows])
    )
    undone = set(connection.scalars(mirrors))
    return [
        TransferLine(
            transaction_id=row.transaction_id,
            kind=row.kind,
            at_ms=row.at_ms,
            user_id=people[row.account],
            name=names.get(people[row.account], ""),
            amount_micros=row.amount_micros,
            undone=_undoing(row.transaction_id) in undone,
        )
        for row in rows
    ]


def _moved(market: Market, actor: User, transfer: Transfer, key: str, kind: Moving) -> Transaction:
    transaction_id = f"{kind}:{derived_id('t', actor, key)}"
    with market.store.write() as connection:
        user = user_by_id(connection, transfer.user_id)
        if user.role == "operator" or (kind == "deposit" and user.role != "consumer"):
            raise ConflictError(ProblemType.WRONG_ACCOUNT, f"a {kind} cannot be made for {user.role} {user.user_id}")
        signed = transfer.amount_micros if kind == "deposit" else -transfer.amount_micros
        account = ledger.account_of(user.role, user.user_id)
        amounts = {account: signed, ledger.WORLD: -signed}
        entry = ledger.Entry(transaction_id=transaction_id, kind=kind, at_ms=market.clock(), amounts=amounts)
        if ledger.post(connection, entry):
            note_deed(connection, actor, kind, transaction_id, at_ms=market.clock())
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
