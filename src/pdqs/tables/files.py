"""Tables from outside and back: CSV, TSV (gzipped too) and Parquet, with named columns, checked row by row.

A row is counted from 1 below the header. A file is either read whole or refused with the row and column that is wrong;
it is either written whole or not at all (to a temporary file beside it, moved into place at the end). ``-`` is standard
input, and standard output. What a reader should know of how a file was read is logged, under ``pdqs.tables``.
"""

from __future__ import annotations

import gzip
import io
import logging
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import final

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import FileError, InputError, MissingExtraError, RowError
from pdqs.model.money import money_text
from pdqs.tables.atomic import replacing
from pdqs.tables.delimited import SEPARATORS, STANDARD, joined, label, parse, print_out, read_bytes, text_of

KINDS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
MONEY_COLUMNS = ("payment", "paid")

LOGGER = logging.getLogger("pdqs.tables")

_PARQUET = b"PAR1"
_NAMED_BY_OPTION = ("owner", "bid", "value")


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Columns by what they hold, all of one length. Cells of text files are text; Parquet's are what they were.

    ``names`` says what a column is called in the file, where that is another name.
    """

    path: Path
    columns: Mapping[str, Sequence[object]]
    names: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def floats(self, name: str) -> Floats:
        """A column of finite numbers."""
        with self.naming():
            return columns.floats(self.columns[name], column=name)

    def bids(self, bid_range: tuple[float, float]) -> Floats:
        """The bids, each within the range."""
        with self.naming():
            return columns.bids_in_range(self.columns["bid"], *bid_range)

    def values(self, domain: Domain, name: str = "value") -> Column:
        """A column spelled as the domain spells its values, not yet looked up in it; missing cells stay None."""
        return [None if cell is None else as_held(cell, domain) for cell in self.columns[name]]

    def rounded(self, domain: Domain) -> Floats:
        """The values moved to the nearest of the domain's numbers; none may lie more than half a step outside."""
        if domain.kind != "grid":
            raise InputError(f"only numbers can be rounded to a grid, and values here are {domain}")
        found = self.floats("value")
        nearest = domain.start + domain.step * np.clip(
            np.rint((found - domain.start) / domain.step), 0, domain.size - 1
        )
        far = np.abs(found - nearest) > domain.step * (0.5 + 1e-9)
        if far.any():
            row = int(np.argmax(far))
            with self.naming():
                raise RowError(
                    row + 1, "value", f"{found[row]:g} is too far outside the domain ({domain}) to be rounded"
                )
        if moved := int(np.count_nonzero(np.abs(found - nearest) > 1e-6 * domain.step)):
            LOGGER.info(
                "%s: %s of %s values were rounded to the grid", label(self.path), f"{moved:,}", f"{len(self):,}"
            )
        return nearest

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the file's name before what is wrong in it, and call its columns what they are called there."""
        with naming(self.path):
            try:
                yield
            except RowError as fault:
                raise RowError(fault.row, self.names.get(fault.column, fault.column), fault.fault) from None


def as_held(cell: object, domain: Domain) -> object:
    """A cell as the domain spells it: the labels of categories are text."""
    return cell if domain.ordered else str(cell)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name before what is wrong in it."""
    try:
        yield
    except InputError as fault:
        raise InputError(f"{label(path)}: {fault}") from None


# Reading


def read_table(
    path: Path,
    required: Sequence[str],
    *,
    optional: Sequence[str] = (),
    may_be_missing: Sequence[str] = (),
    unread: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> Table:
    """The named columns of a file: every required one, no owner twice, no empty cell. Others are left unread.

    Cells of ``may_be_missing`` columns may be empty, and are None then. That others are there is noted, unless they
    are expected (``unread``). ``names`` says what a column is called in this file, where that is not its own name.
    """
    called = {name: (names or {}).get(name, name) for name in (*required, *optional)}
    kind = None if path == STANDARD else refuse_unknown_kind(path)
    if kind == ".parquet":
        _parquet(path)  # what is missing is said before anything is read
    raw = read_bytes(path)
    if kind == ".parquet" or (kind is None and raw.startswith(_PARQUET)):
        header, found = _parquet_columns(raw, path, called.values())
    else:
        header, found = _text_columns(raw, path, called.values(), kind)
    with naming(path):
        _refuse_missing(header, [called[name] for name in required], called if names is not None else {})
        held = {name: found[own] for name, own in called.items() if own in found}
        checked = {name: _cells(cells, called[name], name in may_be_missing) for name, cells in held.items()}
        table = Table(path=path, columns=checked, names=called)
        if "owner" in held:
            _refuse_twice([str(owner) for owner in table.columns["owner"]], called["owner"])
    if others := [name for name in header if name not in (*called.values(), *unread)]:
        LOGGER.info("%s: %s", label(path), _not_used(others))
    return table


def _not_used(names: Sequence[str]) -> str:
    """What was left unread, in words.

    >>> _not_used(["age", "", "city"]), _not_used(["age"])
    ("the columns 'age', '', 'city' are not used", "the column 'age' is not used")
    """
    listed = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"the columns {listed} are not used" if len(names) > 1 else f"the column {listed} is not used"


def kind_of(path: Path, kinds: Sequence[str]) -> str | None:
    """Which of the endings a file's name has, the longest that fits.

    >>> kind_of(Path("bids.CSV.gz"), KINDS), kind_of(Path("bids.xls"), KINDS)
    ('.csv.gz', None)
    """
    return next((kind for kind in sorted(kinds, key=len, reverse=True) if path.name.lower().endswith(kind)), None)


def refuse_unknown_kind(path: Path, kinds: Sequence[str] = KINDS) -> str:
    """The kind of a file by its name's ending, or a :class:`FileError`."""
    kind = kind_of(path, kinds)
    if kind is None:
        *others, last = kinds
        listed = f"{', '.join(others)} or {last}" if others else last
        raise FileError(f"cannot tell what kind of file {path} is: its name must end in {listed}")
    return kind


