"""What happens when a worker of a cluster fails: the work is done again, and given up in words after some tries.

A task that dies with its worker is given to another by the scheduler. One that cannot read or write tries again itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final

from pdqs.model.errors import FileError, PdqsError
from pdqs.scale.fingerprints import fingerprint
from pdqs.scale.kernels import Kernel, Mergeable
from pdqs.scale.source import Piece

TRIES = 3


class Future(Protocol):
    """A result to come, as the cluster's client hands it out."""

    @property
    def status(self) -> str: ...

    def exception(self) -> BaseException | None: ...

    def result(self) -> Any: ...

    def release(self) -> None: ...


class ClusterError(PdqsError):
    """The cluster cannot be reached, or cannot be trusted to compute as this machine does."""


@final
@dataclass(frozen=True, slots=True)
class Task:
    """A kernel that first makes sure that this machine computes as the one that asks does, and tries again on I/O.

    A worker's death is the scheduler's business: it gives the task to another.
    """

    kernel: Kernel[Mergeable]
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


def wait_out(future: Future, wait: Callable[[Future], object]) -> None:
    """Wait until a task is done for good: a result may be lost with its worker after it was told, and come again."""
    wait(future)
    while future.status == "lost":
        wait(future)


def refuse_failed(future: Future, killed: type[Exception]) -> None:
    """Say why a task has no result; ``killed`` is the scheduler's word for one whose workers died again and again."""
    fault = future.exception() if future.status == "error" else None
    if isinstance(fault, killed):
        task = getattr(fault, "task", "a task")
        raise ClusterError(f"workers died again and again at {task}: is there memory for a piece?") from None
    if fault is not None:
        raise fault
    if future.status != "finished":
        raise ClusterError(f"the cluster gave up a task: {future.status}")
