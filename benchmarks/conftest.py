"""Ratios, side by side, in one run: the only form in which a time is worth keeping."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

import pytest


def best_of(task: Callable[[], object], rounds: int = 3) -> float:
    """The shortest of a few runs: what the machine can do when it is let."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def ratio(record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]):
    """Time two tasks in turn, several times, and report the median ratio of their best."""

    def measure(name: str, task: Callable[[], object], against: Callable[[], object], rounds: int = 3) -> float:
        ratios = [best_of(task, 1) / best_of(against, 1) for _ in range(rounds)]
        found = statistics.median(ratios)
        record_property(name, found)
        with capsys.disabled():
            print(f"\n{name}: {found:.2f} (of {', '.join(f'{each:.2f}' for each in ratios)})")
        return found

    return measure
