"""How time grows with the number of owners: streamed clearing from 10^3 to 10^8, and the exponent of its law."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent


def make_market(folder: Path, rows: int, seed: int) -> None:
    """Uniform bids in row groups of 2^20, one file."""
    rng = np.random.default_rng(seed)
    schema = pa.schema([("bid", pa.float64())])
    with pq.ParquetWriter(folder / "bids.parquet", schema, use_dictionary=False) as writer:
        for first in range(0, rows, 2**20):
            writer.write_batch(pa.record_batch([pa.array(rng.random(min(2**20, rows - first)))], schema=schema))


def timed(way: str, folder: Path) -> dict[str, Any]:
    """One way of clearing, in a fresh process."""
    command = [sys.executable, str(HERE / "scale_clearing.py"), way, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    for made in ("streamed", "dask"):
        subprocess.run(["rm", "-rf", str(folder / made)], check=True)
    return found


class Kept:
    """Measurements on file, one a line, as they are taken: a run that is cut short goes on where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._known = {tuple(entry["what"]): entry["found"] for entry in map(json.loads, lines)}

    def taken(self, what: tuple[str | int, ...], measure: Callable[[], Any]) -> Any:
        """What was measured of this before, or else now."""
        if what not in self._known:
            self._known[what] = measure()
            with self._path.open("a") as file:
                file.write(json.dumps({"what": what, "found": self._known[what]}) + "\n")
            print(*what, self._known[what], flush=True)
        return self._known[what]


def measure(sizes: Sequence[int], seed: int, repeats: int, kept: Kept) -> list[dict[str, Any]]:
    """Each size, small ones several times: the least of the times, which noise can only lengthen."""
    rows = []
    for n in sizes:

        def runs(n: int = n) -> list[dict[str, Any]]:
            with tempfile.TemporaryDirectory(prefix="pdqs-growth-") as place:
                make_market(Path(place), n, seed)
                return [timed("streamed", Path(place)) for _ in range(repeats if n <= 10**7 else 1)]

        found = kept.taken(("growth", n, seed, repeats), runs)
        best = {key: min(run[key] for run in found) for key in ("seconds", "cpu_seconds", "most_memory_mb")}
        rows.append({"owners": n, **best})
    return rows


def exponent(rows: Sequence[dict[str, Any]], key: str, least: int) -> float:
    """The slope of log time against log n, by least squares, over n of at least ``least``."""
    kept = [(np.log(row["owners"]), np.log(row[key])) for row in rows if row["owners"] >= least]
    x, y = np.array(kept).T
    return float(np.polyfit(x, y, 1)[0])


def steepest(rows: Sequence[dict[str, Any]], key: str) -> float:
    """The largest slope between neighbouring sizes: what fixed costs cannot flatter."""
    n, seconds = (np.log([row[name] for row in rows]) for name in ("owners", key))
    return float((np.diff(seconds) / np.diff(n)).max())


def draw(rows: Sequence[dict[str, Any]], least: int, path: Path) -> None:
    """Time and memory against the number of owners, both axes logarithmic, with the fitted law."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    n = np.array([row["owners"] for row in rows])
    cpu = np.array([row["cpu_seconds"] for row in rows])
    slope = exponent(rows, "cpu_seconds", least)
    fitted = n >= least
    level = np.exp(np.mean(np.log(cpu[fitted]) - slope * np.log(n[fitted])))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.loglog(n, [row["seconds"] for row in rows], "o-", color="#9aa5b1", label="by the clock")
    left.loglog(n, cpu, "s-", color="#1f5f8b", label="of processor time")
    left.loglog(n[fitted], level * n[fitted] ** slope, "--", color="#c8553d", label=f"fit: n to the {slope:.2f}")
    left.set(xlabel="owners", ylabel="seconds", title="Streamed clearing, file to files")
    left.plot([], [], " ", label=f"steepest step: n to the {steepest(rows, 'cpu_seconds'):.3f}")
    right.semilogx(n, [row["most_memory_mb"] for row in rows], "o-", color="#1f5f8b", label="most memory held")
    right.axhline(600, color="#c8553d", linestyle="--", label="promised ceiling")
    right.set(xlabel="owners", ylabel="MB", title="Memory of the process", ylim=(0, 700))
    for axes in (left, right):
        axes.grid(visible=True, alpha=0.3)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
