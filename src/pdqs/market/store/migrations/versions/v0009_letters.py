"""Letters by e-mail and webhook: what people choose, and an outbox that is written with what it tells of.

Revision ID: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nobody is written to who has not asked for it."""
    op.create_table(
        "letter_choices",
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("email", sa.Text, nullable=False, server_default=""),
        sa.Column("email_confirmed", Whole, nullable=False, server_default="0"),
        sa.Column("webhook", sa.Text, nullable=False, server_default=""),
        sa.Column("webhook_since_ms", Whole, nullable=False, server_default="0"),
        sa.Column("kinds", sa.Text, nullable=False, server_default=""),
        sqlite_strict=True,
    )
    op.create_table(
        "outbox",
        sa.Column("letter_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("round_id", sa.Text, nullable=False),
        sa.Column("at_ms", Whole, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("due_at_ms", Whole, nullable=False),
        sa.Column("attempts", Whole, nullable=False, server_default="0"),
        sa.Column("fault", sa.Text, nullable=False, server_default=""),
        sqlite_strict=True,
    )
    op.create_index("outbox_by_state", "outbox", ["state", "due_at_ms"])
    op.create_index("outbox_by_user", "outbox", ["user_id"])


def downgrade() -> None:
    """Without letters."""
    op.drop_table("outbox")
    op.drop_table("letter_choices")
