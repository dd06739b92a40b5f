"""On PostgreSQL no foreign key from each offer to its bid: see ``pdqs/market/offer_rows.py`` for what holds it instead.

Revision ID: 0013
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_KEY = "offers_round_id_owner_id_fkey"


def upgrade() -> None:
    """SQLite looks at rows without locking them, and keeps its key."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("LOCK TABLE bids, offers IN ACCESS EXCLUSIVE MODE")  # in the order of those who clear meanwhile
        op.drop_constraint(_KEY, "offers", type_="foreignkey")


def downgrade() -> None:
    """Each offer is looked at by itself again."""
    if op.get_bind().dialect.name == "postgresql":
        columns = ["round_id", "owner_id"]
        op.create_foreign_key(_KEY, "offers", "bids", columns, columns)
