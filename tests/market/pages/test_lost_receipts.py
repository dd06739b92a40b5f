"""A report that the market has and whose receipt was lost on its way back: it is asked for again, by the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .axe import violations
from .open_round import PHONE
from .site import Site
from .test_browser_device import Guest, has_reported

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

MISSING = "its signed receipt has not come to this browser yet"
SIGNED = "This browser's own record: drawn, sent, accepted."


@pytest.fixture
def guest(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Guest:
    """An owner at a phone, with an answer chosen."""
    found = Guest(site, browser, request.node.name[5:45])
    found.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    found.ready()
    return found


def cut(guest: Guest, times: int) -> None:
    """So often a report arrives at the market, and the answer to it nowhere."""
    left = [times]

    def lose_the_answer(route: Route) -> None:
        if route.request.method != "PUT" or not left[0]:
            route.continue_()
            return
        left[0] -= 1
        route.fetch()
        route.abort("connectionreset")

    guest.visitor.context.route("**/v1/rounds/*/report", lose_the_answer)


def test_a_receipt_that_was_cut_off_is_brought_by_the_same_bytes_without_a_word_of_hers(
    site: Site, guest: Guest
) -> None:
    cut(guest, 1)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.page.get_by_text(SIGNED).wait_for(timeout=60_000)
    assert has_reported(site, guest.user, guest.round_id)
    first, second = guest.puts()
    assert first == second
    assert guest.page.locator("#unsigned").is_hidden()
    guest.page.reload()
    guest.page.get_by_text(SIGNED).wait_for()
    guest.page.wait_for_timeout(1_000)
    assert len(guest.puts()) == 2, "what is signed for is sent no more"
    guest.leave()


def test_a_receipt_that_does_not_come_is_said_to_be_missing_and_comes_once_the_line_is_back(guest: Guest) -> None:
    cut(guest, 2)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.page.locator("#unsigned").get_by_text(MISSING).wait_for(timeout=60_000)
    assert "this page asks for it again by itself." in guest.page.locator("#unsigned").inner_text()
    assert violations(guest.page) == []
    assert guest.visitor.fits()
    guest.visitor.shoot("owner-receipt-missing-phone")
    guest.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # or after a quarter of a minute
    guest.page.get_by_text(SIGNED).wait_for()
    assert guest.page.locator("#unsigned").is_hidden()
    assert len(set(guest.puts())) == 1
    guest.leave()


def test_a_market_that_says_no_is_not_asked_for_its_receipt_for_ever(guest: Guest) -> None:
    cut(guest, 1)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.page.get_by_text("Your report is drawn, and the market has not").wait_for()

    def refuse(route: Route) -> None:
        if route.request.method == "PUT":
            route.fulfill(status=409, json={"type": "report-stands", "detail": "another one stands"})
        else:
            route.continue_()

    guest.visitor.context.route("**/v1/rounds/*/report", refuse)
    guest.page.locator("#unsigned").get_by_text("it stands").wait_for(timeout=60_000)
    assert "by itself" not in guest.page.locator("#unsigned").inner_text()
    guest.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    guest.page.reload()
    guest.page.get_by_text("drawn, sent; refused; the market said: “another one stands”").wait_for()
    guest.page.wait_for_timeout(1_000)
    assert len(guest.puts()) == 2
    guest.leave()
