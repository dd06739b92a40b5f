"""For operators with very many people: who did what, and payouts by the batch.

Revision ID: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Three tables that nothing before them knows of."""
    op.create_table(
        "deeds",
        sa.Column("deed_id", sa.Text, primary_key=True),
        sa.Column("at_ms", Whole, nullable=False),
        sa.Column("actor_id", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("deeds_by_time", "deeds", ["at_ms", "deed_id"])
    op.create_table(
        "payout_batches",
        sa.Column("batch_id", sa.Text, primary_key=True),
        sa.Column("made_at_ms", Whole, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "payout_lines",
        sa.Column("reference", sa.Text, primary_key=True),
        sa.Column("batch_id", sa.Text, sa.ForeignKey("payout_batches.batch_id"), nullable=False),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column(
            "amount_micros", Whole, sa.CheckConstraint("amount_micros > 0", name="amount_above_zero"), nullable=False
        ),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('waiting', 'paid', 'failed')", name="known_payout_state"),
            nullable=False,
        ),
        sqlite_strict=True,
    )
    op.create_index("payout_lines_by_batch", "payout_lines", ["batch_id", "reference"])
    op.create_index("payout_lines_by_user", "payout_lines", ["user_id", "state"])


def downgrade() -> None:
    """Without them; what was paid stays in the ledger."""
    for name in ("payout_lines", "payout_batches", "deeds"):
        op.drop_table(name)
