"""Lists a page at a time, newest first, with a cursor that says where the page before ended."""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, or_

from pdqs.market.store.sql import Found
from pdqs.protocol.problems import ProblemType, UnprocessableError

LIMIT = 50
"""How many are on a page unless asked for otherwise."""


def newest_first(
    connection: Connection,
    listed: Select[object],
    at: Column[int],
    identifier: Column[str],
    after: str | None,
    limit: int,
) -> tuple[list[Found], str | None]:
    """One page of a list, and the cursor of the next: the time and id of the last row shown."""
    if after is not None:
        listed = listed.where(_before(at, identifier, after))
    rows = list(connection.execute(listed.order_by(at.desc(), identifier.desc()).limit(limit + 1)))
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    return rows[:limit], f"{getattr(last, at.name)}.{getattr(last, identifier.name)}"


def _before(at: Column[int], identifier: Column[str], after: str) -> ColumnElement[bool]:
    time, _, name = after.partition(".")
    if not time.isdigit() or len(time) > 15 or not name:
        raise UnprocessableError(ProblemType.BAD_CURSOR, "'after' must be the 'next' of the page before")
    return or_(at < int(time), and_(at == int(time), identifier < name))
