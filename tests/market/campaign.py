"""A long campaign that can be stopped and taken up again: a journal of what is done, and word of what is left."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Journal:
    """What a campaign has done so far, a JSON line each, so that a later run goes on from there.

    A line that was cut off by a kill is forgotten: its part is done again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = list(self._read()) if path.exists() else []
        path.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in self.lines))

    def _read(self) -> Iterator[Line]:
        for text in self._path.read_text().splitlines():
            try:
                yield json.loads(text)
            except ValueError:
                return

    def add(self, line: Line) -> None:
        """Write one part down."""
        self.lines.append(line)
        with self._path.open("a") as file:
            file.write(json.dumps(line, sort_keys=True) + "\n")

    def left(self, parts: Iterable[Line]) -> list[Line]:
        """The parts that no line speaks of."""
        done = [set(line.items()) for line in map(_plain, self.lines)]
        return [part for part in parts if not any(set(part.items()) <= found for found in done)]


def _plain(line: Line) -> Line:
    return {name: value for name, value in line.items() if isinstance(value, str | int)}


class Pace:
    """Says every few seconds how far a campaign has come and how long the rest will take, on standard error."""

    def __init__(self, what: str, total: int, done: int = 0, every: float = 10.0) -> None:
        self._what, self._total, self._done, self._every = what, total, done, every
        self._first, self._began, self._said = done, time.monotonic(), 0.0

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        self._done += count
        now = time.monotonic()
        if now - self._said >= self._every or self._done >= self._total:
            self._said = now
            print(self.said(now - self._began), file=sys.stderr, flush=True)

    def said(self, seconds: float) -> str:
        """The line itself."""
        rate = (self._done - self._first) / max(seconds, 1e-9)
        left = max(0, self._total - self._done) / max(rate, 1e-9)
        share = self._done / max(self._total, 1)
        return (
            f"{self._what}: {self._done:,} of {self._total:,} ({share:.1%}), {rate:,.1f} a second,"
            f" {int(left) // 3600} h {int(left) % 3600 // 60:02d} min left"
        )


def write_summary(path: Path | None, found: Line) -> None:
    """Print a summary, and keep it where asked to."""
    text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(text, end="")
