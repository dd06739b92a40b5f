"""The same kernels as tasks of a dask.distributed cluster: one task a piece, sums merged as a tree on the workers.

A task that dies with its worker is run again elsewhere; it gives the same sum and writes the same part, so nobody can
tell. Only one merged sum and the progress come back here: the reports are never collected in one place.
"""

from __future__ import annotations

import importlib
import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from types import ModuleType
from typing import Any, final

from pdqs.model.errors import MissingExtraError
from pdqs.scale.engines import cores
from pdqs.scale.fingerprints import fingerprint
from pdqs.scale.kernels import Kernel, Sum, merge
from pdqs.scale.source import Piece
from pdqs.scale.worker_retry import ClusterError, Future, Task, refuse_failed, wait_out

FAN_IN = 8
"""So many sums are merged by one task: a tree of depth 4 serves 4,096 pieces."""


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
    patience_seconds: float = 60.0
    """How long nothing may come from a cluster without workers before the work is given up."""

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

    def _merged(self, sums: list[Future], token: str) -> Future:
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

    def _await(self, future: Future) -> Future:
        distributed = _distributed()
        wait_out(future, self._wait)
        refuse_failed(future, distributed.KilledWorker)
        return future

    def _wait(self, future: Future) -> None:
        """Wait for a result, as long as it takes; but not for workers that are gone and stay away."""
        distributed = _distributed()
        empty = False
        while True:
            try:
                distributed.wait(future, timeout=self.patience_seconds / 2)
            except TimeoutError:
                now_empty = not self.client.scheduler_info(n_workers=1)["workers"]
                if empty and now_empty:
                    raise ClusterError("no worker of the cluster is left: start some, and the command again") from None
                empty = now_empty
            else:
                return


def _distributed() -> ModuleType:
    """The library, imported when a cluster is asked for: a second that others need not wait."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"a cluster needs {missing.name}: pip install 'pdqs[scale]'") from None


def merge_all(sums: list[Sum]) -> Sum:
    """All of them together."""
    return reduce(merge, sums)
