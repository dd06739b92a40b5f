"""Money in and out: deposits, payouts and refunds, which happen outside the market and are entered by the operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import Connection, Select, and_, func, select

from pdqs.market import access, ledger, payout_undoing, reversals
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.people import member_by_id
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import accounts, postings, rounds, transactions, users
from pdqs.market.store.sql import Found
from pdqs.model.money import Currency
from pdqs.protocol.device_messages import MOST_MICROS
from pdqs.protocol.market_messages import (
    MOST_BUDGET_MICROS,
    Posting,
    Transaction,
    Transfer,
    User,
)
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType
from pdqs.protocol.summaries import TransferLine, TransferPage

_MOST_IN_ALL = 10**17
Moving = Literal["deposit", "payout", "refund"]
_FOR: dict[Moving, Literal["consumer", "owner"]] = {"deposit": "consumer", "payout": "owner", "refund": "consumer"}
"""Whose balance each changes."""
_TAKEN_OFF = (
    "this was taken off what is owed for money that she had been paid already: it cannot be undone by itself."
    " If she does not have that money after all, say of the whole payment that it came back"
)

_NOBODYS = "this account was erased at its owner's wish: nobody could use the money, and none is taken for it"


def deposit(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from outside onto a consumer's balance."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "deposit")


def pay_out(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """Money from an owner's balance to the outside: what she was paid by other means is entered here."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "payout")


def refund(market: Market, actor: User, transfer: Transfer, key: str) -> Transaction:
    """A consumer's unspent money back to her, by other means; what rounds hold of it is not on her balance."""
    access.require(actor, "operator")
    return _moved(market, actor, transfer, key, "refund")


