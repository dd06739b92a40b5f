"""The few statements that the two databases word differently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

Row = dict[str, object]
"""A row to write: what each column is to hold."""

Cells = tuple[object, ...]
"""A row without the names of its columns."""

_CELLS_AT_ONCE = 16_000  # SQLite takes at most 32,766 in a statement

Found = sa.Row[*tuple[Any, ...]]
"""A row that was read: its columns by name."""


def insert_new(connection: Connection, table: Table, row: Row) -> bool:
    """Insert a row unless its key is taken; whether it was new."""
    return connection.execute(_insert_telling(connection.dialect.name, table), row).first() is not None


def insert_missing(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert those rows whose keys are not taken."""
    connection.execute(_unless_taken(connection, table), rows)


def insert_many(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows by the thousand, every key new."""
    insert_cells(connection, table, list(rows[0]), [tuple(row.values()) for row in rows])


def insert_cells(connection: Connection, table: Table, names: Sequence[str], rows: Sequence[Cells]) -> None:
    """Insert rows whose cells are in the order of ``names``: a stream on PostgreSQL, by the thousand on SQLite."""
    if connection.dialect.name == "sqlite":
        insert_by_thousands(connection, table, names, rows)
    else:
        copy_rows(connection, table.name, names, rows)


def insert_by_thousands(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[Cells], otherwise: str = ""
) -> None:
    """Insert rows into a table of SQLite with few statements; ``otherwise`` says what to do where a key is taken.

    Past SQLAlchemy, which would look at every value once more: these are whole numbers and text already. A statement
    for each row would let go of the interpreter as often, and wait each time until other requests give it back.
    """
    at_once = _CELLS_AT_ONCE // len(names)
    start, places = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ", f"({', '.join('?' * len(names))})"
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        statement = start + ", ".join([places] * len(some)) + otherwise
        connection.exec_driver_sql(statement, tuple(chain.from_iterable(some)))


def copy_rows(connection: Connection, table: str, names: Sequence[str], rows: Iterable[Cells]) -> None:
    """Stream rows into a table of PostgreSQL (COPY)."""
    import psycopg

    driver: Any = connection.connection.driver_connection
    statement = f"COPY {table} ({', '.join(names)}) FROM STDIN"
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as stream:
            for row in rows:
                stream.write_row(row)
    except psycopg.Error as fault:  # past SQLAlchemy, so nobody has made it one of those that are looked for elsewhere
        raise DBAPIError.instance(statement, None, fault, psycopg.Error, dialect=connection.dialect) from fault


def cells_found(connection: Connection, wanted: Executable) -> list[Any]:
    """Rows by the hundred thousand as the driver gives them: tuples of whole numbers, text and None, past SQLAlchemy,
    which would wrap each once more."""
    found = connection.execute(wanted)
    try:
        return list(found.cursor.fetchall()) if found.cursor is not None else []
    finally:
        found.close()


@cache
def _insert_telling(dialect: str, table: Table) -> Executable:
    """An insert that gives the key back when it was new; made once for each table, for bids come by the thousand."""
    key = next(iter(table.primary_key.columns))
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing().returning(key)


def _unless_taken(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


def put(connection: Connection, table: Table, row: Row, *, key: str) -> None:
    """Insert a row, or replace the one with the same key."""
    connection.execute(_in_place(connection, table, row, key), row)


def put_all(connection: Connection, table: Table, rows: Sequence[Row], *, key: str) -> None:
    """The same for several rows, no two of them with one key."""
    connection.execute(_in_place(connection, table, rows[0], key), rows)


def _in_place(connection: Connection, table: Table, row: Row, key: str) -> Executable:
    """An insert that puts a row in the place of the one with the same key."""
    insert = sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
    rest = {name: insert.excluded[name] for name in row if name != key}
    return insert.on_conflict_do_update(index_elements=[key], set_=rest)
