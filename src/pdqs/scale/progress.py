"""How far a long run is, at what rate, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Protocol, TextIO, final


class Progress(Protocol):
    """Hears how many rows of how many are done in a stage of the work."""

    def __call__(self, stage: str, done: int, rows: int) -> None: ...


def silent(stage: str, done: int, rows: int) -> None:
    """No progress is shown."""


@final
class Meter:
    """Lines on a terminal: one that is written over, or one every ten seconds where that cannot be done.

    >>> ticks = iter([0.0, 2.0])
    >>> meter = Meter(sys.stdout, clock=lambda: next(ticks))
    >>> meter("pricing", 0, 4_000_000); meter("pricing", 4_000_000, 4_000_000)
    pricing: 4,000,000 of 4,000,000 rows, 2.0 million a second, done in 2 s
    """

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._stage = ""
        self._started = 0.0
        self._told = 0.0

    def __call__(self, stage: str, done: int, rows: int) -> None:
        now = self._clock()
        if stage != self._stage:
            self._stage, self._started, self._told = stage, now, now
        ended = done >= rows
        overwrites = self._stream.isatty()
        if done and (ended or now - self._told >= (0.2 if overwrites else 10.0)):
            self._told = now
            line = _line(stage, done, rows, now - self._started)
            self._stream.write(f"\r{line:<79}" + ("\n" if ended else "") if overwrites else line + "\n")
            self._stream.flush()


def _line(stage: str, done: int, rows: int, seconds: float) -> str:
    rate = done / max(seconds, 1e-9)
    left = f"{_span((rows - done) / rate)} left" if done < rows else f"done in {_span(seconds)}"
    return f"{stage}: {done:,} of {rows:,} rows, {rate / 1e6:.1f} million a second, {left}"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
