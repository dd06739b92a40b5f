"""A market that signed for a report and does not keep its word is told of on the owner's pages, and by her own page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pdqs.market import round_steps
from pdqs.owner.bundle import PageServer

from .axe import violations
from .own_page import enrol_and_bid
from .site import Site, served
from .test_browser_device import Guest
from .test_device_elsewhere import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

VANISHED = "“Do you smoke?”: The market signed for your report, promised 4.000001 and no longer tells of the round."
CANCELLED = "was paid (the market calls the round cancelled)."
TAKEN = "of it was taken back since (the line is gone from the market's statement)."
NOBODY: dict[str, Any] = {"items": []}


def lying(context: BrowserContext, *, notices: dict[str, Any] | None = None, statement: bool = False) -> None:
    """From now on the market's list of rounds, or each round of it, says this; or its statement is empty."""
    context.unroute_all(behavior="wait")

    def listed(route: Route) -> None:
        found = route.fetch().json()
        one_by_one = [found] if notices == NOBODY else found.get("items", [found])
        for each in one_by_one:
            each.update(notices)
        route.fulfill(json=found)

    if notices is not None:
        context.route("**/v1/notices", listed)
    if notices is not None and notices != NOBODY:
        context.route("**/v1/notices/*", listed)
    if statement:
        context.route("**/v1/statement*", lambda route: route.fulfill(json=route.fetch().json() | NOBODY))


@pytest.fixture(scope="module")
def guest(site: Site, browser: Browser) -> Iterator[Guest]:
    """An owner whose report was signed for."""
    found = Guest(site, browser, "Signed")
    found.ready()
    found.visitor.press("Randomise and send")
    found.page.get_by_text("This browser's own record: drawn, sent, accepted.").wait_for()
    yield found
    found.leave()


def told(guest: Guest, path: str) -> str:
    guest.visitor.go(path)
    guest.page.locator("#faults:not([hidden])").wait_for()
    assert violations(guest.page) == []
    return guest.page.locator("#faults").inner_text()


def told_nothing(guest: Guest, path: str) -> None:
    with guest.page.expect_response("**/v1/statement*"):
        guest.visitor.go(path)
    guest.page.wait_for_load_state("networkidle")
    assert guest.page.locator("#faults").is_hidden()


def trouble(guest: Guest) -> str:
    guest.look()
    guest.page.locator("#trouble:not([hidden])").wait_for()
    return guest.page.locator("#trouble").inner_text()


def test_a_round_that_was_signed_for_is_missed_and_called_off_on_her_pages(guest: Guest) -> None:
    for path in ("/owner", "/owner/privacy"):
        told_nothing(guest, path)
        lying(guest.visitor.context, notices=NOBODY)
        assert VANISHED in told(guest, path)
        lying(guest.visitor.context, notices={"state": "cancelled"})
        assert CANCELLED in told(guest, path)
        guest.visitor.context.unroute_all(behavior="wait")


def test_money_that_was_taken_back_is_told_on_her_pages(guest: Guest) -> None:
    guest.site.clock.skip(100_000)
    round_steps.advance_due(guest.site.market)
    told_nothing(guest, "/owner/privacy")
    guest.page.get_by_text("drawn, sent, accepted, paid", exact=True).wait_for()
    lying(guest.visitor.context, statement=True)
    for path in ("/owner", "/owner/privacy"):
        assert TAKEN in told(guest, path)
    guest.page.get_by_text("drawn, sent, accepted, paid, taken back").wait_for()
    assert TAKEN in trouble(guest)
    guest.page.get_by_text("This browser's own record: drawn, sent, accepted, paid, taken back.").wait_for()
    guest.visitor.context.unroute_all(behavior="wait")
    told_nothing(guest, "/owner/privacy")
    guest.page.get_by_text("drawn, sent, accepted, paid", exact=True).wait_for()  # given again
    assert guest.visitor.complaints == []


PAYOUT = {"transaction_id": "p1", "kind": "payout", "account": "o", "round_id": None, "at_ms": 1_794_786_536_585}
PAID_OUT = "The market says that it paid out 2.50 on 15 Nov 2026: did you get it?"
NOT_COME = "If it did not come: tell the operator, and show this line."


