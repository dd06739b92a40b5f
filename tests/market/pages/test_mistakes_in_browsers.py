"""Mistakes that need a browser: two tabs, offline in the middle, a double click, no script, half a script, a
session that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.market import access, offer_access, people
from pdqs.owner.bundle import PageServer, manifest_hash

from .axe import violations
from .open_round import PHONE, PRICE, bidding, ready, round_id
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

__all__ = ["round_id"]  # the fixture


def test_two_tabs_with_two_prices_end_with_the_one_that_was_sent_last(
    site: Site, browser: Browser, round_id: str
) -> None:
    ann, first = bidding(site, browser, round_id, "Ann")
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
    bea, visitor = bidding(site, browser, round_id, "Bea")
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
    eve, visitor = bidding(site, browser, round_id, "Eve")
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


def lost_on_the_way(visitor: Visitor) -> list[str]:
    """Let one module of the device be lost each time that the page is loaded; the list says which were, empty it."""
    lost: list[str] = []

    def lose(route: Route) -> None:
        lost.append(route.request.url)
        route.abort("connectionreset")

    visitor.page.route("**/device/account.mjs*", lose)
    return lost


def test_a_page_whose_script_is_lost_on_the_way_says_so_and_is_whole_when_loaded_again(
    site: Site, browser: Browser, round_id: str
) -> None:
    """As when a phone goes from one network to another: until then a button that cannot be pressed, and no word."""
    fay, code = site.invite("owner", "Fay")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    lost = lost_on_the_way(visitor)
    visitor.go(f"/owner/rounds/{round_id}")
    late = visitor.page.locator("#late")
    assert not late.is_visible(), "at first it may just be on its way"
    late.get_by_text("nothing was sent and nothing is lost").wait_for()
    assert lost
    assert visitor.page.locator("#bid-form button:enabled").count() == 0
    assert visitor.fits()
    visitor.shoot("owner-script-lost-phone")
    assert violations(visitor.page) == []
    visitor.page.unroute("**/device/account.mjs*")
    late.get_by_role("link", name="Load it again").click()
    ready(visitor.page)
    assert late.count() == 0
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.press("Bid 0.25")
    visitor.page.get_by_text("Your bid stands").wait_for()
    assert offer_access.bid(site.market, fay, round_id).bid_micros == 250_000
    visitor.context.close()


def test_an_account_that_could_not_be_read_is_not_shown_as_an_empty_one(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Gil")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    lost_on_the_way(visitor)
    visitor.go("/owner/privacy")
    visitor.page.locator("#late").get_by_text("nothing is lost").wait_for()
    assert "Nothing yet" not in visitor.page.locator("main").inner_text()
    visitor.page.unroute("**/device/account.mjs*")
    visitor.page.get_by_role("link", name="Load it again").click()
    visitor.page.get_by_text("Nothing yet").wait_for()
    visitor.page.locator("#late").wait_for(state="detached")
    visitor.context.close()


def test_an_account_that_is_shown_is_not_called_unready_while_the_market_is_slow(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Ida")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    held: list[Route] = []
    visitor.page.route("**/v1/**", lambda route: held.append(route))  # asked, and never answered
    visitor.go("/owner/privacy")
    visitor.page.get_by_text("Nothing yet").wait_for()
    visitor.page.locator("#late").wait_for(state="detached")
    assert held, "the market was asked something that it has not answered"
    visitor.context.close()


def test_a_device_from_her_own_machine_says_so_too_where_its_script_is_lost(
    browser: Browser, device_page: PageServer
) -> None:
    page = browser.new_page()
    page.route("**/account.mjs*", lambda route: route.abort("connectionreset"))
    page.goto(device_page.address)
    page.locator("#late").get_by_text("nothing is lost").wait_for()
    page.unroute("**/account.mjs*")
    page.get_by_role("link", name="Load it again").click()
    page.locator("#manifest", has_text=manifest_hash()).wait_for(state="attached")  # under details
    assert page.locator("#late").count() == 0
    page.close()


def test_a_cap_without_the_name_of_its_fact_does_not_become_the_one_for_everything(
    site: Site, browser: Browser
) -> None:
    _, code = site.invite("owner", "Flo")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    visitor.go("/owner/privacy")
    visitor.page.locator("#late").wait_for(state="detached")
    visitor.page.get_by_text("Set a cap before anything is asked").click()
    visitor.page.get_by_label("Lifetime cap on epsilon").fill("100")
    visitor.press("Set it")
    visitor.page.locator("#trouble").get_by_text("Name the fact that this cap is for").wait_for()
    assert visitor.page.get_by_label("Fact", exact=True).get_attribute("aria-invalid") == "true"
    visitor.page.get_by_label("Fact", exact=True).fill("income")
    visitor.press("Set it")
    visitor.page.get_by_text("of 100.0000 epsilon").wait_for()
    assert "of 12.0000 epsilon, in 0 reports" in visitor.page.locator("#spending").inner_text()
    assert visitor.page.locator("#trouble").is_hidden()
    visitor.context.close()
