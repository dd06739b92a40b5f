"""Long runs say how far they are, keep little in hand, and stop at the first fault."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pdqs.scale import Meter, Run, Threads
from pdqs.scale.threads import ordered_map

from .markets import market, save, terms_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO, seconds_a_step: float, steps: int) -> list[str]:
    now = [0.0]
    meter = Meter(stream, clock=lambda: now[0])
    for step in range(steps + 1):
        now[0] = step * seconds_a_step
        meter("pricing", step * 1_000_000, steps * 1_000_000)
    return stream.getvalue().replace("\r", "\n").split("\n")


def test_a_file_gets_a_line_every_ten_seconds_with_rate_and_time_left() -> None:
    shown = lines(io.StringIO(), 5.0, 5)
    assert shown == [
        "pricing: 2,000,000 of 5,000,000 rows, 0.2 million a second, 15 s left",
        "pricing: 4,000,000 of 5,000,000 rows, 0.2 million a second, 5 s left",
        "pricing: 5,000,000 of 5,000,000 rows, 0.2 million a second, done in 25 s",
        "",
    ]


def test_a_terminal_gets_one_line_that_is_written_over() -> None:
    shown = lines(Terminal(), 0.25, 3)
    assert [line.rstrip() for line in shown] == [
        "",
        "pricing: 1,000,000 of 3,000,000 rows, 4.0 million a second, 0 s left",
        "pricing: 2,000,000 of 3,000,000 rows, 4.0 million a second, 0 s left",
        "pricing: 3,000,000 of 3,000,000 rows, 4.0 million a second, done in 1 s",
        "",
    ]


def test_long_spans_are_said_in_minutes_and_hours() -> None:
    assert "60 min left" in lines(io.StringIO(), 3600.0, 2)[0]
    assert "6.0 h left" in lines(io.StringIO(), 6 * 3600.0, 2)[0]


def test_every_row_is_told_of_once_a_stage(tmp_path: Path, rng: np.random.Generator) -> None:
    told: list[tuple[str, int, int]] = []
    rows = save(market(1_000, rng), tmp_path / "rows", groups=[[300, 300], [400]])
    run = Run(engine=Threads(2), piece_rows=300, progress=lambda *figures: told.append(figures))
    run.clear(rows, terms_for(1_000), tmp_path / "offers")
    assert told == [(stage, done, 1_000) for stage in ("counting bids", "pricing") for done in (0, 300, 600, 1_000)]


def test_results_come_in_order_with_few_things_in_hand() -> None:
    """However long the stream, no more than two things a thread are taken from it ahead of the reader."""
    taken, most = [0], [0]

    def things() -> Iterator[int]:
        for thing in range(200):
            taken[0] += 1
            yield thing

    for given, result in enumerate(ordered_map(lambda thing: thing * 2, things(), threads=3)):
        assert result == given * 2
        most[0] = max(most[0], taken[0] - given)
    assert most[0] <= 2 * 3


def test_threads_work_at_the_same_time() -> None:
    """Each waits for the other: one thread alone would wait for ever."""
    meeting = threading.Barrier(2, timeout=20)
    assert sorted(ordered_map(lambda _: meeting.wait(), ["one", "other"], threads=2)) == [0, 1]


def test_the_first_fault_in_order_is_raised_though_a_later_one_came_sooner() -> None:
    later_has_failed = threading.Event()

    def work(thing: int) -> int:
        if thing == 1:
            later_has_failed.set()
            raise ValueError("the second")
        later_has_failed.wait(20)
        raise ValueError("the first")

    with pytest.raises(ValueError, match="the first"):
        list(ordered_map(work, [0, 1], threads=2))
