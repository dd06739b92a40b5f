"""kill -9 while clearing, opening a stage and settling; ``killing.py`` does it a hundred times, here a handful."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killing.py")


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_market_killed_at_any_step_ends_as_if_it_had_not_been(database: str, tmp_path: Path) -> None:
    if database == "postgresql":
        pytest.importorskip("pgserver", reason="PostgreSQL tests need the package pgserver")
    found = tmp_path / "kills.json"
    options = ["--kills", "3", "--owners", "300", "--database", database, "--out", str(found)]
    done = subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kills = json.loads(found.read_text())["kills"]
    assert {step: sum(counts.values()) for step, counts in kills.items()} == {"clear": 3, "stage": 3, "settle": 3}


def test_a_market_that_clears_in_two_transactions_is_caught() -> None:
    options = ["--kills", "8", "--owners", "50", "--broken"]
    done = subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a half-done step was left behind" in done.stderr
