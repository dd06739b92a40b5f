"""Groups by the file: which owner is put into which, for operators with very many."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.groups import add_members, group_names
from pdqs.market.store.schema import users
from pdqs.model.errors import InputError
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import UnprocessableError
from pdqs.tables.delimited import parse, text_of


def add_from(market: Market, actor: User, path: Path) -> int:
    """Put owners into groups by a table of ``user_id`` and ``group``, all or none; how many owners it named."""
    access.require(actor, "operator")
    wanted = _wanted(path)
    with market.store.write() as connection:
        owners = select(users.c.user_id).where(users.c.role == "owner", users.c.user_id.in_(wanted))
        missing = sorted(set(wanted) - set(connection.scalars(owners)))
        if missing:
            raise InputError(f"{path}: there is no owner {missing[0]}; nobody was put into a group")
        add_members(connection, wanted, market.clock())
        note_deed(connection, actor, "grouped", f"{len(wanted)} owners", at_ms=market.clock())
    return len(wanted)


def _wanted(path: Path) -> dict[str, list[str]]:
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror or 'it cannot be read'}") from None
    sheet = parse(text_of(raw, path), path, ["user_id", "group"])
    header = tuple(cell.lower() for cell in sheet.header)
    for name in ("user_id", "group"):
        if name not in header:
            raise InputError(f"{path}: there is no column {name!r}; nobody was put into a group")
    if not sheet.rows:
        raise InputError(f"{path}: it names nobody; nobody was put into a group")
    found: dict[str, list[str]] = {}
    for row, cells in enumerate(sheet.rows, start=1):
        try:
            names = group_names(cells[header.index("group")].split("|")).groups
        except UnprocessableError as fault:
            raise InputError(f"{path}: row {row}: {fault}") from None
        found.setdefault(cells[header.index("user_id")].strip(), []).extend(names)
    return found
