"""The first tables.

Revision ID: 0001
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.sqlite import REAL
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Real: TypeEngine[float] = sa.Double().with_variant(REAL(), "sqlite")
_STRICT: dict[str, Any] = {"sqlite_strict": True}
_CLUSTERED: dict[str, Any] = {"sqlite_strict": True, "sqlite_with_rowid": False}


def upgrade() -> None:
    """Everything that a market keeps."""
    _people()
    _rounds()
    _what_owners_do()
    _money()


def downgrade() -> None:
    """Back to an empty database."""
    for table in (
        "postings",
        "transactions",
        "accounts",
        "reports",
        "offers",
        "bids",
        "rounds",
        "sessions",
        "codes",
        "users",
    ):
        op.drop_table(table)


def _people() -> None:
    op.create_table(
        "users",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column(
            "role",
            sa.Text,
            sa.CheckConstraint("role IN ('consumer', 'owner', 'operator')", name="known_role"),
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at_ms", Whole, nullable=False),
        sa.Column("token_hash", sa.Text, unique=True),
        **_STRICT,
    )
    op.create_table(
        "codes",
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("code_hash", sa.Text, unique=True, nullable=False),
        sa.Column("expires_at_ms", Whole, nullable=False),
        **_STRICT,
    )
    op.create_table(
        "sessions",
        sa.Column("cookie_hash", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("expires_at_ms", Whole, nullable=False),
        **_STRICT,
    )


def _rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("consumer_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column(
            "state",
            sa.Text,
            sa.CheckConstraint("state IN ('draft', 'open', 'reporting', 'settled', 'cancelled')", name="known_state"),
            nullable=False,
        ),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("created_at_ms", Whole, nullable=False),
        sa.Column("terms", sa.Text),
        sa.Column("terms_hash", sa.Text),
        sa.Column("opened_at_ms", Whole),
        sa.Column("bids_close_at_ms", Whole),
        sa.Column("reports_close_at_ms", Whole),
        sa.Column("ended_at_ms", Whole),
        sa.Column("offers", Whole, nullable=False, server_default="0"),
        sa.Column("committed_micros", Whole, nullable=False, server_default="0"),
        sa.Column("paid_micros", Whole, nullable=False, server_default="0"),
        sa.Column("forecast_half_width", Real),
        sa.Column("answer", sa.Text),
        sa.Column("reason", sa.Text),
        **_STRICT,
    )
    op.create_index("rounds_by_consumer", "rounds", ["consumer_id", "created_at_ms", "round_id"])
    op.create_index("rounds_by_state", "rounds", ["state", "created_at_ms", "round_id"])


def _what_owners_do() -> None:
    op.create_table(
        "bids",
        sa.Column("round_id", sa.Text, sa.ForeignKey("rounds.round_id"), primary_key=True),
        sa.Column("owner_id", sa.Text, sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("bid_micros", Whole, sa.CheckConstraint("bid_micros >= 0", name="bid_not_negative"), nullable=False),
        sa.Column("placed_at_ms", Whole, nullable=False),
        **_CLUSTERED,
    )
    op.create_index("bids_by_owner", "bids", ["owner_id", "round_id"])
    op.create_table(
        "offers",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("owner_id", sa.Text, primary_key=True),
        sa.Column(
            "q_numerator",
            Whole,
            sa.CheckConstraint("q_numerator BETWEEN 0 AND 4294967295", name="q_below_one"),
            nullable=False,
        ),
        sa.Column(
            "payment_micros",
            Whole,
            sa.CheckConstraint("payment_micros >= 0", name="payment_not_negative"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["round_id", "owner_id"], ["bids.round_id", "bids.owner_id"]),
        **_CLUSTERED,
    )
    op.create_table(
        "reports",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("owner_id", sa.Text, primary_key=True),
        sa.Column("code", Whole, sa.CheckConstraint("code >= 0", name="code_not_negative"), nullable=False),
        sa.Column("received_at_ms", Whole, nullable=False),
        sa.ForeignKeyConstraint(["round_id", "owner_id"], ["offers.round_id", "offers.owner_id"]),
        **_CLUSTERED,
    )


def _money() -> None:
    op.create_table(
        "accounts",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column(
            "kind",
            sa.Text,
            sa.CheckConstraint("kind IN ('world', 'consumer', 'owner', 'escrow')", name="known_kind"),
            nullable=False,
        ),
        sa.Column("balance_micros", Whole, nullable=False),
        sa.CheckConstraint("kind = 'world' OR balance_micros >= 0", name="balance_not_negative"),
        **_STRICT,
    )
    op.create_index("accounts_by_kind", "accounts", ["kind", "account"])
    op.create_table(
        "transactions",
        sa.Column("transaction_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at_ms", Whole, nullable=False),
        sa.Column("round_id", sa.Text, sa.ForeignKey("rounds.round_id")),
        **_STRICT,
    )
    op.create_table(
        "postings",
        sa.Column("transaction_id", sa.Text, sa.ForeignKey("transactions.transaction_id"), primary_key=True),
        sa.Column("account", sa.Text, sa.ForeignKey("accounts.account"), primary_key=True),
        sa.Column(
            "amount_micros", Whole, sa.CheckConstraint("amount_micros <> 0", name="amount_not_zero"), nullable=False
        ),
        **_CLUSTERED,
    )
    op.create_index("postings_by_account", "postings", ["account", "transaction_id"])
