"""Money that people gave up when their names were erased has accounts of its own: it was owed to them for ever.

Revision ID: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_BEFORE = ("world", "consumer", "owner", "escrow")
_SINCE = (*_BEFORE, "given-up")
_MOVED = """FROM accounts JOIN users ON accounts.account = users.role || ':' || users.user_id
    WHERE users.erased_at_ms IS NOT NULL AND accounts.balance_micros > 0 AND NOT EXISTS (
        SELECT 1 FROM postings JOIN transactions ON transactions.transaction_id = postings.transaction_id
        WHERE postings.account = accounts.account AND transactions.at_ms > users.erased_at_ms
    )"""
"""Whoever was erased with something on her balance gave it up; what came to it later she did not."""


def upgrade() -> None:
    """What was given up before is moved there too, as of the moment that it was."""
    _allow(_SINCE)
    given = "SELECT 'given-up:' || users.user_id"
    for step in (
        f"INSERT INTO transactions (transaction_id, kind, at_ms) {given}, 'given-up', users.erased_at_ms {_MOVED}",
        f"INSERT INTO accounts (account, kind, balance_micros) {given}, 'given-up', accounts.balance_micros {_MOVED}",
        f"""INSERT INTO postings (transaction_id, account, amount_micros)
            {given}, 'given-up:' || users.user_id, accounts.balance_micros {_MOVED}""",
        f"""INSERT INTO postings (transaction_id, account, amount_micros)
            {given}, accounts.account, -accounts.balance_micros {_MOVED}""",
        """UPDATE accounts SET balance_micros = 0 WHERE EXISTS (
            SELECT 1 FROM postings JOIN transactions ON transactions.transaction_id = postings.transaction_id
            WHERE postings.account = accounts.account AND transactions.kind = 'given-up' AND postings.amount_micros < 0
        )""",
    ):
        op.execute(sa.text(step))


def downgrade() -> None:
    """It is owed to them again."""
    for step in (
        """UPDATE accounts SET balance_micros = balance_micros - (
            SELECT COALESCE(SUM(postings.amount_micros), 0) FROM postings JOIN transactions
            ON transactions.transaction_id = postings.transaction_id
            WHERE postings.account = accounts.account AND transactions.kind = 'given-up'
        )""",
        """DELETE FROM postings WHERE transaction_id IN (
            SELECT transaction_id FROM transactions WHERE kind = 'given-up'
        )""",
        "DELETE FROM transactions WHERE kind = 'given-up'",
        "DELETE FROM accounts WHERE kind = 'given-up'",
    ):
        op.execute(sa.text(step))
    _allow(_BEFORE)


def _allow(kinds: tuple[str, ...]) -> None:
    """Have accounts be of these kinds. SQLite makes the table anew; postings find their accounts by the end of it."""
    known = f"kind IN ({', '.join(map(repr, kinds))})"
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("known_kind", "accounts", type_="check")
        op.create_check_constraint("known_kind", "accounts", known)
        return
    op.execute("PRAGMA defer_foreign_keys = ON")
    op.execute("CREATE TEMPORARY TABLE kept_accounts AS SELECT account, kind, balance_micros FROM accounts")
    op.drop_table("accounts")
    op.create_table(
        "accounts",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, sa.CheckConstraint(known, name="known_kind"), nullable=False),
        sa.Column("balance_micros", sa.Integer, nullable=False),
        sa.CheckConstraint("kind = 'world' OR balance_micros >= 0", name="balance_not_negative"),
        sqlite_strict=True,
    )
    op.create_index("accounts_by_kind", "accounts", ["kind", "account"])
    op.execute("INSERT INTO accounts (account, kind, balance_micros) SELECT * FROM kept_accounts")
    op.execute("DROP TABLE kept_accounts")
