"""A report that is drawn and has not arrived, on the page of her own device: said in every tab, and never untouched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pdqs.market import offer_access
from pdqs.owner.bundle import PageServer

from .open_round import PHONE
from .own_page import enrol_and_bid
from .site import ARTIFACTS, served
from .test_device_elsewhere import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

AGAIN = "Send the same report again"
DRAWN = "Your report is drawn, what it cost is charged, and the market has not confirmed it yet."


def answered(page: Page, answer: str) -> None:
    """At the offer, with everything filled in."""
    page.get_by_role("button", name="Do you smoke?").click()
    page.get_by_label("Your true answer").select_option(answer)
    page.get_by_label("is a new fact, and not one asked about before").check()


def is_drawn(page: Page) -> None:
    page.get_by_text(DRAWN).wait_for()
    text = page.locator("main").inner_text()
    assert "othing was drawn" not in text + page.locator("#trouble").inner_text()
    assert page.get_by_label("Your true answer").count() == 0
    assert page.get_by_role("button", name="Randomise and send").count() == 0
    assert page.get_by_role("button", name=AGAIN).count() == 1


def test_what_is_drawn_and_not_sent_is_said_in_every_tab(
    browser: Browser, device_page: PageServer, tmp_path: Path
) -> None:
    with served(tmp_path, device_origins=device_page.address) as site:
        ann, code = site.invite("owner", "Ann")
        round_id = opened(site)
        context = browser.new_context(**PHONE)  # type: ignore[arg-type]  # as playwright names them
        context.set_default_timeout(60_000)  # a busy machine is slow
        page = context.new_page()
        page.goto(device_page.address)
        enrol_and_bid(page, site, code, round_id)
        other = context.new_page()
        other.goto(device_page.address)
        other.get_by_role("button", name=site.address).click()
        answered(page, "No")
        answered(other, "Yes")

        def cut(route: Route) -> None:
            """The line is gone as soon as the report is drawn: nothing more comes back, not even the round itself."""
            route.abort("internetdisconnected")

        context.route("**/v1/notices/*", cut)
        page.get_by_role("button", name="Randomise and send").click()
        page.locator("#trouble").get_by_text("No answer came").wait_for()
        is_drawn(page)
        page.screenshot(path=ARTIFACTS / "device-drawn-not-sent-phone.png", full_page=True)
        context.unroute_all(behavior="ignoreErrors")

        other.get_by_role("button", name="Randomise and send").click()
        other.locator("#trouble").get_by_text("What you chose just now was not used.").wait_for()
        is_drawn(other)
        other.reload()
        other.get_by_role("button", name=site.address).click()
        other.get_by_role("button", name="Do you smoke?").click()
        is_drawn(other)
        other.get_by_role("button", name=AGAIN).click()
        other.get_by_text("drawn, sent, accepted").wait_for()
        assert offer_access.report(site.market, ann, round_id).ordinal == 1
        context.close()
