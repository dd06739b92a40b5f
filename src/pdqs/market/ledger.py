"""Double-entry money in whole micro-units.

A transaction moves amounts between accounts and sums to zero. Its id is made from what it is about (``settlement:`` and
the round's id), and ids are unique: the same thing cannot be paid twice. Accounts are ``world`` (all that is outside
the market, and the only one that may go below zero), ``consumer:ID``, ``owner:ID``, ``escrow:ROUND`` and
``given-up:ID`` (what somebody gave up when her name was erased).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, final

from sqlalchemy import Connection, bindparam, func, select, update

from pdqs.market import ledger_bulk
from pdqs.market.store.schema import accounts, postings, transactions
from pdqs.market.store.sql import insert_many, insert_missing, insert_new
from pdqs.model.errors import ensure
from pdqs.model.money import exact_money
from pdqs.protocol.market_messages import AccountBalance, EntryKind, TrialBalance

WORLD = ledger_bulk.OUTSIDE
MANY = 500
"""From so many lines on a transaction is entered by whole tables."""
AccountKind = Literal["world", "consumer", "owner", "escrow", "given-up"]
ACCOUNT_KINDS: tuple[AccountKind, ...] = ("world", "consumer", "owner", "escrow", "given-up")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A transaction to be: amounts to add to accounts, summing to zero."""

    transaction_id: str
    kind: EntryKind
    at_ms: int
    amounts: Mapping[str, int]
    round_id: str | None = None

    def __post_init__(self) -> None:
        total = sum(self.amounts.values())
        ensure(total == 0, f"transaction {self.transaction_id} does not sum to zero: it is off by {exact_money(total)}")


def account_of(kind: AccountKind, identifier: str) -> str:
    """The name of an account.

    >>> account_of("escrow", "r_1")
    'escrow:r_1'
    """
    return f"{kind}:{identifier}"


def post(connection: Connection, entry: Entry) -> bool:
    """Enter a transaction and move the balances; False when it was entered before, and then nothing moves.

    Refuses (and so undoes the caller's transaction) when an account other than ``world`` would fall below zero.
    """
    row = {
        "transaction_id": entry.transaction_id,
        "kind": entry.kind,
        "at_ms": entry.at_ms,
        "round_id": entry.round_id,
    }
    if not insert_new(connection, transactions, row):
        return False
    # Accounts in one order for everyone: two transactions that wait for each other's rows would wait for ever.
    amounts = [(account, amount) for account, amount in sorted(entry.amounts.items()) if amount]
    if len(amounts) >= MANY:
        ledger_bulk.enter_many(connection, entry.transaction_id, amounts)
    else:
        _enter(connection, entry.transaction_id, amounts)
    return True


def _enter(connection: Connection, transaction_id: str, amounts: list[tuple[str, int]]) -> None:
    """Accounts that are new, postings and balances; line by line."""
    new = [{"account": account, "kind": account.split(":")[0], "balance_micros": 0} for account, _ in amounts]
    insert_missing(connection, accounts, new)
    rows = [{"transaction_id": transaction_id, "account": name, "amount_micros": x} for name, x in amounts]
    insert_many(connection, postings, rows)
    # One pass in that order, what is taken and what is given alike; gains that follow each other go together.
    for gaining, group in groupby(amounts, key=lambda line: line[1] > 0):
        if gaining:
            connection.execute(_GAIN, [{"gained": account, "amount": amount} for account, amount in group])
        else:
            for account, amount in group:
                ledger_bulk.take(connection, account, -amount)


_GAIN = (
    update(accounts)
    .where(accounts.c.account == bindparam("gained"))
    .values(balance_micros=accounts.c.balance_micros + bindparam("amount"))
)


def balance(connection: Connection, account: str) -> int:
    """What an account holds; nothing when it was never used."""
    return int(connection.scalar(select(accounts.c.balance_micros).where(accounts.c.account == account)) or 0)


def trial_balance(connection: Connection) -> TrialBalance:
    """The books, added up anew from every posting and compared with the balances kept."""
    held = {
        kind: (int(count), int(total))
        for kind, count, total in connection.execute(
            select(accounts.c.kind, func.count(), func.sum(accounts.c.balance_micros)).group_by(accounts.c.kind)
        )
    }
    posted = {
        kind: int(total)
        for kind, total in connection.execute(
            select(accounts.c.kind, func.sum(postings.c.amount_micros))
            .join(postings, postings.c.account == accounts.c.account)
            .group_by(accounts.c.kind)
        )
    }
    lines = [
        AccountBalance(
            account=kind,
            accounts=held.get(kind, (0, 0))[0],
            balance_micros=held.get(kind, (0, 0))[1],
            postings_micros=posted.get(kind, 0),
        )
        for kind in ACCOUNT_KINDS
    ]
    unbalanced, negative = _unbalanced(connection), _negative(connection)
    total = sum(line.postings_micros for line in lines)
    agree = all(line.balance_micros == line.postings_micros for line in lines)
    return TrialBalance(
        lines=lines,
        total_micros=total,
        transactions=int(connection.scalar(select(func.count()).select_from(transactions)) or 0),
        unbalanced_transactions=unbalanced,
        negative_accounts=negative,
        balanced=agree and total == 0 and not unbalanced and not negative,
    )


def _unbalanced(connection: Connection) -> int:
    """Transactions whose postings do not sum to zero."""
    off = (
        select(postings.c.transaction_id)
        .group_by(postings.c.transaction_id)
        .having(func.sum(postings.c.amount_micros) != 0)
        .subquery()
    )
    return int(connection.scalar(select(func.count()).select_from(off)) or 0)


def _negative(connection: Connection) -> int:
    """Accounts below zero, the world left out."""
    below = select(func.count()).where(accounts.c.kind != WORLD, accounts.c.balance_micros < 0)
    return int(connection.scalar(below) or 0)
