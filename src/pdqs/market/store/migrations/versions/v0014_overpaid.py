"""What a provider paid beyond what was owed is kept with its payout; names are found fast, for namesakes to be told.

Revision ID: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nothing was ever paid beyond what was owed: such a confirmation was refused."""
    op.add_column("payout_lines", sa.Column("over_micros", Whole, nullable=False, server_default="0"))
    over = sa.text("over_micros > 0")
    op.create_index("payout_lines_over", "payout_lines", ["reference"], sqlite_where=over, postgresql_where=over)
    op.create_index("users_by_name", "users", ["name"])


def downgrade() -> None:
    """Without them; what was entered stays in the ledger."""
    op.drop_index("users_by_name", "users")
    op.drop_index("payout_lines_over", "payout_lines")
    op.drop_column("payout_lines", "over_micros")
