"""What the clearings share in going over rungs and owners: a search for the last rung, and batches side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pdqs.model.arrays import Booleans, Integers

_BATCH = 2**16


def last_that(holds: Callable[[int], bool], below: int, high: int) -> int:
    """The largest g in (below, high] where a condition that is true up to some point holds; ``below`` if nowhere.

    >>> last_that(lambda g: g * g <= 30, 0, 100), last_that(lambda g: False, 3, 100)
    (5, 3)
    """
    above = high + 1
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(middle) else (below, middle)
    return below


def last_in_strides(holds: Callable[[Integers], Booleans], below: int, high: int, at_once: int) -> int:
    """:func:`last_that` with so many looked at together: fewer calls where a call costs more than what it works out.

    >>> last_in_strides(lambda g: g * g <= 30, 0, 100, 7), last_in_strides(lambda g: g < 0, 3, 100, 7)
    (5, 3)
    """
    above = high + 1
    while above - below > 1:
        below, above = closer(holds, below, above, at_once)
    return below


def closer(holds: Callable[[Integers], Booleans], below: int, above: int, at_once: int) -> tuple[int, int]:
    """One step of it: a narrower [below, above) around the last that holds, from so many looked at together.

    >>> closer(lambda g: g * g <= 30, 0, 100, 9)
    (0, 10)
    """
    parts = min(at_once, above - below - 1) + 1
    tried = below + np.arange(1, parts) * (above - below) // parts
    held = int(np.count_nonzero(holds(tried)))
    return (
        (below if held == 0 else int(tried[held - 1])),
        (above if held == parts - 1 else int(tried[held])),
    )


def bracket(holds: Callable[[int], bool], below: int, high: int, guess: int, stride: int) -> tuple[int, int]:
    """Some (a, b) in below..high + 1 with the last that holds in [a, b), looked for near a guess: a stride off, then
    strides twice as wide.

    >>> bracket(lambda g: g * g <= 30, 0, 100, 9, 2), bracket(lambda g: g < 0, 3, 100, 9, 1)
    ((3, 7), (3, 6))
    """
    at = min(max(guess, below + 1), high)
    up = holds(at)
    low, above = (at, high + 1) if up else (below, at)
    while low < (tried := low + stride if up else above - stride) < above:
        held = holds(tried)
        low, above = (tried, above) if held else (low, tried)
        if held != up:
            break
        stride *= 2
    return low, above


def in_batches(size: int, do: Callable[[slice], None]) -> None:
    """``do`` with every batch of so many rows, two at a time where there are many."""
    parts = [slice(start, start + _BATCH) for start in range(0, size, _BATCH)]
    if len(parts) > 8:
        with ThreadPoolExecutor(max_workers=2) as pool:  # NumPy lets go of the interpreter while it computes
            list(pool.map(do, parts))
    else:
        for part in parts:
            do(part)
