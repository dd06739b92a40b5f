"""Flat memory: clear a market of so many owners from Parquet in one process, and measure the most it ever held.

    python benchmarks/scale_memory.py --rows 20000000 200000000 --out docs/results/scale/memory.json
    python benchmarks/scale_memory.py --rule lottery --out docs/results/scale/memory_lottery.json

``--rule lottery`` clears by the default terms: bids and public draws, with a chance and a draw for every owner.
Bids are made here (uniform, seeded) in a temporary folder that is removed at the end. Each size is cleared by a fresh
process under ``resource`` accounting, so that one run's memory is not another's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILE_ROWS = 2**24


def make_bids(folder: Path, rows: int, seed: int) -> None:
    """Uniform bids as files of 2^24 rows, in row groups of 2^20."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    for index, start in enumerate(range(0, rows, FILE_ROWS)):
        schema = pa.schema([("bid", pa.float64())])
        with pq.ParquetWriter(folder / f"bids-{index:04d}.parquet", schema, use_dictionary=False) as writer:
            for first in range(start, min(start + FILE_ROWS, rows), 2**20):
                bids = rng.random(min(2**20, rows - first))
                writer.write_batch(pa.record_batch([pa.array(bids)], schema=schema))


def clear_once(folder: Path, rows: int, rule: str) -> None:
    """In a process of its own: clear, and print what it took."""
    import pdqs
    from pdqs import scale

    make = pdqs.Terms if rule == "lottery" else pdqs.presets.sound
    terms = make(query=pdqs.Count(), budget=0.3 * rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    totals = scale.Run(progress=scale.Meter()).clear(folder / "bids", terms, folder / "offers")
    found = {
        "rows": rows,
        "rule": terms.rule_name,
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time(), 1),
        "load_average": [round(load, 1) for load in os.getloadavg()],
        "most_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "memory_before_mb": round(before),
        "bought": totals.bought,
        "spent_micros": totals.spent_micros,
        "budget_micros": totals.budget_micros,
    }
    print(json.dumps(found))


def main() -> None:
    """Every size in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000_000, 200_000_000])
    parser.add_argument("--rule", choices=["optimal", "lottery"], default="optimal")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--clear-in", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.clear_in:
        clear_once(chosen.clear_in, chosen.rows[0], chosen.rule)
        return
    results = []
    for rows in chosen.rows:
        with tempfile.TemporaryDirectory(prefix="pdqs-memory-") as place:
            make_bids(Path(place) / "bids", rows, chosen.seed)
            command = [sys.executable, __file__, "--rows", str(rows), "--rule", chosen.rule, "--clear-in", place]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            written = sum(part.stat().st_size for part in (Path(place) / "offers").iterdir())
        results.append(json.loads(done.stdout) | {"offer_bytes_per_owner": round(written / rows, 2)})
        print(json.dumps(results[-1]))
    report = {"command": " ".join(["python", *sys.argv]), "seed": chosen.seed, "runs": results}
    if chosen.out:
        chosen.out.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
