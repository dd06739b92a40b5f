"""Letters of rounds that were purged before letters went with them: they told who was asked, and who had not reported.

Revision ID: 0021
"""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Delete what should have gone then."""
    op.execute("DELETE FROM outbox WHERE round_id IN (SELECT round_id FROM rounds WHERE purged_at_ms IS NOT NULL)")


def downgrade() -> None:
    """What is gone is gone."""
