"""axe-core on a page that is shown: rules of accessibility that a machine can check.

Where it is not installed (``npm install``) nothing is found, and ``test_axe.py`` says so by a skip.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(os.environ.get("PDQS_AXE") or Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js")


def violations(page: Page) -> list[str]:
    """What axe finds wrong, one line a rule and place."""
    if not AXE.exists():
        return []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{rule['id']}: {node['target']}" for rule in found for node in rule["nodes"]]
