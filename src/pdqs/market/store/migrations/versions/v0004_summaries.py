"""What lists show of a round, without its labels and terms; and what was purged of it.

Revision ID: 0004
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Rounds made before get their summary from their plan."""
    op.add_column("rounds", sa.Column("summary", sa.Text, nullable=False, server_default="{}"))
    op.add_column("rounds", sa.Column("purged_at_ms", Whole))
    op.add_column("rounds", sa.Column("bids_purged", Whole, nullable=False, server_default="0"))
    op.add_column("rounds", sa.Column("reports_purged", Whole, nullable=False, server_default="0"))
    connection = op.get_bind()
    known = connection.execute(sa.text("SELECT round_id, plan FROM rounds")).all()
    for round_id, plan in known:
        given = {"summary": json.dumps(_summary(json.loads(plan))), "round_id": round_id}
        connection.execute(sa.text("UPDATE rounds SET summary = :summary WHERE round_id = :round_id"), given)


def downgrade() -> None:
    """Lists without summaries."""
    for column in ("reports_purged", "bids_purged", "purged_at_ms", "summary"):
        op.drop_column("rounds", column)


def _summary(plan: dict[str, object]) -> dict[str, object]:
    query = plan["query"]
    assert isinstance(query, dict)
    kept = ("attribute", "budget_micros", "bid_low_micros", "bid_high_micros", "epsilon_max")
    domain = {"domain_kind": query["domain"]["kind"], "domain_size": query["domain"]["size"]}
    return {"kind": query["kind"], "text": query["text"], **domain, **{name: plan[name] for name in kept}}
