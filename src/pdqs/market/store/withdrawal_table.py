"""The table of withdrawals: when an owner last took back her bid in a round, so that none from before comes after."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table, Text

from pdqs.market.store.schema import Whole, metadata

withdrawals = Table(
    "withdrawals",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.round_id"), primary_key=True),
    Column("owner_id", Text, ForeignKey("users.user_id"), primary_key=True),
    Column("withdrawn_at_ms", Whole, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
