"""Undoing an entry of the ledger by a second one that mirrors it, once."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, select

from pdqs.market import ledger
from pdqs.market.store.schema import postings, transactions

_OF = "reversal:"
_AT_ONCE = 10_000  # names in a statement: PostgreSQL takes at most 65,535


def undoing(transaction_id: str) -> str:
    """The name of the entry that undoes another.

    >>> undoing("deposit:t_1")
    'reversal:deposit:t_1'
    """
    return _OF + transaction_id


def stands(transaction_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Of an entry by its name, in a statement: that no other undoes it."""
    mirrors = transactions.alias("mirrors")
    return ~select(mirrors.c.transaction_id).where(mirrors.c.transaction_id == _OF + transaction_id).exists()


def undone_among(connection: Connection, names: Collection[str]) -> set[str]:
    """Those of these transactions that were undone."""
    mirrors, found = {undoing(name): name for name in names}, set[str]()
    asked, name = list(mirrors), transactions.c.transaction_id
    for first in range(0, len(asked), _AT_ONCE):
        some = select(name).where(name.in_(asked[first : first + _AT_ONCE]))
        found.update(mirrors[mirror] for mirror in connection.scalars(some))
    return found


def mirror(connection: Connection, transaction_id: str, now: int) -> bool:
    """Enter the mirror of a transaction; False when it was undone before, and then nothing moves."""
    mine = select(postings.c.account, postings.c.amount_micros).where(postings.c.transaction_id == transaction_id)
    amounts = {row.account: -row.amount_micros for row in connection.execute(mine)}
    name = undoing(transaction_id)
    return ledger.post(connection, ledger.Entry(transaction_id=name, kind="reversal", at_ms=now, amounts=amounts))
