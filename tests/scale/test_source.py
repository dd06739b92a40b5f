"""Files, folders and patterns become pieces that cover every row once, in order."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from pdqs.scale import open_source
from pdqs.scale import source as module
from pdqs.scale.source import batches


def write(path: Path, bids: list[float], rows_per_group: int = 10) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"bid": bids}), path, row_group_size=rows_per_group)


def names(location: object) -> list[str]:
    return [os.path.basename(piece.path) for piece in open_source(location, needs=["bid"]).pieces]  # type: ignore[arg-type]  # as a user gives it


def test_a_folder_is_searched_to_its_depths_but_not_what_is_put_aside(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.pq", "deep/er/c.parquet", "_tmp/d.parquet", ".hidden.parquet"):
        write(tmp_path / name, [0.5])
    (tmp_path / "readme.txt").write_text("not data")
    assert names(tmp_path) == ["a.pq", "b.parquet", "c.parquet"]


def test_a_pattern_stands_for_part_of_a_name(tmp_path: Path) -> None:
    for name in ("x-1.parquet", "x-2.parquet", "y-1.parquet", "deep/x-3.parquet"):
        write(tmp_path / name, [0.5])
    assert names(tmp_path / "x-*.parquet") == ["x-1.parquet", "x-2.parquet"]
    assert names(tmp_path / "**" / "x-[23].parquet") == ["x-3.parquet", "x-2.parquet"]


def test_a_uri_names_the_same_rows(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [0.1, 0.2])
    source = open_source(f"file://{tmp_path}/a.parquet", needs=["bid"])
    assert [batch.column("bid").to_pylist() for _, batch in batches(source.pieces[0], ["bid"], 10)] == [[0.1, 0.2]]


def test_a_pattern_in_an_object_store_does_not_cross_folders(tmp_path: Path) -> None:
    """A store is stood in for by a sub-tree file system: not local, so it takes the store's road."""
    for name in ("day-1/a.parquet", "day-2/b.parquet", "day-2/more/c.parquet"):
        write(tmp_path / name, [0.5])
    store = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    assert sorted(module._listed(store, "day-*/*.parquet")) == ["day-1/a.parquet", "day-2/b.parquet"]


@given(st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=4), st.integers(1, 20), st.integers(1, 7))
def test_pieces_cover_every_row_once_in_order(groups: list[list[int]], piece_rows: int, batch_rows: int) -> None:
    total = sum(map(sum, groups))
    numbers = np.arange(total, dtype=np.float64)
    memory = pafs._MockFileSystem()
    memory.create_dir("rows")
    at = 0
    for index, sizes in enumerate(groups):
        with (
            memory.open_output_stream(f"rows/{index}.parquet") as stream,
            pq.ParquetWriter(stream, pa.schema([("bid", pa.float64())])) as writer,
        ):
            for size in sizes:
                writer.write_table(pa.table({"bid": numbers[at : at + size]}), row_group_size=max(size, 1))
                at += size
    files = [module._look(f"rows/{i}.parquet", memory, ["bid"]) for i in range(len(groups))]
    found, before = [], 0
    for file in files:
        for row_groups, rows, first in module._runs(file.group_rows, piece_rows):
            assert rows <= piece_rows or len(row_groups) == 1
            piece = module.Piece(
                index=0, path=file.path, filesystem=memory, row_groups=row_groups, rows=rows,
                first_row=before + first, first_row_in_file=first,
            )  # fmt: skip
            for start, batch in batches(piece, ["bid"], batch_rows):
                assert batch.num_rows <= batch_rows
                assert batch.column("bid")[0].as_py() == piece.first_row + start
                found += batch.column("bid").to_pylist()
        before += sum(file.group_rows)
    assert found == numbers.tolist()
