"""Rounds in stages: each offer's stage, the stages as they open, and the side that each owner is asked about.

Revision ID: 0008
"""

from __future__ import annotations

import json
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_CLUSTERED = {"sqlite_strict": True, "sqlite_with_rowid": False}


def upgrade() -> None:
    """Rounds planned before asked for whole values, and go on asking for them."""
    op.add_column("rounds", sa.Column("stages", Whole, nullable=False, server_default="1"))
    op.add_column("offers", sa.Column("stage", Whole, nullable=False, server_default="1"))
    op.create_table(
        "stages",
        sa.Column("round_id", sa.Text, sa.ForeignKey("rounds.round_id"), primary_key=True),
        sa.Column("number", Whole, primary_key=True),
        sa.Column("opened_at_ms", Whole, nullable=False),
        sa.Column("closes_at_ms", Whole, nullable=False),
        sa.Column("low", Whole, nullable=False),
        sa.Column("high", Whole, nullable=False),
        sa.Column("asked", Whole, nullable=False),
        **_CLUSTERED,
    )
    op.create_table(
        "questions",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("owner_id", sa.Text, primary_key=True),
        sa.Column("side", Whole, sa.CheckConstraint("side >= 0", name="side_not_negative"), nullable=False),
        sa.ForeignKeyConstraint(["round_id", "owner_id"], ["offers.round_id", "offers.owner_id"]),
        **_CLUSTERED,
    )
    _say_of_plans(lambda plan: {"question": "value", **plan})


def downgrade() -> None:
    """Whole values alone, and no stages."""
    op.drop_table("questions")
    op.drop_table("stages")
    op.drop_column("offers", "stage")
    op.drop_column("rounds", "stages")
    _say_of_plans(lambda plan: {name: value for name, value in plan.items() if name not in ("question", "stages")})


def _say_of_plans(change: Callable[[dict[str, object]], dict[str, object]]) -> None:
    connection = op.get_bind()
    for round_id, plan in connection.execute(sa.text("SELECT round_id, plan FROM rounds")).all():
        given = {"plan": json.dumps(change(json.loads(plan))), "round_id": round_id}
        connection.execute(sa.text("UPDATE rounds SET plan = :plan WHERE round_id = :round_id"), given)
