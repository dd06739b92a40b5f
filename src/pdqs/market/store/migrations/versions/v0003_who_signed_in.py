"""The server's own key, who signed in as whom, and accounts that are closed.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Codes made before say of nobody that he made them."""
    op.create_table(
        "server_keys",
        sa.Column("purpose", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "access_events",
        sa.Column("event_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("at_ms", Whole, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("by_user_id", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("access_events_by_user", "access_events", ["user_id", "at_ms", "event_id"])
    op.create_index("sessions_by_user", "sessions", ["user_id"])
    op.add_column("codes", sa.Column("made_by", sa.Text, nullable=False, server_default=""))
    op.add_column("users", sa.Column("disabled_at_ms", Whole))
    op.add_column("users", sa.Column("erased_at_ms", Whole))


def downgrade() -> None:
    """Without the trail."""
    op.drop_column("users", "erased_at_ms")
    op.drop_column("users", "disabled_at_ms")
    op.drop_column("codes", "made_by")
    op.drop_index("sessions_by_user", "sessions")
    op.drop_table("access_events")
    op.drop_table("server_keys")
