"""Mistakes that need a browser: two tabs, offline in the middle, a double click, no script, a session that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import access, offer_access, people, round_steps
from pdqs.protocol.market_messages import QueryMessage, RoundPlan

from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Do you cycle?"),
    attribute="cycling",
    budget_micros=20_000_000,
    bid_seconds=36_000,
)
PRICE = "Your price per unit of epsilon"


@pytest.fixture(scope="module")
def round_id(site: Site) -> str:
    consumer, _ = site.invite("consumer", "Bureau")
    site.deposit(consumer, 100_000_000)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, "key-of-a-round")
    return round_steps.open_round(site.market, consumer, drafted.round_id).round_id


def ready(page: Page) -> None:
    page.locator("#bid-form button:enabled").wait_for()


def test_two_tabs_with_two_prices_end_with_the_one_that_was_sent_last(
    site: Site, browser: Browser, round_id: str
) -> None:
    ann, code = site.invite("owner", "Ann")
    first = Visitor(browser, site)
    first.enter(code)
    first.go(f"/owner/rounds/{round_id}")
    second = first.context.new_page()
    second.goto(first.page.url)
    for page, price in ((first.page, "0.30"), (second, "0.45")):
        ready(page)
        page.get_by_label(PRICE).fill(price)
        page.get_by_role("button", name="Bid").click()
        page.locator(".big-figure").get_by_text(price).wait_for()
    assert offer_access.bid(site.market, ann, round_id).bid_micros == 450_000
    first.context.close()


def test_offline_in_the_middle_says_so_keeps_the_price_and_goes_on_later(
    site: Site, browser: Browser, round_id: str
) -> None:
    bea, code = site.invite("owner", "Bea")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/owner/rounds/{round_id}")
    ready(visitor.page)
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.context.set_offline(True)
    visitor.page.get_by_role("button", name="Bid 0.25").click()
    visitor.page.get_by_text("The market cannot be reached").wait_for()
    assert visitor.page.get_by_label(PRICE).input_value() == "0.25"
    visitor.context.set_offline(False)
    visitor.page.get_by_role("button", name="Bid 0.25").dblclick()
    visitor.page.get_by_text("Your bid stands").wait_for()
    assert offer_access.bid(site.market, bea, round_id).bid_micros == 250_000
    visitor.context.close()


def test_a_session_that_ended_meanwhile_is_said_to_have_and_nothing_is_sent(
    site: Site, browser: Browser, round_id: str
) -> None:
    eve, code = site.invite("owner", "Eve")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/owner/rounds/{round_id}")
    ready(visitor.page)
    visitor.page.get_by_label(PRICE).fill("0.25")
    people.revoke_all(site.market, site.operator, eve.user_id)
    visitor.page.get_by_role("button", name="Bid 0.25").click()
    visitor.page.get_by_text("You were signed out").wait_for()
    assert visitor.page.get_by_label(PRICE).input_value() == "0.25"
    visitor.context.close()


def test_without_scripts_an_owner_is_told_why_nothing_can_be_sent_and_what_else_there_is(
    site: Site, browser: Browser, round_id: str
) -> None:
    dot, _ = site.invite("owner", "Dot")
    visitor = Visitor(browser, site, java_script_enabled=False)
    cookie = access.start_session(site.market, dot).cookie
    visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    visitor.go(f"/owner/rounds/{round_id}")
    text = visitor.page.locator("main").inner_text()
    assert "Allow scripts for this site, or use pdqs owner on your computer" in text
    assert visitor.page.locator("#bid-form button:enabled").count() == 0
    visitor.context.close()
