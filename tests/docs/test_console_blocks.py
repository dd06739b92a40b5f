"""Every console block of the documentation is typed, and prints what the page shows."""

from __future__ import annotations

import doctest
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pdqs.cli import main

from .pages import DOCS, PAGES, ROOT, Saved, Typed, steps

TESTED_ELSEWHERE = {
    DOCS / "cli.md",  # by tests/cli/test_docs.py, on the files of examples/
    DOCS / "scale.md",  # needs folders of Parquet and several machines: tests/scale has the same calls
}

WITH_STEPS = [path for path in PAGES if path not in TESTED_ELSEWHERE and any(steps(path.read_text(encoding="utf-8")))]


def said(path: Path) -> str:
    return str(path.relative_to(ROOT))


def typed(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """What a command prints, and how it ends: pdqs in this process, Python in another."""
    words = shlex.split(command)
    if words[0] == "python":
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    assert words[0] == "pdqs", f"a reader may not have {words[0]!r}"
    capsys.readouterr()
    code = 0
    try:
        main(words[1:])
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


@pytest.mark.parametrize("path", WITH_STEPS, ids=said)
def test_a_page_shows_what_is_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for step in steps(path.read_text(encoding="utf-8")):
        if isinstance(step, Saved):
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
            continue
        code, printed = typed(step.command, capsys)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        right = doctest.OutputChecker().check_output(step.shown, printed, flags)
        assert right, f"$ {step.command}\nexpected\n{step.shown}\ngot\n{printed}"
        assert "Traceback" not in printed
        broken = any(word in step.shown for word in ("BROKEN", "broken", "do not agree"))
        assert code == (2 if step.shown.startswith("pdqs: ") else 1 if broken else 0)


def test_the_tutorial_goes_from_a_round_to_an_audit() -> None:
    words = [step.command.split()[1] for step in steps((DOCS / "tutorial.md").read_text()) if isinstance(step, Typed)]
    assert words == ["--version", "people.py", "plan", "clear", "trade", "compare", "audit"]


def test_no_page_with_commands_is_left_out() -> None:
    assert len(WITH_STEPS) >= 6
    assert all(path in PAGES for path in TESTED_ELSEWHERE)
