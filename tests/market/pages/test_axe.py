"""The look for what keeps people from a page finds it, where the library is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .axe import AXE, violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_door_has_no_violation_and_one_that_is_put_there_is_found(site: Site, browser: Browser) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm install): pages are not checked by it")
    visitor = Visitor(browser, site)
    visitor.go("/")
    assert violations(visitor.page) == []
    visitor.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert any(found.startswith("label") for found in violations(visitor.page))
    visitor.context.close()
