"""A folder that appears only when it is complete.

Parts are written into ``NAME.partial-xxxxxxxx`` beside it, each under a passing name first, and the folder takes its
own name when every part is there. A part written twice (a task run again after its worker died) is simply replaced.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pdqs.model.errors import FileError
from pdqs.tables.atomic import UNFINISHED, reason, replacing, take_place

_PATIENCE_SECONDS = 5.0


@contextmanager
def complete_folder(location: str | Path) -> Iterator[Path]:
    """The partial folder to write into; it takes its place at the end, or is removed if anything goes wrong."""
    if "://" in str(location):
        raise FileError(f"{location}: results are written to a file system all workers share, not to an object store")
    out = Path(location).absolute()
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


def write_part(folder: Path, index: int, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """One part, from record batches."""
    path = folder / f"part-{index:06d}.parquet"
    with replacing(path) as passing, _failure_said(folder), _writer(passing, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A writer that is closed whatever happens; after a fault, what closing it says adds nothing."""
    with pa.OSFile(str(path), "wb") as file:
        # Offers hardly repeat, so a dictionary of them costs time and saves nothing; LZ4 halves them almost for free.
        writer = pq.ParquetWriter(file, schema, compression="lz4", use_dictionary=False, write_page_checksum=True)
        try:
            yield writer
        except BaseException:
            with suppress(OSError, pa.ArrowException):
                writer.close()
            raise
        writer.close()


@contextmanager
def _failure_said(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as fault:
        raise FileError(f"{folder}: cannot write: {reason(fault)}; nothing was kept") from None


def _remove(folder: Path) -> None:
    """Remove it though a task may still be writing there: such a task fails soon, its folder being gone."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while folder.exists() and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(0.05)
