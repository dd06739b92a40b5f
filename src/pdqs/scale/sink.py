"""A folder that appears only when it is complete, on a disk here or in an object store (:mod:`pdqs.scale.stores`).

Parts are written into ``NAME.partial-xxxxxxxx`` beside it, each under a passing name first, and the folder takes its
own name when every part is there. A part written twice (a task run again after its worker died) is simply replaced.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import pyarrow as pa
import pyarrow.fs as pafs

from pdqs.model.errors import FileError
from pdqs.scale.parts import Folder, part_name, written_part
from pdqs.scale.stores import complete_in_store, is_uri, opened_store
from pdqs.tables.atomic import UNFINISHED, reason, replacing, take_place

_PATIENCE_SECONDS = 5.0


@contextmanager
def complete_folder(location: str | Path) -> Iterator[Folder]:
    """The partial folder to write into; it takes its place at the end, or is removed if anything goes wrong."""
    out = Path(location)
    if is_uri(str(location)):
        filesystem, path = opened_store(str(location))
        if not isinstance(filesystem, pafs.LocalFileSystem):
            with complete_in_store(filesystem, path, str(location)) as folder:
                yield folder
            return
        out = Path(path)
    with _complete_on_disk(out.absolute()) as partial:
        yield DiskFolder(partial)


@contextmanager
def _complete_on_disk(out: Path) -> Iterator[Path]:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileError(f"{out}: there is something here already; choose another name")
    partial = out.with_name(f"{out.name}.partial-{secrets.token_hex(4)}")
    try:
        partial.mkdir()
    except OSError as fault:
        raise FileError(f"{out}: cannot be made: {fault.strerror}") from None
    try:
        yield partial
        for stray in partial.glob(f"{UNFINISHED}*"):
            stray.unlink()
        take_place(partial, out)
    except BaseException:
        _remove(partial)
        raise


@final
@dataclass(frozen=True, slots=True)
class DiskFolder:
    """A folder on a disk that all workers share."""

    path: Path

    def write(self, index: int, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        """One part, from record batches."""
        with replacing(self.path / part_name(index)) as passing, self._failure_said():
            written_part(str(passing), rows, schema)

    @contextmanager
    def _failure_said(self) -> Iterator[None]:
        try:
            yield
        except FileError:
            raise
        except OSError as fault:
            raise FileError(f"{self.path}: cannot write: {reason(fault)}; nothing was kept") from None


def _remove(folder: Path) -> None:
    """Remove it though a task may still be writing there: such a task fails soon, its folder being gone."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while folder.exists() and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(0.05)
