"""A run may be killed at any moment, go on on any number of processes, and end with the same bytes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pdqs.experiments.runner import run
from pdqs.experiments.setups import Plan
from pdqs.experiments.store import Store
from pdqs.model.errors import FileError

from .killing import PLAN

ROOT = Path(__file__).parents[2]
KILLS = 10


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    directory = tmp_path_factory.mktemp("whole")
    assert run(PLAN, directory, processes=1) == len(PLAN.cells())
    return directory


def files_of(directory: Path) -> dict[str, bytes]:
    """Every file of a run but its lock."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def start(directory: Path, processes: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.experiments.killing", str(directory), str(processes)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def children_of(parent: int) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(entry.name)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for left-over processes in /proc")
def test_a_run_killed_ten_times_ends_with_the_bytes_of_one_that_was_not(tmp_path: Path, whole: Path) -> None:
    """Killed with SIGKILL a drawn moment after a drawn number of further cells is there."""
    rng = np.random.default_rng(5)
    done_at_kill, workers = list[int](), list[int]()
    for kill in range(KILLS):
        process = start(tmp_path, processes=1 + kill % 2)
        wanted = len(list(tmp_path.rglob("cells/**/*.parquet"))) + int(rng.integers(0, 7))
        pause = float(rng.uniform(0.0, 0.1))
        while len(list(tmp_path.rglob("cells/**/*.parquet"))) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(pause)
        workers += children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done_at_kill.append(len(list(tmp_path.rglob("cells/**/*.parquet"))))
    assert any(0 < done < len(PLAN.cells()) for done in done_at_kill), "every kill came before or after the work"
    give_up = time.monotonic() + 300
    while any(map(alive, workers)) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not any(map(alive, workers)), "workers outlived the run that started them"
    assert run(PLAN, tmp_path, processes=1) == len(PLAN.cells())
    assert files_of(tmp_path) == files_of(whole)


def test_a_finished_cell_is_not_run_again(tmp_path: Path, whole: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    store = Store(tmp_path / "copy")
    first, second, *_ = PLAN.cells()
    store.cell_path(first).unlink()
    told: list[str] = []
    run(PLAN, store.root, processes=1, report=lambda name, done, total: told.append(f"{name} {done / total:g}"))
    assert told == [f"{first.key} 1"]
    assert files_of(store.root) == files_of(whole)
    assert store.done(second)


def test_two_processes_give_the_bytes_of_one(tmp_path: Path, whole: Path) -> None:
    run(PLAN, tmp_path, processes=2)
    assert files_of(tmp_path) == files_of(whole)


def test_another_seed_gives_other_bytes(tmp_path: Path, whole: Path) -> None:
    """What the comparisons above would catch."""
    few = dataclasses.replace(PLAN, seed=12, experiments=(dataclasses.replace(PLAN.experiments[0], levels=(0.5,)),))
    run(few, tmp_path, processes=1)
    ours, theirs = files_of(tmp_path), files_of(whole)
    cells = [name for name in ours if name.startswith("cells") and name in theirs]
    assert cells
    assert all(ours[name] != theirs[name] for name in cells)


def test_a_torn_cell_is_named_and_not_put_into_the_table(tmp_path: Path, whole: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    store = Store(tmp_path / "copy")
    torn = store.cell_path(PLAN.cells()[3])
    torn.write_bytes(torn.read_bytes()[:200])
    with pytest.raises(FileError, match=torn.name):
        run(PLAN, store.root, processes=1)


def test_a_directory_of_another_plan_is_refused(whole: Path) -> None:
    with pytest.raises(FileError, match="holds a run of plan 'killed' with seed 11, not of plan 'killed' with seed 12"):
        run(dataclasses.replace(PLAN, seed=12), whole, processes=1)


def test_an_interrupt_that_was_swallowed_still_stops_the_run(tmp_path: Path) -> None:
    """As one is that falls into a callback of the interpreter's own: there it is printed, and lost."""
    steps: list[str] = []

    def swallow(what: str, _done: float, _to_do: float) -> None:
        steps.append(what)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(PLAN, tmp_path, processes=1, report=swallow)
    assert len(steps) < len(list(PLAN.cells()))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_runs_cannot_write_to_one_directory(whole: Path) -> None:
    store = Store(whole)
    with store.locked(), pytest.raises(FileError, match="another run is writing"):
        run(PLAN, whole, processes=1)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, small_plan: Plan) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match="file"):
        run(small_plan, tmp_path / "file", processes=1)


def test_unfinished_files_of_a_killed_run_are_swept_up(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "cells").mkdir()
    left = tmp_path / "cells" / f".unfinished-{os.getpid()}-x.parquet"
    left.write_bytes(b"half")
    with store.locked():
        assert not left.exists()
