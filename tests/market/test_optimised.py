"""Promises about money hold under ``python -O`` too, where ``assert`` is not compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pdqs.market

TESTS = Path(__file__).parent.parent
WORDS = "sum_to_zero or frozen or beyond or entered or not_made"


def test_the_ledger_and_settlement_tests_pass_when_asserts_are_compiled_away() -> None:
    files = ["market/test_ledger.py", "market/test_rounds.py", "rounds/test_settlement.py"]
    chosen = f"({WORDS} or test_ledger or test_settlement) and not postgresql"
    # pytest rewrites the asserts of the tests themselves, so these still count; those of pdqs are gone.
    quiet = ["-o", "addopts=", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestConfigWarning"]
    done = subprocess.run(
        [sys.executable, "-O", "-m", "pytest", *quiet, "-k", chosen, *(str(TESTS / name) for name in files)],
        cwd=TESTS.parent,
        # Without plugins: all that is imported is compiled anew for this.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_no_promise_about_money_in_the_market_is_an_assert() -> None:
    """What an ``assert`` says is compiled away; only those that help a type checker may stay."""
    market = Path(str(pdqs.market.__file__)).parent
    found = [
        f"{path.name}: {line.strip()}"
        for path in market.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith("assert ") and re.search(r"micros|budget|total|balance|hash|posted|role", line)
    ]
    assert [line for line in found if "math.isclose" not in line] == []
