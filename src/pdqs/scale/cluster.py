"""The same kernels as tasks of a dask.distributed cluster: one task a piece, sums merged as a tree on the workers.

A task that dies with its worker is run again elsewhere; it gives the same sum and writes the same part, so nobody can
tell. Only one merged sum and the progress come back here: the reports are never collected in one place.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, final

import numpy as np

from pdqs.clearing.lottery import LotteryMarket, clear_by_lottery
from pdqs.model.errors import FileError, MissingExtraError, PdqsError
from pdqs.pricing.payment import curve
from pdqs.pricing.rules import Optimal, Setting
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.contracts import ON_REPORT
from pdqs.privacy.draws import LOTTERY_WORD, draw_key, words_of_owners
from pdqs.scale.engines import cores
from pdqs.scale.kernels import Kernel, Sum, merge
from pdqs.scale.source import Piece

TRIES = 3
FAN_IN = 8
"""So many sums are merged by one task: a tree of depth 4 serves 4,096 pieces."""


class ClusterError(PdqsError):
    """The cluster cannot be reached, or cannot be trusted to compute as this machine does."""


@contextmanager
def connected(address: str, *, wait_seconds: float = 10.0) -> Iterator[Dask]:
    """An engine on the cluster at ``address`` (tcp://host:port), or on one made here for the time (``local``)."""
    distributed = _distributed()
    if address == "local":
        with (
            distributed.LocalCluster(
                n_workers=max(2, cores()), threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield Dask(client)
        return
    try:
        client = distributed.Client(address, timeout=wait_seconds)
    except (OSError, TimeoutError, ValueError):
        raise ClusterError(f"no scheduler answers at {address} (waited {wait_seconds:g} s)") from None
    with client:
        if not client.scheduler_info(n_workers=1)["workers"]:
            raise ClusterError(f"the scheduler at {address} has no workers: start some with 'dask worker {address}'")
        yield Dask(client)


@final
@dataclass(frozen=True, slots=True)
class Dask:
    """A cluster by its client. Tasks get the pieces; sums are merged where they are."""

    client: Any

    def reduce(self, kernel: Kernel[Sum], pieces: Sequence[Piece], tell: Callable[[Piece], None]) -> Sum:
        assert pieces, "a source without rows has been refused"
        task = Task(kernel, fingerprint())
        token = secrets.token_hex(8)
        leaves = deque(
            self.client.submit(task, piece, key=f"{type(kernel).__name__}-{token}-{piece.index}") for piece in pieces
        )
        root = self._merged(list(leaves), token)
        try:
            for piece in pieces:
                self._await(leaves.popleft())  # let go of it: once merged, nobody needs it
                tell(piece)
            total: Sum = self._await(root).result()
        except BaseException:
            for future in (*leaves, root):
                future.release()  # nobody wants them now, so what has not begun will not
            raise
        return total

    def _merged(self, sums: list[object], token: str) -> object:
        """A task whose result is all sums merged: a tree, so that no worker needs to hold them all."""
        level = 0
        while len(sums) > 1:
            groups = [sums[at : at + FAN_IN] for at in range(0, len(sums), FAN_IN)]
            sums = [
                self.client.submit(merge_all, group, key=f"merge-{token}-{level}-{at}")
                for at, group in enumerate(groups)
            ]
            level += 1
        return sums[0]

    def _await(self, future: Any) -> Any:
        distributed = _distributed()
        distributed.wait(future)
        fault = future.exception() if future.status == "error" else None
        if isinstance(fault, distributed.KilledWorker):
            raise ClusterError(f"workers died again and again at {fault.task}: is there memory for a piece?") from None
        if fault is not None:
            raise fault
        if future.status != "finished":
            raise ClusterError(f"the cluster gave up a task: {future.status}")
        return future


def _distributed() -> Any:
    """The library, imported when a cluster is asked for: a second that others need not wait."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"a cluster needs {missing.name}: pip install 'pdqs[scale]'") from None


@final
@dataclass(frozen=True, slots=True)
class Task:
    """A kernel that first makes sure that this machine computes as the one that asks does, and tries again on I/O.

    A worker's death is the scheduler's business: it gives the task to another.
    """

    kernel: Kernel[Any]
    expected: str

    def __call__(self, piece: Piece) -> object:
        if fingerprint() != self.expected:
            raise ClusterError(
                "a worker computes other figures than this machine (another pdqs, NumPy or kind of processor),"
                " so offers would not be the same everywhere: give all workers the same software, and on mixed"
                " processors set NPY_DISABLE_CPU_FEATURES alike"
            )
        for waited in range(1, TRIES):
            try:
                return self.kernel(piece, 1)
            except (FileError, OSError):  # a store or a disk may be back in a moment; bad data will not be good then
                time.sleep(waited)
        return self.kernel(piece, 1)


def merge_all(sums: list[Sum]) -> Sum:
    """All of them together."""
    return reduce(merge, sums)


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """A hash of prices and chances on a few thousand bids: equal on machines whose floating point is the same.

    Of a lottery too, at q* and beyond it.

    >>> fingerprint() == fingerprint()
    True
    """
    bids = np.linspace(0.0, 1.0, 4097)
    found = hashlib.sha256()
    for domain_size, scale in itertools.product((2, 64), (0.5, 1.0, 3.0)):
        setting = Setting(contract=ON_REPORT, domain_size=domain_size)
        chosen = curve(Optimal(setting=setting), scale, setting)
        found.update(chosen.q(bids).tobytes())
        found.update(chosen.payment(bids).tobytes())
        found.update(setting.load(chosen.q(bids)).tobytes())
    few = bids[::16]
    words = words_of_owners(np.arange(few.size, dtype=np.uint64), draw_key(0), LOTTERY_WORD)
    for q_max in (0.5, 0.99):
        rule = Lottery(setting=Setting(contract=ON_REPORT, q_max=q_max))
        drawn = clear_by_lottery(few, words, LotteryMarket(rule=rule, budget_micros=50_000_000))
        for figures in (drawn.chance, drawn.q, drawn.price_micros):
            found.update(figures.tobytes())
    return found.hexdigest()
