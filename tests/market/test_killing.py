"""kill -9 in the middle of every step; ``killing.py`` does it a thousand times, here a handful."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killing.py")


def killed(work: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--work", str(work), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_market_killed_in_any_step_ends_as_if_it_had_not_been(database: str, tmp_path: Path) -> None:
    if database == "postgresql":
        pytest.importorskip("pgserver", reason="PostgreSQL tests need the package pgserver")
    options = ["--kills", "1", "--owners", "300", "--database", database, "--out", str(tmp_path / "kills.json")]
    options += ["--no-fsync"]  # the campaign waits for the disk; a process that is killed need not
    done = killed(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    kills = json.loads((tmp_path / "kills.json").read_text())["kills"][database]
    assert {step: sum(counts.values()) for step, counts in kills.items()} == dict.fromkeys(
        ("bid", "clear", "stage", "report", "settle", "payout"), 1
    )


def test_a_campaign_of_kills_goes_on_where_it_stopped(tmp_path: Path) -> None:
    options = ["--owners", "60", "--database", "sqlite", "--step", "bid"]
    killed(tmp_path, "--kills", "1", *options)
    (journal,) = tmp_path.glob("*.jsonl")
    first = journal.read_text()
    journal.write_text(first + '{"database": "sqlite", "num')  # a line that a kill cut off
    again = killed(tmp_path, "--kills", "2", *options)
    assert again.returncode == 0, again.stderr
    assert journal.read_text().startswith(first)
    assert len(journal.read_text().splitlines()) == 2


def test_a_market_that_clears_in_two_transactions_is_caught(tmp_path: Path) -> None:
    options = ["--kills", "8", "--owners", "50", "--database", "sqlite", "--step", "clear", "--broken", "halves"]
    done = killed(tmp_path, *options)
    assert done.returncode != 0
    assert "a half-done step was left behind" in done.stderr


def test_a_market_that_acknowledges_what_it_has_not_kept_is_caught(tmp_path: Path) -> None:
    options = ["--kills", "8", "--owners", "50", "--database", "sqlite", "--step", "bid", "--broken", "promises"]
    done = killed(tmp_path, *options)
    assert done.returncode != 0
    assert "lost: " in done.stderr
