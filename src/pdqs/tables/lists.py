"""Lists that people keep in a spreadsheet and save as CSV: names, groups, what a payment provider says.

Rows with nothing in them are passed over, wherever they are, and so are empty cells behind the last column; a row is
called by the number that a spreadsheet shows beside it, so that it is found.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import final

from pdqs.model.errors import FileError, InputError
from pdqs.tables.delimited import SEPARATORS, label, text_of

_MARK = "\ufeff"
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of today, and of before 2007
_TOLD = re.compile(r"sep=.?", re.IGNORECASE)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The rows of a list that have something in them, each with its number in the spreadsheet."""

    header: tuple[str, ...]
    """In small letters."""
    rows: list[tuple[int, list[str]]]

    def column(self, name: str) -> list[str]:
        """One column's cells, from the top."""
        place = self.header.index(name)
        return [cells[place] for _, cells in self.rows]

    @property
    def numbers(self) -> list[int]:
        """The rows' numbers."""
        return [number for number, _ in self.rows]


def text_of_list(raw: bytes, path: Path) -> str:
    """The text of a list; a spreadsheet that was not saved as CSV is told so."""
    if raw.startswith(_SPREADSHEETS):
        raise InputError("this is a spreadsheet, not a CSV file: save it as CSV first")
    return text_of(raw, path)


def read_list(
    text: str, path: Path, wanted: Sequence[str], *, alone: str = "", also: Mapping[str, str] = MappingProxyType({})
) -> Listing:
    """The rows of a list whose first one names the columns; with ``alone``, a list of one column may do without.

    ``also`` are other words for columns, in small letters, each with the one that it stands for where no column has it.

    >>> read_list("\\ufeffName;Since;\\r\\n;;\\r\\nAnn;2020;\\r\\n", Path("list.csv"), ["name"]).rows
    [(3, ['Ann', '2020'])]
    >>> read_list("Ann\\n\\nBo\\n", Path("list.csv"), ["name"], alone="name").numbers
    [1, 3]
    """
    found = _cells(text.removeprefix(_MARK), path, [*wanted, *also])
    if found and _TOLD.fullmatch(",".join(found[0][1])):
        found = found[1:]
    if not found and alone:
        return Listing(header=(alone,), rows=[])
    if not found:
        raise InputError(f"{label(path)}: the file is empty; its first line must name the columns")
    header = _header(found[0][1], also)
    if alone and alone not in header:
        if len(header) > 1:
            raise InputError(f"it has several columns, and none is called {alone}: write {alone} above the {alone}s")
        header = (alone,)
    else:
        found = found[1:]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(
            f"{label(path)}: its first line must name {', '.join(wanted)}; there is no column {missing[0]!r}"
        )
    twice = [name for name in wanted if header.count(name) > 1]
    if twice:
        raise InputError(f"{label(path)}: two of its columns are called {twice[0]}")
    return Listing(header=header, rows=[(number, _fitted(number, row, header, path)) for number, row in found])


def _header(cells: Sequence[str], also: Mapping[str, str]) -> tuple[str, ...]:
    """Headings in small letters and single spaces, by the one word for each; beside that word, others are others.

    >>> _header(["Member", "Since"], {"member": "name"}), _header(["Member", "Name:"], {"member": "name"})
    (('name', 'since'), ('member', 'name'))
    """
    said = [" ".join(cell.lower().split()).rstrip(":") for cell in cells]
    return tuple(word if also.get(word) in said else also.get(word, word) for word in said)


def _cells(text: str, path: Path, wanted: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Rows with something in them, without the empty cells at their ends, by their numbers."""
    separator = _separator(text, set(wanted))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found = []
    number = 0
    try:
        for number, row in enumerate(reader, start=1):
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                found.append((number, cells))
    except csv.Error as fault:
        why = 'a quotation mark (") is not closed' if "end of data" in str(fault) else fault
        raise FileError(f"{label(path)}: row {number + 1} is not CSV: {why}") from None
    return found


def _fitted(number: int, cells: list[str], header: tuple[str, ...], path: Path) -> list[str]:
    """A row with a cell for each column: those that are empty at its end were left out."""
    if len(cells) > len(header):
        columns = "1 column" if len(header) == 1 else f"{len(header)} columns"
        raise InputError(
            f"{label(path)}: row {number} has {len(cells)} cells, but the first line names {columns}: what holds a"
            " comma or another mark that parts cells stands in quotation marks"
        )
    return cells + [""] * (len(header) - len(cells))


def _separator(text: str, wanted: set[str]) -> str:
    """The sign that finds most of the wanted names in the first line with something in it, or cuts it most often.

    Unless that line tells it, as a spreadsheet writes for its like: ``sep=;``.
    """
    first = next((line for line in text.splitlines() if line.strip(' \t,;|"')), "")
    if _TOLD.fullmatch(first.strip(" ")):
        return first.strip(" ")[-1] if first.strip(" ")[-1] in SEPARATORS else ","

    def found(sign: str) -> tuple[int, int]:
        try:
            cells = [cell.strip().lower() for cell in next(csv.reader([first], delimiter=sign), [])]
        except csv.Error:
            return 0, 0
        return len(wanted & set(cells)), len(cells)

    return max(SEPARATORS, key=found)  # of equals, the first: a comma
