"""A transaction with very many lines, entered by whole tables: a settlement may pay a million owners.

The lines are streamed into a table of this transaction alone, and everything else is a statement over it. Rows are
locked in the order that all transactions keep, by the bytes of the account's name, so that no two wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, or_, text, update

from pdqs.market.store.schema import accounts
from pdqs.market.store.sql import copy_rows
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


def enter_many(connection: Connection, transaction_id: str, amounts: Iterable[tuple[str, int]]) -> None:
    """Accounts that are new, postings and balances of a transaction's lines, on PostgreSQL."""
    lines = list(amounts)
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
    for account, amount in lines:
        if amount < 0:
            take(connection, account, -amount)


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
