"""An offer whose time is over, on a page that was left open: it goes by itself, and what is lost is said as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .axe import violations
from .open_round import PHONE
from .site import Site
from .test_browser_device import PLAN, Guest
from .test_drawn_not_sent import lose

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SECONDS = PLAN.report_seconds
LOST = "is lost: you are paid nothing. You lost no privacy"


@pytest.fixture
def guest(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Guest:
    """An owner at a phone, with an answer chosen."""
    found = Guest(site, browser, request.node.name[5:45])
    found.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    found.page.clock.install()
    found.ready()
    return found


def has_ended(guest: Guest) -> str:
    guest.page.get_by_role("heading", name="This round is over").wait_for(timeout=30_000)
    guest.page.locator("#late").wait_for(state="detached", timeout=30_000)  # its script has said what it says
    text = guest.page.locator("main").inner_text()
    for untrue in ("You are asked", "Your offer", "for another", "another over", "nothing is lost"):
        assert untrue not in text
    assert guest.page.locator("#device button:visible").count() == 0
    assert guest.visitor.fits()
    return text


def test_an_offer_left_open_ends_by_itself_also_where_the_market_is_out_of_reach(guest: Guest) -> None:
    guest.visitor.context.set_offline(True)
    guest.page.clock.fast_forward(1000 * SECONDS - 60_000)
    assert guest.page.get_by_role("heading", name="Your offer").is_visible()
    guest.page.clock.fast_forward(61_000)
    assert LOST in has_ended(guest)
    guest.visitor.shoot("owner-offer-ended-phone")
    guest.visitor.context.set_offline(False)
    guest.leave()


def test_an_offer_left_open_ends_when_the_market_says_that_the_round_is_settled(site: Site, guest: Guest) -> None:
    site.clock.skip(SECONDS + 1)  # the page's own clock stands
    guest.page.clock.run_for(20_000)
    assert LOST in has_ended(guest)
    assert guest.page.locator('#device[data-stage="missed"]').count() == 1
    assert violations(guest.page) == []
    assert guest.puts() == []
    guest.leave()


def test_of_a_report_that_was_drawn_and_came_too_late_the_privacy_is_said_to_be_spent(guest: Guest) -> None:
    guest.visitor.context.route("**/v1/rounds/*/report", lose)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.page.get_by_role("heading", name="Your report is drawn, and the market has not").wait_for()
    guest.page.clock.fast_forward(1000 * SECONDS + 1000)
    text = has_ended(guest)
    assert "Your report was drawn here (epsilon 4.0000 is charged for life)" in text
    assert "lost no privacy" not in text
    guest.leave()


def test_the_list_of_rounds_left_open_offers_nothing_that_is_over(site: Site, guest: Guest) -> None:
    guest.visitor.go("/owner")
    guest.page.get_by_text("An offer waits for you, for").wait_for()
    site.clock.skip(SECONDS + 1)
    guest.page.clock.fast_forward(1000 * SECONDS + 4000)
    guest.page.get_by_text("The offer was not taken.").wait_for(timeout=30_000)
    assert guest.page.get_by_text("An offer waits for you").count() == 0
    guest.leave()
