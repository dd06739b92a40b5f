"""What was paid beyond what was owed and let be is kept, with its payout and with the deed: no book told of it.

Revision ID: 0018
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """How much was let be before is known no more."""
    op.add_column("payout_lines", sa.Column("let_be_micros", Whole, nullable=False, server_default="0"))
    op.add_column("deeds", sa.Column("amount_micros", Whole))


def downgrade() -> None:
    """Without the amounts."""
    op.drop_column("deeds", "amount_micros")
    op.drop_column("payout_lines", "let_be_micros")
