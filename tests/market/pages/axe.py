"""axe-core on a page that is shown: rules of accessibility that a machine can check."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

_USUAL = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"


@cache
def _source() -> str:
    """The library as ``npm install`` puts it, or where PDQS_AXE says; a skip that says what is missing."""
    path = Path(os.environ.get("PDQS_AXE") or _USUAL)
    if not path.exists():
        pytest.skip("axe-core is not installed (npm install)")
    return path.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong, one line a rule and place."""
    page.evaluate(_source())
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{rule['id']}: {node['target']}" for rule in found for node in rule["nodes"]]
