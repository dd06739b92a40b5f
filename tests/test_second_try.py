"""What `make test` does with tests that fail: a fault that is there fails twice, and chance is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "run_tests.py"
CHANCE = """
from pathlib import Path

def test_by_chance():
    seen = Path("seen")
    first, _ = not seen.exists(), seen.touch()
    assert not first
"""
FAULT = "def test_of_a_fault():\n    assert False\n"
FAULTS = "import pytest\n\n@pytest.mark.parametrize('n', range(4))\ndef test_of_many(n):\n    assert False\n"


@pytest.mark.parametrize(
    ("written", "code", "named"),
    [
        ([CHANCE], 0, "passed at the second try alone"),
        ([FAULT], 1, "will be tried once more"),
        ([CHANCE, FAULT], 1, "will be tried once more"),
        ([FAULTS], 1, "4 failed"),
        (["def test_good():\n    pass\n"], 0, "1 passed"),
        (["import nothing_of_that_name\n"], 2, "1 error"),
    ],
    ids=["chance", "fault", "both", "many", "good", "broken"],
)
def test_a_fault_fails_the_run_and_chance_does_not(written: list[str], code: int, named: str, tmp_path: Path) -> None:
    for number, text in enumerate(written):
        (tmp_path / f"test_{number}.py").write_text(text)
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # loading them takes longer than all else here
    done = subprocess.run(
        [sys.executable, TOOL, "-q"], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )
    assert (done.returncode, named in done.stdout) == (code, True), done.stdout + done.stderr
    assert ("tried once more" in done.stdout) == (named not in {"4 failed", "1 passed", "1 error"})
