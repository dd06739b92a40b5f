"""Work on a stream of things by several threads, results in order, a few things in hand at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def ordered_map(work: Callable[[In], Out], things: Iterable[In], threads: int) -> Iterator[Out]:
    """``map``, by so many threads: NumPy and pyarrow let go of the interpreter while they compute.

    At most two things a thread are in hand, so memory is flat however long the stream. The first fault in the order of
    the things is raised, when all work in hand has ended.

    >>> list(ordered_map(lambda x: x * x, range(5), threads=2))
    [0, 1, 4, 9, 16]
    """
    if threads <= 1:
        yield from map(work, things)
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        in_hand: deque[Future[Out]] = deque()
        try:
            for thing in things:
                in_hand.append(pool.submit(work, thing))
                if len(in_hand) >= 2 * threads:
                    yield in_hand.popleft().result()
            while in_hand:
                yield in_hand.popleft().result()
        finally:
            for waiting in in_hand:
                waiting.cancel()
