"""A report that is drawn and has not arrived: its privacy is spent, and the page says so wherever she looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import offer_access, people
from pdqs.market.store.schema import reports

from .axe import violations
from .open_round import PHONE, SEEN
from .site import ARTIFACTS, Site
from .test_browser_device import Guest, has_reported

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

AGAIN = "Send the same report again"
DRAWN = "Your report is drawn, and the market has not confirmed it yet"
UNUSED = "What you chose just now was not used."
COST = "epsilon 4.0000"


def lose(route: Route) -> None:
    """A report is lost on its way."""
    if route.request.method == "PUT":
        route.abort("connectionreset")
    else:
        route.continue_()


def choosing(guest: Guest) -> Page:
    """A second tab of hers, opened before anything is drawn, with an answer chosen in it."""
    tab = guest.visitor.context.new_page()
    tab.goto(guest.page.url)
    tab.locator("#report-form button:enabled").wait_for()
    tab.get_by_label("No", exact=True).check()
    return tab


def is_drawn(page: Page) -> None:
    """What she must see, and must not."""
    page.get_by_role("heading", name=DRAWN).wait_for()
    page.get_by_role("button", name=AGAIN).and_(page.locator(":enabled")).wait_for()
    text = page.locator("main").inner_text()
    assert COST in text
    assert "4.0000 of 4.0000 is used up for smoker" in text
    for untrue in ("othing was drawn", "othing was sent", "othing was changed", "after this", "Your answer"):
        assert untrue not in text
    assert page.locator("#answer, [data-agree]").count() == 0, "there is nothing to answer any more"
    assert page.locator("#device button:enabled").count() == 1


def drawn_and_lost(guest: Guest) -> None:
    guest.visitor.context.route("**/v1/rounds/*/report", lose)
    guest.page.get_by_role("button", name="Randomise and send").click()


@pytest.fixture
def guest(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Guest:
    """An owner at a phone, with an answer chosen."""
    found = Guest(site, browser, request.node.name[5:45])
    found.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    found.ready()
    return found


def test_a_report_lost_on_its_way_is_said_to_be_drawn_in_every_tab(guest: Guest) -> None:
    other = choosing(guest)
    drawn_and_lost(guest)
    assert "The market cannot be reached" in guest.refusal()
    is_drawn(guest.page)
    assert guest.page.locator("#drawn button").evaluate("button => button === document.activeElement")
    assert guest.page.locator("#drawn").evaluate(SEEN), "without a scroll"
    assert guest.page.get_by_text(UNUSED).is_hidden()
    assert violations(guest.page) == []
    assert guest.visitor.fits()
    guest.visitor.shoot("owner-drawn-not-sent-phone")

    other.get_by_role("button", name="Randomise and send").click()
    other.get_by_text(UNUSED).wait_for()
    is_drawn(other)
    assert other.locator("#trouble").is_hidden()
    other.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    other.screenshot(path=ARTIFACTS / "owner-drawn-in-another-tab-phone.png", full_page=True)
    assert violations(other) == []

    guest.page.reload()
    is_drawn(guest.page)
    assert len(guest.puts()) == 1, "nothing is sent unless she says so"
    guest.visitor.context.unroute_all(behavior="ignoreErrors")
    guest.visitor.press(AGAIN)
    guest.page.get_by_text("Your report is in").wait_for()
    first, second = guest.puts()
    assert first == second
    other.get_by_role("button", name=AGAIN).click()
    other.get_by_text("Your report is in").wait_for()
    guest.visitor.go("/owner/privacy")
    guest.page.locator("#history .sent").get_by_text("drawn, sent, accepted").wait_for()
    assert "4.0000\nof 4.0000 epsilon, in 1 report" in guest.page.locator("#spending").inner_text()
    guest.leave()


def test_a_tab_that_she_turns_to_notices_what_another_has_drawn(guest: Guest) -> None:
    other = choosing(guest)
    drawn_and_lost(guest)
    is_drawn(guest.page)
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # she turns to it
    is_drawn(other)
    assert other.get_by_text(UNUSED).is_hidden()
    guest.leave()


def test_offline_right_after_the_draw_is_no_untouched_offer(guest: Guest) -> None:
    """Nobody answers any more once the offer was fetched a last time, so that nothing is noted as sent."""
    guest.visitor.context.route("**/v1/notices/*", lambda route: route.abort("internetdisconnected"))
    guest.page.get_by_role("button", name="Randomise and send").click()
    assert "The market cannot be reached" in guest.refusal()
    guest.page.get_by_role("heading", name="Your report is drawn, and not sent yet").wait_for()
    assert guest.page.locator("#answer").count() == 0
    guest.visitor.context.unroute_all(behavior="ignoreErrors")
    guest.visitor.press(AGAIN)
    guest.page.get_by_text("Your report is in").wait_for()
    guest.leave()


def test_a_market_that_does_not_take_it_is_not_said_to_have_changed_nothing(site: Site, guest: Guest) -> None:
    def refuse(route: Route) -> None:
        if route.request.method == "PUT":
            route.fulfill(status=503, json={"type": "unavailable", "detail": "away"})
        else:
            route.continue_()

    guest.visitor.context.route("**/v1/rounds/*/report", refuse)
    guest.page.get_by_role("button", name="Randomise and send").click()
    assert "Your report is kept as it was drawn; try again in a moment." in guest.refusal()
    is_drawn(guest.page)
    assert not has_reported(site, guest.user, guest.round_id)
    guest.leave()


def test_signed_out_between_draw_and_sending_she_finds_it_when_she_is_back(site: Site, guest: Guest) -> None:
    def end(route: Route) -> None:
        if route.request.method == "PUT":
            people.revoke_all(site.market, site.operator, guest.user.user_id)
        route.continue_()

    guest.visitor.context.route("**/v1/rounds/*/report", end)
    guest.page.get_by_role("button", name="Randomise and send").click()
    assert "You were signed out" in guest.refusal()
    is_drawn(guest.page)
    door = guest.page.locator("#drawn .actions").get_by_role("link", name="Sign in again")
    assert str(door.get_attribute("href")).endswith(f"/enter?next=%2Fowner%2Frounds%2F{guest.round_id}")
    guest.visitor.shoot("owner-drawn-signed-out-phone")
    guest.visitor.context.unroute_all(behavior="ignoreErrors")
    guest.visitor.enter(people.renew_code(site.market, site.operator, guest.user.user_id).code)
    guest.look()
    is_drawn(guest.page)
    guest.visitor.press(AGAIN)
    guest.page.get_by_text("Your report is in").wait_for()
    assert offer_access.report(site.market, guest.user, guest.round_id).ordinal == 1
    guest.leave()


def test_a_market_that_forgets_what_it_signed_for_is_not_asked_for_its_page_for_ever(site: Site, guest: Guest) -> None:
    guest.visitor.press("Randomise and send")
    guest.page.get_by_text("Your report is in").wait_for()
    with site.market.store.write() as connection:
        connection.execute(reports.delete().where(reports.c.round_id == guest.round_id))
    loads: list[str] = []
    guest.page.on("load", lambda page: loads.append(page.url))
    guest.look()
    guest.page.get_by_role("heading", name="asks for it though it has signed for it").wait_for()
    assert guest.page.locator("#answer").count() == 0
    before = len(loads)  # the page that stood before may still be told to have loaded
    guest.page.wait_for_timeout(2_000)
    assert len(loads) == before <= 2
    guest.leave()
