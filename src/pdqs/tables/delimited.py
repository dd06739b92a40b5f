"""Delimited text from outside: CSV, TSV and their kin, gzipped or not, from a file or from standard input.

What separates the cells is guessed from the header: the sign under which most of the wanted columns are found.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from pdqs.model.errors import FileError, InputError

STANDARD = Path("-")
"""How standard input and standard output are named."""

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}

_GZIP = b"\x1f\x8b"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The cells of a file as text: its header, its rows, and the sign between cells."""

    header: tuple[str, ...]
    rows: list[list[str]]
    separator: str

    def column(self, name: str) -> list[str]:
        """One column's cells, from the top."""
        place = self.header.index(name)
        return [row[place] for row in self.rows]


def label(path: Path) -> str:
    """What a file is called in a sentence.

    >>> label(Path("bids.csv")), label(STANDARD)
    ('bids.csv', 'standard input')
    """
    return "standard input" if path == STANDARD else str(path)


def read_bytes(path: Path) -> bytes:
    """All of a file, or of standard input, unpacked if it is gzipped."""
    if path == STANDARD and sys.stdin is None:  # as of a program that was started with it closed
        raise FileError("cannot read standard input: it is closed")
    try:
        raw = sys.stdin.buffer.read() if path == STANDARD else path.read_bytes()
        return gzip.decompress(raw) if raw.startswith(_GZIP) else raw
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FileError(f"cannot read {label(path)}: it is gzipped, but broken or cut short") from None
    except OSError as fault:
        raise FileError(f"cannot read {label(path)}: {fault.strerror}") from None


def text_of(raw: bytes, path: Path) -> str:
    """Bytes as text: UTF-8, with or without a byte-order mark."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        raise FileError(
            f"{label(path)}: line {line} is not UTF-8 (byte 0x{raw[fault.start]:02x}); save it as UTF-8"
        ) from None
    if "\0" in text:  # UTF-16 without its mark, or no text at all
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileError(f"{label(path)}: line {line} is not text (byte 0x00)")
    return text


def parse(text: str, path: Path, wanted: Iterable[str]) -> Sheet:
    """The cells of a text whose first line names the columns; the separator is that under which most wanted are found.

    >>> sheet = parse("owner;bid\\nann;0.5\\n", Path("bids.csv"), ["owner", "bid"])
    >>> sheet.separator, sheet.column("bid")
    (';', ['0.5'])
    """
    separator = _separator(text, set(wanted))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        lines = [[cell.strip() for cell in line] for line in reader]
    except csv.Error as fault:
        raise FileError(f"{label(path)}: line {reader.line_num} is not CSV: {fault}") from None
    while lines and not any(lines[-1]):  # blank lines at the end are nobody's fault
        lines.pop()
    if not lines:
        raise InputError(f"{label(path)}: the file is empty; its first line must name the columns")
    header, body = tuple(lines[0]), lines[1:]
    for row, cells in enumerate(body, start=1):
        if not any(cells):
            raise InputError(f"{label(path)}: row {row} is blank")
        if len(cells) != len(header):
            raise InputError(
                f"{label(path)}: row {row} has {len(cells)} cells, but the header names {len(header)} columns"
            )
    return Sheet(header=header, rows=body, separator=separator)


def _separator(text: str, wanted: set[str]) -> str:
    """The sign that finds most of the wanted names in the first line; of those, the one that cuts it most often."""
    first = text.partition("\n")[0].rstrip("\r")

    def found(sign: str) -> tuple[int, int]:
        try:
            cells = [cell.strip() for cell in next(csv.reader([first], delimiter=sign), [])]
        except csv.Error:
            return 0, 0
        return len(wanted & set(cells)), len(cells)

    return max(SEPARATORS, key=found)  # of equals, the first: a comma


def print_out(text: str) -> None:
    """Text to standard output, line by line: a reader who leaves is then noticed on every system."""
    sys.stdout.writelines(text.splitlines(keepends=True))


def joined(columns: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """Rows under their header as text."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", delimiter=separator)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
