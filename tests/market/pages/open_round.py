"""One open round and people at the page where a price is named, for tests of what goes wrong there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import round_steps
from pdqs.protocol.market_messages import QueryMessage, RoundPlan, User

from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Do you cycle?"),
    attribute="cycling",
    budget_micros=20_000_000,
    bid_seconds=36_000,
)
PRICE = "Your price per unit of epsilon"
SEEN = "box => { const { top, bottom } = box.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"
"""Whether all of a box is within the window."""


@pytest.fixture(scope="module")
def round_id(site: Site) -> str:
    """A round that takes bids for ten hours."""
    consumer, _ = site.invite("consumer", "Bureau")
    site.deposit(consumer, 100_000_000)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, "key-of-a-round")
    return round_steps.open_round(site.market, consumer, drafted.round_id).round_id


def ready(page: Page) -> None:
    """Wait until a price can be sent."""
    page.locator("#bid-form button:enabled").wait_for()


def bidding(site: Site, browser: Browser, round_id: str, name: str, **context: object) -> tuple[User, Visitor]:
    """Somebody new at the page where she names her price, ready to."""
    user, code = site.invite("owner", name)
    visitor = Visitor(browser, site, **context)
    visitor.enter(code)
    visitor.go(f"/owner/rounds/{round_id}")
    ready(visitor.page)
    return user, visitor
