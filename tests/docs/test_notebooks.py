"""The notebooks have the form that they promise. They are executed by `make docs`, where any error ends the build."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from .pages import DOCS

NOTEBOOKS = sorted(path for path in (DOCS / "notebooks").glob("*.md") if path.name != "index.md")


def cells(path: Path) -> list[str]:
    """The code of a notebook."""
    return re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_there_are_at_least_eight() -> None:
    assert len(NOTEBOOKS) >= 8


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asks_a_question_and_draws_the_answer(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert title is not None
    assert title[1].endswith("?")
    assert text.startswith("---\nfile_format: mystnb\n"), "without this header it would not be executed"
    assert any("subplots(" in cell or ".figure(" in cell for cell in cells(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_repeats(path: Path) -> None:
    code = "\n".join(cells(path))
    ast.parse(code)
    unseeded = re.findall(r"default_rng\(\)|np\.random\.(?!default_rng|Generator)\w+", code)
    assert not unseeded, "a page that differs each time cannot be checked"