def _text_columns(
    raw: bytes, path: Path, wanted: Collection[str], kind: str | None
) -> tuple[Sequence[str], dict[str, Sequence[object]]]:
    sheet = parse(text_of(raw, path), path, wanted)
    for name in wanted:
        if sheet.header.count(name) > 1:
            raise InputError(f"{label(path)}: the header names column {name!r} twice")
    usual = "\t" if kind in (".tsv", ".tsv.gz") else ","
    if sheet.separator != usual and len(sheet.header) > 1:
        LOGGER.info("%s: read with %s between cells", label(path), SEPARATORS[sheet.separator])
    return sheet.header, {name: sheet.column(name) for name in wanted if name in sheet.header}


def _parquet_columns(
    raw: bytes, path: Path, wanted: Collection[str]
) -> tuple[Sequence[str], dict[str, Sequence[object]]]:
    parquet, arrow = _parquet(path)
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        names = file.schema_arrow.names
        table = file.read(columns=[name for name in wanted if name in names])
    except arrow.ArrowInvalid as fault:
        raise FileError(f"{label(path)} is not Parquet: {str(fault).splitlines()[0]}") from None
    except OSError as fault:
        raise FileError(f"cannot read {label(path)}: {fault.strerror or fault}") from None
    return names, {name: table.column(name).to_pylist() for name in table.column_names}


def _parquet(path: Path) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(f"{label(path)} needs pyarrow, the extra 'scale': pip install 'pdqs[scale]'") from None
    return pyarrow.parquet, pyarrow


def _refuse_missing(header: Sequence[str], required: Sequence[str], called: Mapping[str, str]) -> None:
    for name in required:
        if name not in header:
            there = ", ".join(repr(each) for each in header[:8] if each) + (", ..." if len(header) > 8 else "")
            said = _how_to_name(name, header, called)
            raise InputError(f"no column {name!r}: it has {there or 'none with a name'}{said}")


def _how_to_name(name: str, header: Sequence[str], called: Mapping[str, str]) -> str:
    """Which options name the columns that are meant, where there are any; those that differ in capitals are named.

    >>> _how_to_name("owner", ["Owner", "bid", "VALUE"], {"owner": "owner", "bid": "bid", "value": "value"})
    '; add --owner-column Owner --value-column VALUE'
    """
    role = next((role for role, own in called.items() if own == name), "")
    if role not in _NAMED_BY_OPTION:
        return ""
    alike = {each.lower(): each for each in header}
    meant = [(each, alike.get(own.lower())) for each, own in called.items() if own not in header]
    if all(other and each in _NAMED_BY_OPTION for each, other in meant):
        return "; add " + " ".join(f"--{each}-column {shlex.quote(other or '')}" for each, other in meant)
    return f"; --{role}-column names the one that is meant"


def _cells(cells: Sequence[object], name: str, may_be_missing: bool) -> Sequence[object]:
    if may_be_missing:  # NaN is how data frames write a number that is not there
        return [None if cell is None or cell == "" or cell != cell else cell for cell in cells]
    for row, cell in enumerate(cells, start=1):
        if cell is None or cell == "":
            raise InputError(f"row {row}, column {name!r}: the cell is empty")
    return cells


def _refuse_twice(owners: Sequence[str], name: str) -> None:
    if len(set(owners)) == len(owners):
        return
    first: dict[str, int] = {}
    for row, owner in enumerate(owners, start=1):
        if owner in first:
            raise InputError(f"row {row}, column {name!r}: {owner!r} is already in row {first[owner]}")
        first[owner] = row


# Writing


def amounts(micros: Integers) -> list[str]:
    """Micro-units as decimal text, to the last one.

    >>> amounts(np.array([1_500_000, 7]))
    ['1.500000', '0.000007']
    """
    return [money_text(each, 6, separator="") for each in micros.tolist()]


def write_table(path: Path, table: Mapping[str, Sequence[object]]) -> None:
    """Columns to a file by the ending of its name, whole or not at all; to standard output as CSV."""
    if path == STANDARD:
        print_out(joined(tuple(table), zip(*table.values(), strict=True)))
        return
    kind = refuse_unknown_kind(path)
    if kind != ".parquet":
        separator = "\t" if kind.startswith(".tsv") else ","
        data = joined(tuple(table), zip(*table.values(), strict=True), separator).encode()
        with replacing(path) as temporary:
            temporary.write_bytes(gzip.compress(data, mtime=0) if kind.endswith(".gz") else data)
        return
    parquet, arrow = _parquet(path)
    held = {name: np.asarray(cells, np.float64) if name in MONEY_COLUMNS else cells for name, cells in table.items()}
    with replacing(path) as temporary:
        parquet.write_table(arrow.table(held), temporary)


def write_text(path: Path, text: str) -> None:
    """Text to a file, whole or not at all; or to standard output."""
    if path == STANDARD:
        print_out(text)
        return
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
