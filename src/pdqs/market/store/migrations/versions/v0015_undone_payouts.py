"""A payout of a batch remembers how often what was entered of it was undone: paid on a later attempt, it is news.

Revision ID: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_UNDONE = "EXISTS (SELECT 1 FROM transactions WHERE transaction_id = 'reversal:payout:' || payout_lines.reference)"
_LATER = "'payout:' || payout_lines.reference || ':'"
_STANDS = f"""(
    SELECT COALESCE(-SUM(postings.amount_micros), 0) FROM postings
    WHERE postings.account = 'owner:' || payout_lines.user_id
    AND substr(postings.transaction_id, 1, length({_LATER})) = {_LATER}
    AND NOT EXISTS (SELECT 1 FROM transactions WHERE transaction_id = 'reversal:' || postings.transaction_id)
)"""
"""What was taken off for a payout later, and not undone."""


def upgrade() -> None:
    """What was undone before has failed.

    Unless only a part of it was undone: whether it was paid is for an operator to say then, and what is not entered of
    it is kept apart until she does.
    """
    op.add_column("payout_lines", sa.Column("undone", Whole, nullable=False, server_default="0"))
    op.execute(sa.text(f"UPDATE payout_lines SET undone = 1 WHERE state = 'paid' AND {_UNDONE}"))
    op.execute(
        sa.text(f"UPDATE payout_lines SET state = 'failed' WHERE undone = 1 AND over_micros = 0 AND {_STANDS} = 0")
    )
    op.execute(
        sa.text(f"UPDATE payout_lines SET over_micros = amount_micros - {_STANDS} WHERE undone = 1 AND state = 'paid'")
    )


def downgrade() -> None:
    """Without it; what was undone counts as paid and undone on the ledger again."""
    op.execute(sa.text(f"UPDATE payout_lines SET state = 'paid' WHERE undone > 0 AND {_UNDONE}"))
    op.drop_column("payout_lines", "undone")