def paying_out(context: BrowserContext) -> None:
    """From now on the market's statement has a payout in it."""

    def told(route: Route) -> None:
        found = route.fetch().json()
        found["items"].append({**PAYOUT, "amount_micros": -2_500_000})
        route.fulfill(json=found | {"balance_micros": found["balance_micros"] - 2_500_000})

    context.unroute_all(behavior="wait")
    context.route("**/v1/statement*", told)


def confirm(page: Page) -> None:
    page.locator("#payouts").get_by_text(PAID_OUT).wait_for()
    page.locator("#payouts").get_by_role("button", name="Yes, I got it").click()
    page.locator("#payouts").get_by_text(PAID_OUT).wait_for(state="detached")


def test_a_payout_is_asked_about_until_she_says_that_it_came(guest: Guest) -> None:
    paying_out(guest.visitor.context)
    for path in ("/owner", "/owner/privacy", "/owner/earnings"):
        guest.visitor.go(path)
        guest.page.locator("#payouts").get_by_text(PAID_OUT).wait_for()
        guest.page.locator("#payouts").get_by_text(NOT_COME).wait_for()
        assert guest.page.locator("#faults").is_hidden()
        assert violations(guest.page) == []
    confirm(guest.page)
    told_nothing(guest, "/owner")
    assert guest.page.locator("#payouts").is_hidden()
    guest.visitor.context.unroute_all(behavior="wait")
    assert guest.visitor.complaints == []


def test_a_cap_that_she_is_typing_stays_though_something_is_found_meanwhile(guest: Guest) -> None:
    """What is found comes later than the page: it changes what became of reports, and nothing that she can fill in."""
    held: list[Route] = []
    guest.visitor.context.route("**/v1/statement*", lambda route: held.append(route))
    guest.visitor.go("/owner/privacy")
    cap = guest.page.get_by_label("Lifetime cap", exact=True).first
    cap.fill("3.25")
    while not held:
        guest.page.wait_for_timeout(20)
    held[0].fulfill(json=held[0].fetch().json() | NOBODY | {"balance_micros": 0})
    guest.page.get_by_text("drawn, sent, accepted, paid, taken back").wait_for()
    assert cap.input_value() == "3.25"
    guest.visitor.context.unroute_all(behavior="wait")
    told_nothing(guest, "/owner/privacy")


def test_her_own_page_tells_it_too(browser: Browser, device_page: PageServer, tmp_path: Path) -> None:
    with served(tmp_path, device_origins=device_page.address) as site:
        _, code = site.invite("owner", "Ann")
        round_id = opened(site)
        context = browser.new_context()
        page = context.new_page()
        page.goto(device_page.address)
        report(page, site, code, round_id)
        assert page.locator("#faults").is_hidden()
        lying(context, notices=NOBODY)
        on_her_page(page, site, VANISHED)
        lying(context, notices={"state": "cancelled"})
        on_her_page(page, site, CANCELLED)
        context.unroute_all(behavior="wait")
        site.clock.skip(100_000)
        round_steps.advance_due(site.market)
        page.get_by_role("button", name=site.address).click()
        page.get_by_role("button", name="Do you smoke? (settled)").click()
        page.get_by_text("drawn, sent, accepted, paid").wait_for()
        paying_out(context)
        page.get_by_role("button", name=site.address).click()
        confirm(page)
        lying(context, statement=True)
        on_her_page(page, site, TAKEN)
        page.get_by_role("button", name="Do you smoke? (settled)").click()
        page.get_by_text("drawn, sent, accepted, paid, taken back").wait_for()
        context.close()


def report(page: Page, site: Site, code: str, round_id: str) -> None:
    enrol_and_bid(page, site, code, round_id)
    page.get_by_role("button", name="Do you smoke?").click()
    page.get_by_label("Your true answer").select_option("Yes")
    page.get_by_label("is a new fact, and not one asked about before").check()
    page.get_by_role("button", name="Randomise and send").click()
    page.get_by_text("drawn, sent, accepted").wait_for()


def on_her_page(page: Page, site: Site, said: str) -> None:
    page.get_by_role("button", name=site.address).click()
    page.locator("#faults:not([hidden])").get_by_text(said).wait_for()
