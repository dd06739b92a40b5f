"""Look through the built site: every link and anchor within it leads somewhere, and nothing is fetched from elsewhere.

Run it: python docs/_site/check_site.py build/site
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pdqs

FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""What a browser fetches by itself when it shows a page, and where the address stands."""


@dataclass
class Page(HTMLParser):
    """What one page links to, what it fetches, and what in it can be linked to."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=lambda: {"", "top"})

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {name for name in (given.get("id"), given.get("name")) if name}
        address = given.get(FETCHED.get(tag, ""))
        if address and not (tag == "link" and given.get("rel") in {"search", "next", "prev", "index"}):
            self.fetched.append(address)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))


def read_pages(folder: Path) -> dict[Path, Page]:
    """Every page of a site, parsed."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = page
    return pages


def dead_links(pages: Mapping[Path, Page]) -> Iterator[str]:
    """Links within the site, and files that it fetches, that are not there; anchors too."""
    for path, page in pages.items():
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                yield f"{path.name}: {link} leads nowhere"
            elif target in pages and anchor not in pages[target].anchors:
                yield f"{path.name}: {link} has no such anchor"


def fetched_from_elsewhere(pages: Mapping[Path, Page]) -> Iterator[str]:
    """What a reader without a network would miss."""
    for path, page in pages.items():
        for address in page.fetched:
            parts = urlsplit(address)
            if parts.netloc or parts.scheme not in {"", "data"}:
                yield f"{path.name}: {address} is fetched from elsewhere"


def undocumented(pages: Mapping[Path, Page]) -> Iterator[str]:
    """Public names without a place of their own in the reference."""
    anchors = set[str]().union(*(page.anchors for page in pages.values()))
    for name in pdqs.__all__:
        found = getattr(pdqs, name)
        place = f"module-{found.__name__}" if inspect.ismodule(found) else f"pdqs.{name}"
        if place not in anchors:
            yield f"pdqs.{name} has no entry in the reference"


def without_pictures(pages: Mapping[Path, Page]) -> Iterator[str]:
    """Notebooks that were executed and drew nothing."""
    for path, page in pages.items():
        is_notebook = path.parent.name == "notebooks" and path.name != "index.html"
        if is_notebook and not any("_images" in address for address in page.fetched):
            yield f"{path.name}: a notebook without a picture"


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    folder = Path(sys.argv[1])
    pages = read_pages(folder)
    found = [*dead_links(pages), *fetched_from_elsewhere(pages), *undocumented(pages), *without_pictures(pages)]
    for sentence in found:
        print(sentence)
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values()):,} links, {len(found)} faults")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
