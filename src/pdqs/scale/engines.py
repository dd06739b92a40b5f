"""Where the work is done: threads of this process here, a cluster in ``cluster.py``. One method, one result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, final

from pdqs.scale.kernels import Kernel, Sum
from pdqs.scale.source import Piece
from pdqs.scale.threads import ordered_map


class Engine(Protocol):
    """Runs a kernel over all pieces and merges what comes out; ``tell`` hears of each piece that is done."""

    def reduce(self, kernel: Kernel[Sum], pieces: Sequence[Piece], tell: Callable[[Piece], None]) -> Sum: ...


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@final
@dataclass(frozen=True, slots=True)
class Threads:
    """This process. Each thread takes a piece; when there are fewer pieces than threads, they share its batches."""

    count: int

    def reduce(self, kernel: Kernel[Sum], pieces: Sequence[Piece], tell: Callable[[Piece], None]) -> Sum:
        assert pieces, "a source without rows has been refused"
        inside = 1 if len(pieces) >= self.count else self.count
        outside = self.count if inside == 1 else 1

        def work(piece: Piece) -> Sum:
            return kernel(piece, inside)

        done = zip(pieces, ordered_map(work, pieces, outside), strict=True)
        piece, total = next(done)
        tell(piece)
        for piece, more in done:
            total = total.merged(more)
            tell(piece)
        return total
