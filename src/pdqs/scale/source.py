"""Parquet that need not fit in memory: files, folders and globs, here or in an object store, cut into pieces.

A *piece* is a run of row groups of one file: what one thread, or one task on a cluster, works through. Pieces are a
function of the files alone, and every row keeps its number in the whole (files in the order of their names).
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import final

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from pdqs.model.errors import FileError
from pdqs.scale.stores import fault_said, is_uri, of_store, opened_store, refuse_unfinished, without_secrets

PIECE_ROWS = 2**20
"""Small row groups are taken together up to this many rows; a larger one is a piece of its own."""

_SUFFIXES = (".parquet", ".pq")
_WILD = "*?["
_READ_AHEAD = 2**20  # bytes held per column while its pages are read one by one


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some row groups of one file. ``first_row`` rows of the whole lie before it, ``first_row_in_file`` of its file."""

    index: int
    path: str
    filesystem: pafs.FileSystem
    row_groups: tuple[int, ...]
    rows: int
    first_row: int
    first_row_in_file: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All the rows: the pieces in order, and the columns that every file has."""

    location: str
    pieces: tuple[Piece, ...]
    columns: frozenset[str]

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(piece.rows for piece in self.pieces)


@final
@dataclass(frozen=True, slots=True)
class _File:
    path: str
    columns: frozenset[str]
    group_rows: tuple[int, ...]


def open_source(
    location: str | Path, *, needs: Sequence[str], wanted: Sequence[str] = (), piece_rows: int = PIECE_ROWS
) -> Source:
    """Look at every file's footer, and refuse what cannot be read or lacks a column, before any work is done.

    ``location`` is a file, a folder (searched to its depths for .parquet and .pq), or a pattern with wildcards; a path,
    or a URI that pyarrow knows (s3://, gs://, hdfs://, file://). A column that is ``wanted`` may be in every file or in
    none.
    """
    filesystem, paths = _find(str(location))
    with ThreadPoolExecutor(max_workers=8) as pool:
        files = list(pool.map(lambda path: _look(path, filesystem, needs), paths))
    _refuse_mixed(files, wanted)
    starts = accumulate((sum(file.group_rows) for file in files), initial=0)
    runs = [
        (file.path, groups, rows, start + before, before)
        for file, start in zip(files, starts, strict=False)
        for groups, rows, before in _runs(file.group_rows, piece_rows)
    ]
    pieces = tuple(
        Piece(
            index=index,
            path=path,
            filesystem=filesystem,
            row_groups=groups,
            rows=rows,
            first_row=first,
            first_row_in_file=before,
        )
        for index, (path, groups, rows, first, before) in enumerate(runs)
    )
    return Source(
        location=without_secrets(str(location)),
        pieces=pieces,
        columns=frozenset.intersection(*(file.columns for file in files)),
    )


def batches(piece: Piece, columns: Sequence[str], rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The piece as record batches of at most so many rows, each with its first row's place in the piece (from 0)."""
    at = 0
    with _opened(piece.path, piece.filesystem) as file:
        reader = file.iter_batches(rows, row_groups=piece.row_groups, columns=list(columns), use_threads=False)
        while True:
            try:
                batch = next(reader, None)
            except (OSError, pa.ArrowException) as fault:
                if of_store(fault):
                    raise FileError(f"{piece.path}: cannot be read: {fault_said(fault)}") from None
                group = _unreadable_group(piece, columns)
                raise FileError(f"{piece.path}: row group {group} cannot be read: {fault_said(fault)}") from None
            if batch is None:
                break
            yield at, batch
            at += batch.num_rows
    assert at == piece.rows, "a file changed while it was read"


def _unreadable_group(piece: Piece, columns: Sequence[str]) -> int:
    """Which row group it is, counted from 1; known only by trying them."""
    with _opened(piece.path, piece.filesystem) as file:
        for group in piece.row_groups:
            try:
                for _ in file.iter_batches(row_groups=[group], columns=list(columns), use_threads=False):
                    pass
            except (OSError, pa.ArrowException):
                return group + 1
    return piece.row_groups[0] + 1


def _find(location: str) -> tuple[pafs.FileSystem, list[str]]:
    """The file system, and the files' paths on it in order."""
    if is_uri(location):
        filesystem, path = opened_store(location)
    else:
        filesystem, path = pafs.LocalFileSystem(), os.path.abspath(location)
    shown = without_secrets(location)
    try:
        paths = _listed(filesystem, path.rstrip("/") or path)
    except FileError:
        raise
    except OSError as fault:
        raise FileError(f"{shown}: {fault_said(fault)}") from None
    if not paths:
        raise FileError(f"{shown}: no Parquet file here")
    return filesystem, sorted(paths)


def _listed(filesystem: pafs.FileSystem, path: str) -> list[str]:
    info = filesystem.get_file_info(path)
    if info.type == pafs.FileType.File:
        return [path]
    if info.type == pafs.FileType.Directory:
        below = list(_below(filesystem, path))
        refuse_unfinished(below)
        return [found for found in below if _counts(found, path)]
    if not any(sign in path for sign in _WILD):
        raise FileError(f"{path}: {_absence(filesystem, path)}")
    if isinstance(filesystem, pafs.LocalFileSystem):
        return [found for found in glob.glob(path, recursive=True) if os.path.isfile(found)]
    fixed = path[: min(path.index(sign) for sign in _WILD if sign in path)].rpartition("/")[0]
    below = list(_below(filesystem, fixed))
    matching = [found for found in below if _matches(found, path)]
    folders = {found.rpartition("/")[0] for found in matching}
    refuse_unfinished(found for found in below if found.rpartition("/")[0] in folders)
    return matching


def _absence(filesystem: pafs.FileSystem, path: str) -> str:
    """What is not there: the bucket, or something in it."""
    bucket = path.partition("/")[0]
    known = (
        isinstance(filesystem, pafs.LocalFileSystem) or filesystem.get_file_info(bucket).type != pafs.FileType.NotFound
    )
    return "no such file or folder" if known else f"there is no bucket {bucket!r}"


def _below(filesystem: pafs.FileSystem, folder: str) -> Iterator[str]:
    for info in filesystem.get_file_info(pafs.FileSelector(folder, recursive=True)):
        if info.type == pafs.FileType.File:
            yield info.path


def _counts(path: str, folder: str) -> bool:
    """Whether a file of a folder is meant: Parquet, and not put aside under a name with a dot or underscore first."""
    parts = path[len(folder) :].strip("/").split("/")
    return path.endswith(_SUFFIXES) and not any(part.startswith((".", "_")) for part in parts)


def _matches(path: str, pattern: str) -> bool:
    """A wildcard stands for part of one name, never for a slash."""
    names, wanted = path.split("/"), pattern.split("/")
    return len(names) == len(wanted) and all(map(fnmatch.fnmatchcase, names, wanted))


def _look(path: str, filesystem: pafs.FileSystem, needs: Sequence[str]) -> _File:
    with _opened(path, filesystem) as file:
        names = file.schema_arrow.names
        for column in needs:
            if column not in names:
                raise FileError(f"{path}: no column {column!r}; it has {', '.join(map(repr, names)) or 'none'}")
        meta = file.metadata
        return _File(path, frozenset(names), tuple(meta.row_group(g).num_rows for g in range(meta.num_row_groups)))


def _refuse_mixed(files: Sequence[_File], wanted: Sequence[str]) -> None:
    for column in wanted:
        having = [file.path for file in files if column in file.columns]
        lacking = [file.path for file in files if column not in file.columns]
        if having and lacking:
            raise FileError(f"{lacking[0]}: no column {column!r}, but {having[0]} has one")


def _runs(group_rows: Sequence[int], piece_rows: int) -> Iterable[tuple[tuple[int, ...], int, int]]:
    """Runs of row groups of at most ``piece_rows`` rows, or one group: (groups, rows, rows before). None is empty."""
    cuts, held = [0], 0
    for group, rows in enumerate(group_rows):
        if held and held + rows > piece_rows:
            cuts.append(group)
            held = 0
        held += rows
    cuts.append(len(group_rows))
    before = list(accumulate(group_rows, initial=0))
    for first, last in pairwise(cuts):
        rows = before[last] - before[first]
        if rows:
            yield tuple(g for g in range(first, last) if group_rows[g]), rows, before[first]


@contextmanager
def _opened(path: str, filesystem: pafs.FileSystem) -> Iterator[pq.ParquetFile]:
    """A Parquet file open for reading page by page, its checksums verified."""
    try:
        handle = filesystem.open_input_file(path)
    except OSError as fault:
        raise FileError(f"{path}: {fault_said(fault)}") from None
    with handle:
        try:
            file = pq.ParquetFile(handle, pre_buffer=False, buffer_size=_READ_AHEAD, page_checksum_verification=True)
        except (OSError, pa.ArrowException) as fault:
            raise FileError(f"{path}: not a readable Parquet file: {fault_said(fault)}") from None
        yield file
