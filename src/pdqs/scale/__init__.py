"""Scale: Parquet that never fits in memory, on the cores of one machine or on a Dask cluster, by the core's functions.

>>> import pdqs, tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq
>>> with tempfile.TemporaryDirectory() as place:
...     pq.write_table(pa.table({"bid": np.linspace(0.1, 0.9, 50)}), f"{place}/bids.parquet")
...     terms = pdqs.presets.sound(query=pdqs.Count(), budget=10.0)
...     totals = Run().clear(f"{place}/bids.parquet", terms, f"{place}/offers")
...     offers = pq.read_table(f"{place}/offers")
>>> totals.owners, offers.column_names
(50, ['bid', 'q', 'epsilon', 'payment', 'chance', 'draw'])
"""

from __future__ import annotations

from pdqs.privacy.owner_entropy import OwnerEntropy, number_ids
from pdqs.scale.engines import Engine, Threads
from pdqs.scale.kernels import Names
from pdqs.scale.progress import Meter
from pdqs.scale.run import Run, StreamedTrade
from pdqs.scale.source import Source, open_source
from pdqs.scale.sums import Totals, TradeSums

__all__ = [
    "Engine",
    "Meter",
    "Names",
    "OwnerEntropy",
    "Run",
    "Source",
    "StreamedTrade",
    "Threads",
    "Totals",
    "TradeSums",
    "number_ids",
    "open_source",
]
