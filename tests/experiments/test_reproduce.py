"""The command itself, on the quick plan: once from nothing, once more when all is there."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pdqs.cli import main
from pdqs.experiments import report, setups
from pdqs.experiments.results import read


def call(*words: str) -> int:
    """The exit code."""
    try:
        main(["reproduce", *words])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def quicker() -> setups.Plan:
    """Every experiment and mechanism of the quick plan, without the larger of its populations and with few queries."""
    plan = setups.quick_plan()
    small = (
        dataclasses.replace(
            each, populations=tuple(name for name in each.populations if name != "customers"), queries=4
        )
        for each in plan.experiments
    )
    return dataclasses.replace(plan, experiments=tuple(small))


def test_a_quick_run_writes_results_figures_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jax", reason="NPQM is trained by the extra 'neural'")
    plan = quicker()
    monkeypatch.setattr(setups, "quick_plan", lambda _: plan)
    assert call("--quick", "--out", str(tmp_path), "--processes", "2") == 0
    said = capsys.readouterr()
    assert f"report: {tmp_path / 'report.html'}" in said.out
    assert "100% done" in said.err
    found = read(tmp_path / "results.parquet", plan)
    unanswered = {cell for cell in plan.cells() if cell not in found.samples}
    assert all(cell.mechanism.startswith("npqm") for cell in unanswered), "only NPQM may give no answer"
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".pdf", ".png", ".svg"}
    assert "pdqs reproduce --quick --seed 20240" in (tmp_path / "report.html").read_text(encoding="utf-8")

    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("*.parquet")}
    table = (tmp_path / "results.parquet").read_bytes()
    monkeypatch.setattr(report, "write", lambda *_, **__: tmp_path)  # it is drawn already; what counts is what is run
    assert call("--quick", "--out", str(tmp_path)) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("*.parquet")} == before
    assert (tmp_path / "results.parquet").read_bytes() == table


def test_ctrl_c_stops_a_run_at_once_workers_and_all(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="NPQM is trained by the extra 'neural'")
    script = "from pdqs.cli import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", script, "reproduce", "--quick", "--out", "run"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    give_up = time.monotonic() + 300
    while not any(tmp_path.glob("run/*/*.npz")) and running.poll() is None and time.monotonic() < give_up:
        time.sleep(0.05)
    try:
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process of the run
        said = running.communicate(timeout=120)[1]  # ends when the last worker has let go of the stream
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    assert running.returncode == 130
    assert said.endswith("pdqs: stopped: the same command goes on with what is in run\n")
    assert "Traceback" not in said


def test_a_report_on_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--report-only", "--out", str(tmp_path)) == 2
    assert "holds no results.parquet" in capsys.readouterr().err


def test_a_directory_of_another_seed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pdqs.experiments.store import Store

    Store(tmp_path).open(setups.quick_plan(1))
    assert call("--quick", "--out", str(tmp_path), "--seed", "2") == 2
    assert "with seed 1, not of plan 'quick' with seed 2" in capsys.readouterr().err
