"""A second phone of hers: its account knows only what was sent from it, and says of how many reports it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.market import access

from .axe import violations
from .open_round import PHONE
from .site import Site, Visitor
from .test_browser_device import Guest, has_reported

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

ONLY = "This browser knows only what was sent from here."
ONE_MORE = (
    "The market counts 1 more report of yours, sent from another device or browser, or before the data of this one was"
    " cleared. What it cost is not in these figures."
)


def privacy_of(visitor: Visitor) -> str:
    """The page, when the market was asked."""
    with visitor.page.expect_response("**/v1/me"):
        visitor.go("/owner/privacy")
    visitor.page.wait_for_load_state("networkidle")
    return visitor.page.locator("main").inner_text()


def test_a_second_phone_says_what_it_does_not_know_of(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "With two phones")
    assert ONLY not in privacy_of(guest.visitor)
    guest.ready()
    guest.visitor.press("Randomise and send")
    guest.page.get_by_text("Your report is in").wait_for()
    assert ONLY not in privacy_of(guest.visitor), "it was sent from here"

    second = Visitor(browser, site, **PHONE)
    cookie = access.start_session(site.market, guest.user).cookie
    second.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    text = privacy_of(second)
    assert f"{ONLY} {ONE_MORE}" in text
    assert "of 12.0000 epsilon, in 0 reports" in text
    assert violations(second.page) == []
    assert second.fits()
    second.shoot("owner-privacy-second-phone")
    second.context.close()
    guest.leave()


def test_a_report_whose_receipt_was_lost_was_sent_from_here(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Without a receipt")
    guest.ready()

    def lose(route: Route) -> None:
        if route.request.method == "PUT":
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    guest.visitor.context.route("**/v1/rounds/*/report", lose)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.refusal()
    assert has_reported(site, guest.user, guest.round_id)
    guest.visitor.context.unroute_all(behavior="ignoreErrors")
    assert ONLY not in privacy_of(guest.visitor)
    guest.leave()


def test_an_account_that_could_not_ask_the_market_says_so(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Out of reach")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.page.route("**/v1/me", lambda route: route.abort("internetdisconnected"))
    visitor.go("/owner/privacy")
    said = "Whether the market counts more could not be looked at. The market cannot be reached."
    visitor.page.locator("#elsewhere").get_by_text(said).wait_for()
    visitor.context.close()
