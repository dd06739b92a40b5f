"""Groups of owners, and rounds that are for some groups alone.

Revision ID: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nobody is in a group yet, and every round so far is for every owner."""
    op.create_table(
        "group_members",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("since_ms", Whole, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("group_members_by_user", "group_members", ["user_id"])
    op.create_table(
        "round_groups",
        sa.Column("round_id", sa.Text, sa.ForeignKey("rounds.round_id"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sqlite_strict=True,
    )


def downgrade() -> None:
    """Without groups."""
    op.drop_table("round_groups")
    op.drop_table("group_members")
