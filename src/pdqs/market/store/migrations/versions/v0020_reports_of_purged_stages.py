"""How many reported in each stage of a round is kept when its reports are purged, as it is of the round as a whole.

Revision ID: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Of rounds that were purged before it is known no more."""
    op.add_column("stages", sa.Column("reports_purged", Whole, nullable=False, server_default="0"))


def downgrade() -> None:
    """Without the counts."""
    op.drop_column("stages", "reports_purged")
