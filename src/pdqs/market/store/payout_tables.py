"""The tables of payouts by the batch: what a provider was asked to pay, and what it said of it."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, Text, text

from pdqs.market.store.schema import Whole, metadata

_OVER = text("over_micros > 0")

payout_batches = Table(
    "payout_batches",
    metadata,
    Column("batch_id", Text, primary_key=True),
    Column("made_at_ms", Whole, nullable=False),
    Column("made_by", Text, nullable=False),
    sqlite_strict=True,
)

payout_lines = Table(
    "payout_lines",
    metadata,
    Column("reference", Text, primary_key=True),
    Column("batch_id", Text, ForeignKey("payout_batches.batch_id"), nullable=False),
    Column("user_id", Text, ForeignKey("users.user_id"), nullable=False),
    Column("amount_micros", Whole, CheckConstraint("amount_micros > 0", name="amount_above_zero"), nullable=False),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('waiting', 'paid', 'failed')", name="known_payout_state"),
        nullable=False,
    ),
    Column("over_micros", Whole, nullable=False, server_default="0"),
    Column("undone", Whole, nullable=False, server_default="0"),
    Column("let_be_micros", Whole, nullable=False, server_default="0"),
    Index("payout_lines_by_batch", "batch_id", "reference"),
    Index("payout_lines_by_user", "user_id", "state"),
    Index("payout_lines_over", "reference", sqlite_where=_OVER, postgresql_where=_OVER),
    sqlite_strict=True,
)
"""``failed`` is also what was called off or undone. ``over_micros``: paid beyond what was owed, or after it was undone,
and not seen to yet. ``undone``: how often what was entered of it was undone. ``let_be_micros``: what was beyond what
was owed, and was seen to by letting it be."""
