"""What stands beside a price is about the price that stands there, and is said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .open_round import PHONE, PRICE, bidding, round_id
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["round_id"]  # the fixture
RANGE = "Give a price from 0.00 to 1.00."


def test_a_fault_goes_with_the_price_that_it_was_about(site: Site, browser: Browser, round_id: str) -> None:
    _, visitor = bidding(site, browser, round_id, "Ada", **PHONE)
    page, price, fault = visitor.page, visitor.page.get_by_label(PRICE), visitor.page.locator("#price-fault")
    for field, right in ((price, "0.40"), (page.get_by_label("as a slider"), "400000")):
        price.fill("0.0000001")
        page.locator("#bid-form button").click()
        fault.get_by_text("has more than six decimals").wait_for()
        assert price.get_attribute("aria-invalid") == "true"
        visitor.shoot("owner-price-fault-phone")
        field.fill(right)
        page.get_by_role("button", name="Bid 0.40").wait_for()
        assert fault.is_hidden()
        assert price.get_attribute("aria-invalid") == "false"
    visitor.shoot("owner-price-mended-phone")
    visitor.context.close()


def test_a_price_out_of_range_is_told_the_range_once(site: Site, browser: Browser, round_id: str) -> None:
    _, visitor = bidding(site, browser, round_id, "Bo", **PHONE)
    form = visitor.page.locator("#bid-form")
    visitor.page.get_by_label(PRICE).fill("2")
    assert form.inner_text().count(RANGE) == 1
    visitor.page.get_by_role("button", name="Bid", exact=True).click()
    visitor.page.locator("#price-fault").get_by_text(RANGE).wait_for()
    assert form.inner_text().count(RANGE) == 1
    visitor.shoot("owner-price-out-of-range-phone")
    visitor.page.get_by_label(PRICE).fill("3")
    assert form.inner_text().count(RANGE) == 1
    visitor.context.close()
