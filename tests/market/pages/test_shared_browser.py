"""One phone, two people: its account counts the reports of both, and says so where caps are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axe import violations
from .open_round import PHONE
from .site import Site
from .test_browser_device import Guest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COUNTS = "It counts the reports sent from this browser, by whoever was signed in."
ANOTHERS = "sent while somebody else was signed in"


def test_reports_of_others_are_said_to_count(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "First on the phone")
    guest.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    guest.ready()
    assert "Reports sent from this browser count, by whoever was signed in." in guest.page.locator("main").inner_text()
    assert violations(guest.page) == []
    assert guest.visitor.fits()
    guest.visitor.press("Randomise and send")
    guest.page.get_by_text("Your report is in").wait_for()
    guest.visitor.go("/owner/privacy")
    guest.page.locator("#history .sent").wait_for()
    text = guest.page.locator("main").inner_text()
    assert COUNTS in text
    assert "use a browser profile or a device of your own" in text
    assert ANOTHERS not in text, "so far it is all hers"
    guest.visitor.press("Sign out")

    _, code = site.invite("owner", "Second on the phone")
    guest.visitor.enter(code)
    guest.visitor.go("/owner/privacy")
    guest.page.locator("#history .sent").wait_for()
    text = guest.page.locator("#shared").inner_text()
    assert f"The report below was {ANOTHERS} here" in text
    assert ANOTHERS in guest.page.locator("#history .sent").inner_text()
    assert violations(guest.page) == []
    assert guest.visitor.fits()
    guest.visitor.shoot("owner-privacy-shared-phone")
    guest.leave()


def test_a_cap_that_is_reached_is_not_said_to_be_by_her_alone(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Capped by both")
    guest.visitor.go("/owner/privacy")
    guest.page.get_by_text("Set a cap before anything is asked").click()
    guest.page.get_by_label("Fact", exact=True).fill("smoker")
    guest.page.get_by_label("Lifetime cap on epsilon").fill("0.1")
    guest.visitor.press("Set it")
    guest.page.get_by_text("of 0.1000 epsilon, in 0 reports").wait_for()
    guest.look()
    assert "Reports that others sent from this browser count too" in guest.refusal()
    guest.leave()
