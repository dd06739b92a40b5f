"""The key that receipts are signed with, and how many reports each owner has made.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Reports made before are counted once, here."""
    op.create_table(
        "receipt_keys",
        sa.Column("public_key", sa.Text, primary_key=True),
        sa.Column("private_key", sa.Text, nullable=False),
        sa.Column("created_at_ms", Whole, nullable=False),
        sqlite_strict=True,
    )
    op.add_column("users", sa.Column("reports_made", Whole, nullable=False, server_default="0"))
    op.add_column("reports", sa.Column("ordinal", Whole, nullable=False, server_default="0"))
    op.execute(
        "UPDATE reports SET ordinal = (SELECT COUNT(*) FROM reports AS other WHERE other.owner_id = reports.owner_id"
        " AND (other.received_at_ms, other.round_id) <= (reports.received_at_ms, reports.round_id))"
    )
    op.execute("UPDATE users SET reports_made = (SELECT COUNT(*) FROM reports WHERE reports.owner_id = users.user_id)")


def downgrade() -> None:
    """Without signed receipts and counters."""
    op.drop_column("reports", "ordinal")
    op.drop_column("users", "reports_made")
    op.drop_table("receipt_keys")
