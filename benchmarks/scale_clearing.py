"""One way of clearing a market that lies in a Parquet file, in a process of its own; prints what it took as JSON.

    python benchmarks/scale_clearing.py WAY FOLDER

WAY is one of the functions below. The clock runs from the file (or, for ``in_memory``, from the array) to the offers
written (or held). What a way needs to start with (imports, a cluster) is made before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

BUDGET_PER_OWNER = 0.3

# The paper's greedy clearing with its linear rule, priced by its closed form P = q - (1 - q)^2 ln((1+q)/(1-q)) / 2 (two
# values, on selection), as a data engineer would write it: sort by bid, add up, stop when the budget is gone.
GREEDY_SQL = """
WITH chances AS (SELECT bid, least(1.0 - bid, 0.999999) AS q FROM {source}),
priced AS (SELECT bid, q, ln((1 + q) / (1 - q)) AS epsilon, q - (1 - q) * (1 - q) * ln((1 + q) / (1 - q)) / 2 AS payment
           FROM chances),
added AS (SELECT *, sum(payment) OVER (ORDER BY bid ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
          FROM priced)
SELECT bid, CASE WHEN total <= {budget} THEN q ELSE 0 END AS q,
       CASE WHEN total <= {budget} THEN epsilon ELSE 0 END AS epsilon,
       CASE WHEN total <= {budget} THEN payment ELSE 0 END AS payment
FROM added
"""


def _terms(rows: int) -> Any:
    import pdqs

    return pdqs.presets.sound(query=pdqs.Count(), budget=BUDGET_PER_OWNER * rows)


def in_memory(folder: Path, rows: int) -> Callable[[], object]:
    """pdqs.clear on an array that is there already, offers left in memory."""
    import pdqs

    bids, terms = np.asarray(pq.read_table(folder / "bids.parquet")["bid"]), _terms(rows)
    return lambda: pdqs.clear(bids, terms)


def in_memory_files(folder: Path, rows: int) -> Callable[[], object]:
    """The same from the file to a file, all rows in memory at once."""
    import pyarrow as pa

    import pdqs

    terms = _terms(rows)

    def run() -> object:
        offers = pdqs.clear(np.asarray(pq.read_table(folder / "bids.parquet")["bid"]), terms)
        columns = {"bid": offers.bids, "q": offers.q, "epsilon": offers.epsilon, "payment": offers.payment}
        pq.write_table(pa.table(columns), folder / "memory.parquet", compression="lz4", use_dictionary=False)
        return offers

    return run


def streamed(folder: Path, rows: int) -> Callable[[], object]:
    """pdqs.scale on the threads of this process, from the file to a folder of files."""
    from pdqs.scale import Run

    return lambda: Run().clear(folder / "bids.parquet", _terms(rows), folder / "streamed")


def dask_local(folder: Path, rows: int) -> Callable[[], object]:
    """pdqs.scale on a local Dask cluster, a process a core; starting it is not counted."""
    from pdqs.scale import Run
    from pdqs.scale.cluster import connected

    cluster = connected("local")
    engine = cluster.__enter__()

    def run() -> object:
        totals = Run(engine=engine).clear(folder / "bids.parquet", _terms(rows), folder / "dask")
        assert cluster, "the cluster lives as long as its run"
        return totals

    return run


def duckdb_greedy(folder: Path, rows: int) -> Callable[[], object]:
    """The paper's greedy clearing as SQL in DuckDB, a global sort, from the file to a file."""
    import duckdb

    query = GREEDY_SQL.format(source=f"'{folder}/bids.parquet'", budget=BUDGET_PER_OWNER * rows)
    return lambda: duckdb.sql(f"COPY ({query}) TO '{folder}/duckdb.parquet' (FORMAT parquet, COMPRESSION lz4_raw)")


def polars_greedy(folder: Path, rows: int) -> Callable[[], object]:
    """The same in Polars, lazily, from the file to a file."""
    import polars as pl

    def run() -> object:
        q = (1.0 - pl.col("bid")).clip(upper_bound=0.999999)
        epsilon = ((1 + pl.col("q")) / (1 - pl.col("q"))).log()
        bought = pl.col("payment").cum_sum() <= BUDGET_PER_OWNER * rows
        pl.scan_parquet(folder / "bids.parquet").select("bid").sort("bid").with_columns(q=q).with_columns(
            epsilon=epsilon
        ).with_columns(payment=pl.col("q") - (1 - pl.col("q")) ** 2 * pl.col("epsilon") / 2).with_columns(
            *(pl.when(bought).then(pl.col(name)).otherwise(0.0).alias(name) for name in ("q", "epsilon", "payment"))
        ).sink_parquet(folder / "polars.parquet", compression="lz4")
        return None

    return run


WAYS: dict[str, Callable[[Path, int], Callable[[], object]]] = {
    way.__name__: way for way in (in_memory, in_memory_files, streamed, dask_local, duckdb_greedy, polars_greedy)
}


def main() -> None:
    """Run one way and print its figures."""
    way, folder = sys.argv[1], Path(sys.argv[2])
    rows = pq.read_metadata(folder / "bids.parquet").num_rows
    try:
        run = WAYS[way](folder, rows)
    except ImportError as missing:
        print(json.dumps({"skipped": str(missing)}))
        return
    cpu = time.process_time()
    started = time.perf_counter()
    run()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "most_memory_mb": _most_memory_mb()}), flush=True)


def _most_memory_mb() -> float:
    """The most this process ever held; what ``resource`` says would include its parent, from which it was forked."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
