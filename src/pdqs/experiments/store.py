"""Results on disk: a Parquet file for each finished cell, whole or not there at all.

::

    DIR/run.json                         the plan's seed, name and hash
    DIR/cells/EXPERIMENT/CELL.parquet    one finished cell, a row for each query
    DIR/models/NAME.npz                  one finished training
    DIR/models/NAME.half.npz             one that is not finished, to go on with
    DIR/results.parquet                  every finished cell, in the plan's order
    DIR/promises.json                    what audits found of the paper's promises
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from pdqs.experiments.setups import Cell, Plan
from pdqs.model.arrays import Floats
from pdqs.model.errors import FileError
from pdqs.tables.atomic import UNFINISHED, reason, replacing

if TYPE_CHECKING:
    import pyarrow as pa

NO_ANSWER = "no answer"
_NOISY = ("c", "weighted", "low", "high", "spent", "paid", "information", "privacy", "epsilon", "epsilon_claimed")
"""Columns of figures that never repeat: their bytes are stored apart, which packs them better than a dictionary."""


@final
@dataclass(frozen=True, slots=True)
class Store:
    """The directory of one run."""

    root: Path

    def cell_path(self, cell: Cell) -> Path:
        """Where a finished cell lies."""
        return self.root / "cells" / f"{cell.key}.parquet"

    def model_path(self, name: str) -> Path:
        """Where a finished training lies."""
        return self.root / "models" / f"{name}.npz"

    def training_path(self, name: str) -> Path:
        """Where a training that is not finished keeps its state."""
        return self.root / "models" / f"{name}.half.npz"

    @property
    def results_path(self) -> Path:
        """Where the table of all cells lies."""
        return self.root / "results.parquet"

    @property
    def promises_path(self) -> Path:
        """Where the audits of the paper's promises lie."""
        return self.root / "promises.json"

    def promises(self) -> dict[str, dict[str, tuple[str, str]]]:
        """What audits have found, by mechanism and code: verdict and sentence; empty before there are any."""
        if not self.promises_path.exists():
            return {}
        try:
            held = json.loads(self.promises_path.read_text(encoding="utf-8"))
            return {name: {code: (str(a), str(b)) for code, (a, b) in found.items()} for name, found in held.items()}
        except (OSError, ValueError, AttributeError) as fault:
            raise FileError(f"{self.promises_path} cannot be read ({fault}): delete it and run again") from None

    def done(self, cell: Cell) -> bool:
        """Whether a cell is finished."""
        return self.cell_path(cell).exists()

    def open(self, plan: Plan) -> None:
        """Make the directory the plan's own, or refuse one that holds another plan's numbers."""
        identity = {"plan": plan.name, "seed": plan.seed, "hash": plan.hash}
        marker = self.root / "run.json"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if marker.exists():
                held = json.loads(marker.read_text(encoding="utf-8"))
                if held != identity:
                    raise FileError(
                        f"{self.root} holds a run of plan {held.get('plan')!r} with seed {held.get('seed')}, not of"
                        f" plan {plan.name!r} with seed {plan.seed} as it is now: choose another directory, or empty it"
                    )
            else:
                write_whole(marker, lambda path: path.write_text(json.dumps(identity, indent=2) + "\n"))
        except (OSError, ValueError) as fault:
            raise FileError(f"cannot use {self.root} for results: {fault}") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory alone (the system lets go however the process ends), and sweep up unfinished files."""
        with (self.root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise FileError(f"another run is writing to {self.root}: wait, or choose another directory") from None
            for left in self.root.rglob(f"{UNFINISHED}*"):
                left.unlink(missing_ok=True)
            for half in self.root.glob("models/*.half.npz"):
                if self.model_path(half.name.removesuffix(".half.npz")).exists():
                    half.unlink(missing_ok=True)
            yield

    def save_cell(self, cell: Cell, columns: dict[str, Floats]) -> None:
        """Write one finished cell."""
        import pyarrow as pa

        write_parquet(self.cell_path(cell), pa.table(columns))

    def load_cell(self, cell: Cell) -> dict[str, Floats]:
        """Read one finished cell."""
        import pyarrow.parquet as pq

        path = self.cell_path(cell)
        try:
            table = pq.ParquetFile(path).read()
        except (OSError, ValueError) as fault:
            raise FileError(f"{path} cannot be read ({fault}): delete it and run again") from None
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def assemble(self, plan: Plan) -> int:
        """Put every finished cell into one table, in the plan's order; how many there were.

        Cells without rounds (NPQM's NO ANSWER) have no rows; the table names them in its metadata. It holds single
        precision, which is ample for what is drawn from it and half the size; the cells' own files hold double.
        """
        import pyarrow as pa

        cells = [cell for cell in plan.cells() if self.done(cell)]
        if cells:
            tables = [self._labelled(cell) for cell in cells]
            empty = [dataclasses.astuple(cell) for cell, table in zip(cells, tables, strict=True) if not table.num_rows]
            whole = pa.concat_tables(tables).replace_schema_metadata({NO_ANSWER: json.dumps(empty)})
            split = {name: "BYTE_STREAM_SPLIT" for name in whole.column_names if name in _NOISY}
            plain = [name for name in whole.column_names if name not in split]
            write_parquet(self.results_path, whole, use_dictionary=plain, column_encoding=split)
        return len(cells)

    def _labelled(self, cell: Cell) -> pa.Table:
        import pyarrow as pa

        columns = self.load_cell(cell)
        count = columns["answer"].size
        words = {
            name: pa.array([getattr(cell, name)] * count, type=pa.string()).dictionary_encode()
            for name in ("experiment", "population", "kind", "mechanism")
        }
        numbers = {"level": np.full(count, float(cell.level)), "query": np.arange(count, dtype=np.int32)}
        singles = {name: column.astype(np.float32) for name, column in columns.items()}
        return pa.table({**words, **numbers, **singles})


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file, whole or not at all, in a folder that is made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise FileError(f"cannot write {path}: {reason(fault)}") from None
    with replacing(path) as unfinished:
        write(unfinished)


def write_parquet(path: Path, table: pa.Table, **how: object) -> None:
    """A Parquet file, whole or not at all; the same table always gives the same bytes."""
    import pyarrow.parquet as pq

    def write(unfinished: Path) -> None:
        pq.write_table(table, unfinished, compression="zstd", compression_level=9, **how)

    write_whole(path, write)
