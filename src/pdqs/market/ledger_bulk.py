"""A transaction with very many lines, entered by whole tables: a settlement may pay a million owners.

On PostgreSQL the lines are streamed into a table of this transaction alone, and everything else is a statement over it.
Rows are locked in the order that all transactions keep, by the bytes of the account's name, so that no two wait for
each other. SQLite has one writer and no such order to keep: one pass makes the accounts that are new and raises the
balances.
"""

from __future__ import annotations

from sqlalchemy import Connection, or_, text, update

from pdqs.market.store.schema import accounts, postings
from pdqs.market.store.sql import copy_rows, insert_by_thousands
from pdqs.model.money import exact_money
from pdqs.protocol.problems import ConflictError, ProblemType

OUTSIDE = "world"

_STEPS = (
    """INSERT INTO accounts (account, kind, balance_micros)
       SELECT account, split_part(account, ':', 1), 0 FROM entered_lines ORDER BY account COLLATE "C"
       ON CONFLICT DO NOTHING""",
    """SELECT count(*) FROM (
         SELECT 1 FROM accounts JOIN entered_lines USING (account) ORDER BY account COLLATE "C"
         FOR NO KEY UPDATE OF accounts
       ) AS held""",
    """INSERT INTO postings (transaction_id, account, amount_micros)
       SELECT :transaction_id, account, amount_micros FROM entered_lines""",
    """UPDATE accounts SET balance_micros = balance_micros + entered_lines.amount_micros
       FROM entered_lines WHERE accounts.account = entered_lines.account AND entered_lines.amount_micros > 0""",
)


_RAISED = " ON CONFLICT (account) DO UPDATE SET balance_micros = balance_micros + excluded.balance_micros"


def enter_many(connection: Connection, transaction_id: str, lines: list[tuple[str, int]]) -> None:
    """Accounts that are new, postings and balances of a transaction's lines."""
    if connection.dialect.name == "sqlite":
        raised = [(account, account.split(":")[0], max(0, amount)) for account, amount in lines]
        insert_by_thousands(connection, accounts, ["account", "kind", "balance_micros"], raised, _RAISED)
        entered = [(transaction_id, *line) for line in lines]
        insert_by_thousands(connection, postings, ["transaction_id", "account", "amount_micros"], entered)
    else:
        _raise_on_postgresql(connection, transaction_id, lines)
    for account, amount in lines:
        if amount < 0:
            take(connection, account, -amount)


def _raise_on_postgresql(connection: Connection, transaction_id: str, lines: list[tuple[str, int]]) -> None:
    connection.execute(
        text(
            "CREATE TEMPORARY TABLE entered_lines (account text NOT NULL, amount_micros bigint NOT NULL) ON COMMIT DROP"
        )
    )
    copy_rows(connection, "entered_lines", ["account", "amount_micros"], lines)
    connection.execute(text("ANALYZE entered_lines"))
    for step in _STEPS:
        named = {"transaction_id": transaction_id} if ":transaction_id" in step else {}
        connection.execute(text(step), named)


def take(connection: Connection, account: str, amount: int) -> None:
    """Lower a balance, unless that would leave less than nothing."""
    covered = or_(accounts.c.kind == OUTSIDE, accounts.c.balance_micros >= amount)
    taken = connection.execute(
        update(accounts)
        .where(accounts.c.account == account, covered)
        .values(balance_micros=accounts.c.balance_micros - amount)
    )
    if taken.rowcount != 1:
        raise ConflictError(ProblemType.INSUFFICIENT_FUNDS, f"the balance does not cover {exact_money(amount)}")
