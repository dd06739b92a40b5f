"""axe-core on a page that is shown: rules of accessibility that a machine can check.

Where it is not installed (``npm install``) nothing is found, and ``test_axe.py`` says so by a skip.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(os.environ.get("PDQS_AXE") or Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js")


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page, only: tuple[str, ...] = ()) -> list[str]:
    """What axe finds wrong, one line a rule and place; of these rules alone, where some are named."""
    if not AXE.exists():
        return []
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    options = {"resultTypes": ["violations"], **({"runOnly": list(only)} if only else {})}
    found = page.evaluate("async (options) => (await axe.run(document, options)).violations", options)
    return [f"{rule['id']}: {node['target']}" for rule in found for node in rule["nodes"]]
