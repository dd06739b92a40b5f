"""Withdrawals: when an owner last took back her bid in a round, so that none from before comes after.

Revision ID: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """What was withdrawn before left no trace, and leaves none now."""
    op.create_table(
        "withdrawals",
        sa.Column("round_id", sa.Text, sa.ForeignKey("rounds.round_id"), primary_key=True),
        sa.Column("owner_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("withdrawn_at_ms", Whole, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Without withdrawals: a bid that comes late stands again."""
    op.drop_table("withdrawals")
