"""Every test, and every lie, that the pages on security name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from owner.hostile.lies import LIES

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "security").glob("*.md"))


def missing(text: str) -> list[str]:
    """What a page names and is not there: files, tests within the file named before them, lies."""
    found, file = [], None
    for name in re.findall(r"`([^`\s]+)`", text):
        if name.endswith(".py"):
            file = ROOT / name if name.startswith("tests/") else ROOT / "tests" / "market" / name
            found += [] if file.is_file() else [name]
        elif name.startswith("test_") and not name.endswith("..."):
            there = file is not None and file.is_file() and f"\ndef {name}(" in file.read_text(encoding="utf-8")
            found += [] if there else [name]
    return found + [lie for lie in re.findall("“([^”]+)”", text) if lie != "quotes" and lie not in LIES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_on_security_names_is_there(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", ["CHANGELOG.md", "docs/owner.md", "docs/security/threat-model.md"])
def test_the_lies_are_as_many_as_a_page_says(page: str) -> None:
    said = re.findall(r"(\d+)(?: scripted)? lies", (ROOT / page).read_text(encoding="utf-8"))
    assert said
    assert {int(number) for number in said} == {len(LIES)}


def test_a_name_of_nothing_is_seen() -> None:
    named = "`test_gone.py`, `test_access.py`: `test_nothing_of_the_kind`, “a lie that nobody tells”"
    assert missing(named) == ["test_gone.py", "test_nothing_of_the_kind", "a lie that nobody tells"]
