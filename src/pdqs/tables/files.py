"""Tables on disk: CSV and Parquet in and out, with named columns, checked row by row.

A row is counted from 1 below the header. A file is either read whole or refused with the row and column that is wrong;
it is either written whole or not at all (to a temporary file beside it, moved into place at the end).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import final

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import FileError, InputError, MissingExtraError
from pdqs.model.money import money_text
from pdqs.tables.atomic import replacing

KINDS = (".csv", ".parquet")
MONEY_COLUMNS = ("payment", "paid")

_TRUTHS = {"true": 1.0, "false": 0.0}


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Columns by name, all of one length. Cells of a CSV are text; those of Parquet are what they were written as."""

    path: Path
    columns: Mapping[str, Sequence[object]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def floats(self, name: str) -> Floats:
        """A column of finite numbers."""
        with naming(self.path):
            return columns.floats(self.columns[name], column=name)

    def bids(self, bid_range: tuple[float, float]) -> Floats:
        """The bids, each within the range."""
        with naming(self.path):
            return columns.bids_in_range(self.columns["bid"], *bid_range)

    def values(self, domain: Domain, name: str = "value") -> Column:
        """A column spelled as the domain spells its values, not yet looked up in it; missing cells stay None."""
        return [None if cell is None else _as_held(cell, domain) for cell in self.columns[name]]


def _as_held(cell: object, domain: Domain) -> object:
    """A cell as the domain spells it: the labels of categories are text; True and False are answers too."""
    if not domain.ordered:
        return str(cell)
    return _TRUTHS.get(str(cell).strip().lower(), cell) if domain.kind == "binary" else cell


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name before what is wrong in it."""
    try:
        yield
    except InputError as fault:
        raise InputError(f"{path}: {fault}") from None


# Reading


def read_table(
    path: Path, required: Sequence[str], *, optional: Sequence[str] = (), may_be_missing: Sequence[str] = ()
) -> Table:
    """The named columns of a file: every required one, no unknown one, no owner twice, no empty cell.

    Cells of ``may_be_missing`` columns may be empty, and are None then.
    """
    kind = refuse_unknown_kind(path)
    found = _read_csv(path) if kind == ".csv" else _read_parquet(path)
    with naming(path):
        _refuse_columns(list(found), required, optional)
        table = Table(path=path, columns={name: _cells(found[name], name, name in may_be_missing) for name in found})
        if "owner" in found:
            _refuse_twice([str(owner) for owner in table.columns["owner"]])
    return table


def refuse_unknown_kind(path: Path, kinds: Sequence[str] = KINDS) -> str:
    """The kind of a file by its name's ending, or a :class:`FileError`."""
    kind = path.suffix.lower()
    if kind not in kinds:
        raise FileError(f"cannot tell what kind of file {path} is: its name must end in {' or '.join(kinds)}")
    return kind


def _read_csv(path: Path) -> dict[str, list[str]]:
    rows = csv.reader(io.StringIO(_read_text(path), newline=""), strict=True)
    try:
        lines = [[cell.strip() for cell in line] for line in rows]
    except csv.Error as fault:
        raise FileError(f"{path}: line {rows.line_num} is not CSV: {fault}") from None
    while lines and not any(lines[-1]):  # blank lines at the end are nobody's fault
        lines.pop()
    if not lines:
        raise InputError(f"{path}: the file is empty; its first line must name the columns")
    header, body = lines[0], lines[1:]
    if len(set(header)) < len(header):
        raise InputError(f"{path}: the header names column {next(c for c in header if header.count(c) > 1)!r} twice")
    for row, cells in enumerate(body, start=1):
        if len(cells) != len(header):
            raise InputError(f"{path}: row {row} has {len(cells)} cells, but the header names {len(header)} columns")
    return {name: [cells[i] for cells in body] for i, name in enumerate(header)}


def _read_text(path: Path) -> str:
    """A file's text: UTF-8, with or without a byte-order mark."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise FileError(f"cannot read {path}: {fault.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        raise FileError(f"{path}: line {line} is not UTF-8 (byte 0x{raw[fault.start]:02x}); save it as UTF-8") from None


def _read_parquet(path: Path) -> dict[str, Sequence[object]]:
    parquet, arrow = _parquet(path)
    try:
        with path.open("rb") as source:
            table = parquet.read_table(source)
    except arrow.ArrowInvalid as fault:
        raise FileError(f"{path} is not Parquet: {fault}") from None
    except OSError as fault:
        raise FileError(f"cannot read {path}: {fault.strerror or fault}") from None
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _parquet(path: Path) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(f"{path} needs pyarrow, the extra 'scale': pip install 'pdqs[scale]'") from None
    return pyarrow.parquet, pyarrow


def _refuse_columns(names: Sequence[str], required: Sequence[str], optional: Sequence[str]) -> None:
    known = (*required, *optional)
    expected = f"expected {', '.join(required)}" + (f" and perhaps {', '.join(optional)}" if optional else "")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise InputError(f"the header {names[0]!r} is one column: cells must be separated by commas")
    for name in names:
        if name not in known:
            raise InputError(f"unknown column {name!r}: {expected}")
    for name in required:
        if name not in names:
            raise InputError(f"no column {name!r}: {expected}")


def _cells(cells: Sequence[object], name: str, may_be_missing: bool) -> Sequence[object]:
    if may_be_missing:  # NaN is how data frames write a number that is not there
        return [None if cell is None or cell == "" or cell != cell else cell for cell in cells]
    for row, cell in enumerate(cells, start=1):
        if cell is None or cell == "":
            raise InputError(f"row {row}, column {name!r}: the cell is empty")
    return cells


def _refuse_twice(owners: Sequence[str]) -> None:
    if len(set(owners)) == len(owners):
        return
    first: dict[str, int] = {}
    for row, owner in enumerate(owners, start=1):
        if owner in first:
            raise InputError(f"row {row}, column 'owner': {owner!r} is already in row {first[owner]}")
        first[owner] = row


# Writing


def amounts(micros: Integers) -> list[str]:
    """Micro-units as decimal text, to the last one.

    >>> amounts(np.array([1_500_000, 7]))
    ['1.500000', '0.000007']
    """
    return [money_text(each, 6, separator="") for each in micros.tolist()]


def write_table(path: Path, table: Mapping[str, Sequence[object]]) -> None:
    """Columns to a CSV or Parquet file, whole or not at all."""
    if refuse_unknown_kind(path) == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        write_text(path, text.getvalue())
        return
    parquet, arrow = _parquet(path)
    held = {name: np.asarray(cells, np.float64) if name in MONEY_COLUMNS else cells for name, cells in table.items()}
    with replacing(path) as temporary:
        parquet.write_table(arrow.table(held), temporary)


def write_text(path: Path, text: str) -> None:
    """Text to a file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
