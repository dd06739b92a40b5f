"""What draws are committed to and come to: the round's seed, nonce and root, and each offer's chance, draw and price.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Offers made before had no lottery: everyone was asked for certain."""
    for name in ("seed", "nonce", "bids_root"):
        op.add_column("rounds", sa.Column(name, sa.Text))
    op.add_column("offers", sa.Column("chance_numerator", Whole, nullable=False, server_default="4294967296"))
    op.add_column("offers", sa.Column("draw", Whole, nullable=False, server_default="0"))
    op.add_column("offers", sa.Column("posted_micros", Whole))


def downgrade() -> None:
    """Without draws."""
    for name in ("posted_micros", "draw", "chance_numerator"):
        op.drop_column("offers", name)
    for name in ("bids_root", "nonce", "seed"):
        op.drop_column("rounds", name)
