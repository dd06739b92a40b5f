"""What the pages under docs/ hold: files to save, commands to type, links to follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if not {"results", "generated", "_site"} & set(path.relative_to(DOCS).parts)
)


@dataclass(frozen=True)
class Saved:
    """A file that a page tells its reader to save."""

    name: str
    text: str


@dataclass(frozen=True)
class Typed:
    """A command that a page tells its reader to type, and what it shows below it."""

    command: str
    shown: str


def steps(text: str) -> Iterator[Saved | Typed]:
    """What a reader of a page does, in order.

    >>> list(steps("```console\\n$ pdqs --version\\npdqs 0\\n```\\n"))
    [Typed(command='pdqs --version', shown='pdqs 0\\n')]
    """
    for kind, body in re.findall(r"^```(\{code-block\} python|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield Typed(command, shown)
        elif caption := re.match(r":caption: (\S+)\n\n", body):
            yield Saved(caption[1], body[caption.end() :])


def links(text: str) -> list[str]:
    """Where the links and pictures of a page lead, those to other places left out.

    >>> links("[a](b.md#c) ![d](e.png) [f](https://g.example) `[h](i)`")
    ['b.md#c', 'e.png']
    """
    prose = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the site and code hosts make them.

    >>> sorted(anchors("# What is it?\\n## 9. A lottery"))
    ['9-a-lottery', 'what-is-it']
    """
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
