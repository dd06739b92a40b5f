"""The tables of groups: which owners are in which, and which rounds are for some groups alone."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, Text

from pdqs.market.store.schema import Whole, metadata

group_members = Table(
    "group_members",
    metadata,
    Column("name", Text, primary_key=True),
    Column("user_id", Text, ForeignKey("users.user_id"), primary_key=True),
    Column("since_ms", Whole, nullable=False),
    Index("group_members_by_user", "user_id"),
    sqlite_strict=True,
)

round_groups = Table(
    "round_groups",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.round_id"), primary_key=True),
    Column("name", Text, primary_key=True),
    sqlite_strict=True,
)
"""Written when a round opens, and never changed; a round without a row here is for every owner."""
