"""The few statements that the two databases word differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

Row = dict[str, Any]


def insert_new(connection: Connection, table: Table, rows: Sequence[Row]) -> bool:
    """Insert rows whose keys are new and leave the others alone; whether all of them were new."""
    if connection.dialect.name == "sqlite":
        result = connection.execute(sqlite.insert(table).on_conflict_do_nothing(), rows)
    else:
        result = connection.execute(postgresql.insert(table).on_conflict_do_nothing(), rows)
    return result.rowcount == len(rows)


def put(connection: Connection, table: Table, row: Row, *, key: str) -> None:
    """Insert a row, or replace the one with the same key."""
    rest = {name: value for name, value in row.items() if name != key}
    if connection.dialect.name == "sqlite":
        connection.execute(sqlite.insert(table).values(row).on_conflict_do_update(index_elements=[key], set_=rest))
    else:
        connection.execute(postgresql.insert(table).values(row).on_conflict_do_update(index_elements=[key], set_=rest))