def reverse(market: Market, actor: User, transaction_id: str) -> Transaction:
    """Undo a deposit, a payout or a refund by an entry that mirrors it; asked again, it is the same entry.

    Refused where it would overdraw: money that a consumer has put in escrow since cannot be taken back. A payout of a
    batch is undone with all its parts (``payout_undoing.py``).
    """
    access.require(actor, "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        head = connection.execute(select(transactions).where(transactions.c.transaction_id == transaction_id)).first()
        if head is None:
            raise _no_transaction()
        if head.kind not in _FOR:
            detail = f"a {head.kind} cannot be undone: only a deposit, a payout or a refund can"
            raise ConflictError(ProblemType.NOT_REVERSIBLE, detail)
        if payout_undoing.is_taking_off(transaction_id):  # what she holds already would be paid to her once more
            raise ConflictError(ProblemType.NOT_REVERSIBLE, _TAKEN_OFF)
        line = payout_undoing.line_of(connection, transaction_id, held=True)
        fresh = transaction_id not in reversals.undone_among(connection, [transaction_id])
        if fresh and line is not None:
            payout_undoing.undo(connection, line, market.clock())
        elif fresh:
            fresh = reversals.mirror(connection, transaction_id, market.clock())
        undoing = reversals.undoing(transaction_id)
        undone = transaction_message(connection, undoing)
        for account in {one.account for one in undone.postings if one.amount_micros > 0} - {ledger.WORLD}:
            _refuse_beyond(connection, account, market.settings.money)
        if fresh:
            note_deed(connection, actor, "reversal", undoing, at_ms=market.clock())
        return undone


def journal(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> TransferPage:
    """Deposits, payouts, refunds and reversals, newest first."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        rows, following = newest_first(
            connection, _listed(), transactions.c.at_ms, transactions.c.transaction_id, after, limit
        )
        return TransferPage(items=_lines(connection, rows), next=following)


def one_transfer(market: Market, actor: User, transaction_id: str) -> TransferLine:
    """One of them."""
    access.require(actor, "operator")
    if "\x00" in transaction_id:  # no id has it, and PostgreSQL would not even look
        raise _no_transaction()
    with market.store.read() as connection:
        rows = connection.execute(_listed().where(transactions.c.transaction_id == transaction_id)).all()
        if not rows:
            raise _no_transaction()
        return _lines(connection, rows)[0]


def transfers_of(connection: Connection, names: Collection[str]) -> dict[str, TransferLine]:
    """Those of these transactions that are deposits, payouts, refunds or reversals, by their ids."""
    rows = connection.execute(_listed().where(transactions.c.transaction_id.in_(names))).all()
    return {line.transaction_id: line for line in _lines(connection, rows)}


def _no_transaction() -> NotFoundError:
    return NotFoundError(ProblemType.NO_TRANSACTION, "there is no transaction of that id")


def _listed() -> Select[object]:
    theirs = and_(postings.c.transaction_id == transactions.c.transaction_id, postings.c.account != ledger.WORLD)
    columns = (*transactions.c, postings.c.account, postings.c.amount_micros)
    return select(*columns).join(postings, theirs).where(transactions.c.kind.in_((*_FOR, "reversal")))


def _lines(connection: Connection, rows: Sequence[Found]) -> list[TransferLine]:
    people = {row.account: row.account.partition(":")[2] for row in rows}
    named = select(users.c.user_id, users.c.name).where(users.c.user_id.in_(set(people.values())))
    names = {row.user_id: row.name for row in connection.execute(named)}
    undone = reversals.undone_among(connection, [row.transaction_id for row in rows])
    return [
        TransferLine(
            transaction_id=row.transaction_id,
            kind=row.kind,
            at_ms=row.at_ms,
            user_id=people[row.account],
            name=names.get(people[row.account], ""),
            amount_micros=row.amount_micros,
            undone=row.transaction_id in undone,
        )
        for row in rows
    ]


def _moved(market: Market, actor: User, transfer: Transfer, key: str, kind: Moving) -> Transaction:
    transaction_id = f"{kind}:{derived_id('t', actor, key)}"
    with market.store.write() as connection:
        require_signed_in(connection, actor, transfer.user_id)
        user = member_by_id(connection, transfer.user_id)
        if user.role != _FOR[kind]:
            raise ConflictError(ProblemType.WRONG_ACCOUNT, f"a {kind} cannot be made for {user.role} {user.user_id}")
        signed = transfer.amount_micros if kind == "deposit" else -transfer.amount_micros
        account = ledger.account_of(_FOR[kind], user.user_id)
        amounts = {account: signed, ledger.WORLD: -signed}
        entry = ledger.Entry(transaction_id=transaction_id, kind=kind, at_ms=market.clock(), amounts=amounts)
        if ledger.post(connection, entry):
            if kind == "deposit" and user.erased_at_ms is not None:
                raise ConflictError(ProblemType.WRONG_ACCOUNT, _NOBODYS)
            note_deed(connection, actor, kind, transaction_id, at_ms=market.clock())
        if signed > 0:
            _refuse_beyond(connection, account, market.settings.money)
        kept = transaction_message(connection, transaction_id)
        refuse_other_body({line.account: line.amount_micros for line in kept.postings} == amounts)
    return kept


def limits_told(money: Currency) -> str:
    """What bounds money that moves: the amount of one entry, and what a balance comes to."""
    once, held = money.exact(MOST_BUDGET_MICROS), money.exact(MOST_MICROS)
    return f"one entry moves at most {once}, and a balance may hold at most {held}, with what rounds hold of it"


def _refuse_beyond(connection: Connection, account: str, money: Currency) -> None:
    """A balance is exact in every program that reads it, and so bounded; what all of them hold together is too.

    What rounds hold for a consumer may all come back to her, so it is counted as hers.
    """
    held = ledger.balance(connection, account) + in_escrow(connection, account)
    if held > MOST_MICROS:
        raise ConflictError(ProblemType.WRONG_ACCOUNT, f"this would be too much: {limits_told(money)}")
    if -ledger.balance(connection, ledger.WORLD) > _MOST_IN_ALL:
        detail = f"this would be too much: all balances of a market together hold at most {money.exact(_MOST_IN_ALL)}"
        raise ConflictError(ProblemType.WRONG_ACCOUNT, detail)


def in_escrow(connection: Connection, account: str) -> int:
    """What rounds hold of a consumer's money; of nobody else's do they hold any."""
    hers = (rounds.c.consumer_id == account.partition(":")[2]) & rounds.c.ended_at_ms.is_(None)
    escrows = select(ledger.account_of("escrow", "") + rounds.c.round_id).where(hers)
    summed = select(func.sum(accounts.c.balance_micros)).where(accounts.c.account.in_(escrows))
    return int(connection.scalar(summed) or 0)


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
