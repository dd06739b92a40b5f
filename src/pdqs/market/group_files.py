"""Groups by the file: which owner is put into which, for operators with very many."""

from __future__ import annotations

from pathlib import Path

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.groups import add_members, group_names, owners_among
from pdqs.model.errors import InputError
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import UnprocessableError
from pdqs.tables.lists import read_list, text_of_list


def add_from(market: Market, actor: User, path: Path) -> int:
    """Put owners into groups by a table of ``user_id`` and ``group``, all or none; how many owners it named."""
    access.require(actor, "operator")
    try:
        rows = _rows(path)
        wanted: dict[str, list[str]] = {}
        for _, user_id, names in rows:
            wanted.setdefault(user_id, []).extend(names)
        with market.store.write() as connection:
            known = owners_among(connection, wanted)
            for row, user_id, _ in rows:
                if user_id not in known:
                    raise InputError(f"{path}: row {row}: there is no owner {user_id[:40]}")
            add_members(connection, wanted, market.clock())
            note_deed(connection, actor, "grouped", f"{len(wanted)} owners", at_ms=market.clock())
    except InputError as fault:
        raise InputError(f"{fault}; nobody was put into a group") from None
    return len(wanted)


def _rows(path: Path) -> list[tuple[int, str, list[str]]]:
    """Row by row: its number in the spreadsheet, whom it names, and her groups."""
    try:
        text = text_of_list(path.read_bytes(), path)
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror or 'it cannot be read'}") from None
    listed = read_list(text, path, ["user_id", "group"])
    if not listed.rows:
        raise InputError(f"{path}: it names nobody")
    columns = zip(listed.numbers, listed.column("user_id"), listed.column("group"), strict=True)
    return [(row, user_id, _names(path, row, user_id, cell)) for row, user_id, cell in columns]


def _names(path: Path, row: int, user_id: str, cell: str) -> list[str]:
    for column, found in (("user_id", user_id), ("group", cell.strip(" |"))):
        if not found:
            raise InputError(f"{path}: row {row}: there is no {column}")
    try:
        return group_names(cell.split("|")).groups
    except UnprocessableError as fault:
        raise InputError(f"{path}: row {row}: {fault}") from None
