"""Every page of every role, empty, filled and in error: nothing keeps people from it, and it fits a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .axe import AXE
from .every_page import every_route, routes_without, walk_all
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_no_page_has_a_violation_and_none_was_left_out(site: Site, browser: Browser) -> None:
    """What ``make pages`` does in every look, on a phone alone; without axe-core the pages must still fit and open."""
    walk = walk_all(site, browser)
    assert walk.faults == []
    assert routes_without(walk.visited) == set()
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm install): pages were opened, but not checked by it")


def test_a_page_that_nobody_looked_at_is_noticed() -> None:
    assert routes_without(set()) == every_route()
    assert "/operator/rounds/{round_id}" not in routes_without({"/operator/rounds/r_1"})
    assert "/operator/rounds/{round_id}" in routes_without({"/consumer/rounds/r_1", "/operator"})
