"""The lines that the documents give for a backup leave a copy that its owner alone can read."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def test_a_copy_made_by_the_documented_line_is_no_more_open_than_the_market(tmp_path: Path) -> None:
    (first,) = re.findall(r"^umask \d+", OPERATIONS, re.MULTILINE)
    (line,) = re.findall(r"# or: python (-c \".*\")", OPERATIONS)
    sqlite3.connect(tmp_path / "pdqs-market.db").execute("CREATE TABLE kept (a)")
    script = f"umask 022; {first}; {sys.executable} {line}"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "backup.db").stat().st_mode & 0o077 == 0


def test_so_does_the_line_for_postgresql() -> None:
    assert re.findall(r"[^`]*pg_dump", OPERATIONS) == ["umask 077; pg_dump"]
