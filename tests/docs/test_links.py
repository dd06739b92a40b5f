"""Links between files lead somewhere, without a network. (`make docs` follows those of the built site.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import DOCS, PAGES, ROOT, anchors, links

HERE = [*sorted(ROOT.glob("*.md")), *PAGES, *sorted((DOCS / "results").rglob("*.md"))]
MADE = DOCS / "reference" / "generated"


def dead(path: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere; pages that are made when the site is built are taken to be there."""
    found = []
    for link in links(text):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if target.is_relative_to(MADE):
            continue
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            found.append(link)
    return found


@pytest.mark.parametrize("path", HERE, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert not dead(path, path.read_text(encoding="utf-8"))


def test_dead_links_and_anchors_would_be_found() -> None:
    text = "[a](theory.md) [b](nowhere.md) [c](theory.md#1-notation) [d](theory.md#99-nothing)"
    assert dead(DOCS / "index.md", text) == ["nowhere.md", "theory.md#99-nothing"]


def test_every_picture_is_shown_on_some_page() -> None:
    shown = {(path.parent / link).resolve() for path in HERE for link in links(path.read_text(encoding="utf-8"))}
    assert not [path.name for path in (DOCS / "images").iterdir() if path not in shown]


def test_every_page_is_in_some_list_of_contents() -> None:
    """Sphinx says so too, when the site is built; this says it at once."""
    listed = set()
    for path in PAGES:
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = line.rpartition("<")[2].rstrip(">").strip()
            if re.fullmatch(r"[\w./*-]+", entry):
                up = entry.count("../")
                folder = [path.parent, *path.parent.parents][up]
                listed |= {found.resolve() for found in folder.glob(f"{entry[3 * up :].lstrip('/.')}.md") if entry}
    assert not [path for path in PAGES if path not in listed and path != DOCS / "index.md"]
