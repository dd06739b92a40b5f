"""Run every test, and the few that failed once more, each by itself.

    python tools/run_tests.py -n 4 --dist loadfile

Some tests drive real browsers, servers and databases, many at once on two cores; now and then one of thousands loses a
race with the machine. A test that fails again when nothing runs beside it fails the run. One that passes then is named,
last of all, so that its race is found and mended: it is no less a fault of the test. More than a few failures are no
matter of chance, and are not tried again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 3
"""Failures that may be chance: more in one run have a cause."""
CACHE = Path(".pytest_cache/v/cache/lastfailed")
PYTEST = [sys.executable, "-m", "pytest"]


def failed() -> list[str]:
    """The tests that failed in the run before."""
    return sorted(json.loads(CACHE.read_text())) if CACHE.exists() else []


def main(arguments: list[str]) -> int:
    """The exit code of pytest; 0 if all passed, those of chance at the second time."""
    CACHE.unlink(missing_ok=True)  # of this run alone
    first = subprocess.run([*PYTEST, *arguments], check=False).returncode
    names = failed()
    if first != 1 or not 1 <= len(names) <= MOST:
        return first
    print(f"\n{len(names)} failed, and will be tried once more with nothing beside it:", *names, sep="\n  ", flush=True)
    again = [subprocess.run([*PYTEST, "-p", "no:xdist", name], check=False).returncode for name in names]
    if any(again):
        return 1
    print("\npassed at the second try alone, each a race to be found and mended:", *names, sep="\n  ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
