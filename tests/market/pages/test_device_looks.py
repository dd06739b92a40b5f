"""The page of her own device, left open: it says what she is asked, and when, and looks by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.market import round_steps
from pdqs.protocol.market_messages import QueryMessage

from .site import Site, Visitor
from .test_browser_device import PLAN
from .test_comma_market import INCOMES
from .test_device_page import bid_in, enrol, page, place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["page", "place"]  # the fixtures
MEDIAN = PLAN.model_copy(
    update={
        "query": QueryMessage(kind="median", text="Do you smoke?", domain=INCOMES),
        "attribute": "income",
        "question": "side",
        "stages": 4,
        "rule": "lottery",
        "estimator": "unbiased",
        "epsilon_max": 2.0,
    }
)


def test_a_round_that_is_shown_is_looked_at_again_when_bids_close(place: Site, page: Page, browser: Browser) -> None:
    consumer, _ = place.invite("consumer", "Institute")
    place.deposit(consumer, 90_000_000)
    drafted = round_steps.draft_round(place.market, consumer, MEDIAN, "key-of-a-median")
    round_steps.open_round(place.market, consumer, drafted.round_id)
    _, code = place.invite("owner", "Ann")
    page.clock.install()
    page.reload()
    page.locator("#late").wait_for(state="detached")
    enrol(page, place.address, code)
    bid_in(page)
    answers = "yes or no: whether yours, a whole number from 100,000 to 150,000 in steps of 1,000, is at most"
    page.get_by_text(answers).wait_for()
    _, second = place.invite("owner", "Bea")
    visitor = Visitor(browser, place)
    visitor.enter(second)
    visitor.go("/owner")
    assert "Answer: one yes or no, not the number itself" in visitor.page.locator("main").inner_text()
    visitor.context.close()
    place.clock.skip(601)
    page.clock.fast_forward(620_000)
    page.get_by_role("button", name="Do you smoke? (open)").wait_for(state="detached", timeout=30_000)
    page.get_by_text("You can change or withdraw it").wait_for(state="detached")
