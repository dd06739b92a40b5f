"""How one part of a folder is written: its name, and record batches into a Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq


class Folder(Protocol):
    """Where parts go: on a disk or in an object store."""

    def write(self, index: int, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> None: ...


def part_name(index: int) -> str:
    """Parts sort by name in the order of the input.

    >>> part_name(7)
    'part-000007.parquet'
    """
    return f"part-{index:06d}.parquet"


def written_part(path: str, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write record batches as one file."""
    with _writer(path, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


@contextmanager
def _writer(path: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A writer that is closed whatever happens; after a fault, what closing it says adds nothing."""
    with pa.OSFile(path, "wb") as file:
        # Offers hardly repeat, so a dictionary of them costs time and saves nothing; LZ4 halves them almost for free.
        writer = pq.ParquetWriter(file, schema, compression="lz4", use_dictionary=False, write_page_checksum=True)
        try:
            yield writer
        except BaseException:
            with suppress(OSError, pa.ArrowException):
                writer.close()
            raise
        writer.close()
