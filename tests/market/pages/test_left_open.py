"""Pages that are long, left open or loaded again: what is said comes into view, and nothing old is taken for new."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access
from pdqs.market.pages import plan_form
from pdqs.protocol.problems import MarketError

from .open_round import PHONE, PLAN, PRICE, SEEN, bidding, round_id
from .site import Site, Visitor
from .test_money_pages import fields, operator
from .test_operator_pages import _owe

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["operator", "round_id"]  # the fixtures


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_on_a_phone_what_a_button_answers_comes_into_view(
    site: Site, browser: Browser, round_id: str, motion: str
) -> None:
    _, phone = bidding(site, browser, round_id, f"Ann {motion}", **PHONE, reduced_motion=motion)
    phone.page.set_viewport_size({"width": 390, "height": 420})
    phone.page.get_by_label(PRICE).fill("0.25")
    phone.context.set_offline(True)
    button = phone.page.get_by_role("button", name="Bid 0.25")
    button.click()
    trouble = phone.page.locator("#trouble")
    trouble.get_by_text("The market cannot be reached").wait_for()
    assert trouble.evaluate(SEEN)
    assert button.evaluate("button => button === document.activeElement"), "it is at hand to try again"
    phone.context.close()


def test_a_refused_deposit_keeps_the_consumer_and_the_amount(site: Site, operator: httpx.Client) -> None:
    site.invite("consumer", "A first one")
    user, _ = site.invite("consumer", "Zoe's Institute")
    page = operator.get("/operator/ledger").text
    assert re.search(r'<select id="consumer" name="user_id" required><option value="">', page)
    asked = {**fields(page, "/operator/ledger/deposit"), "user_id": user.user_id, "amount": "12,50"}
    answer = operator.post("/operator/ledger/deposit", data=asked)
    assert answer.status_code == 422
    assert f'<option value="{user.user_id}" selected>' in answer.text
    assert answer.text.count(" selected>") == 1
    assert re.search(r'<input id="deposit"[^>]* value="12,50"', answer.text)


def test_a_deposit_for_nobody_is_refused_with_a_word_and_the_amount_stays(site: Site, operator: httpx.Client) -> None:
    site.invite("consumer", "Nobody's choice")
    page = operator.get("/operator/ledger").text
    asked = {**fields(page, "/operator/ledger/deposit"), "user_id": "", "amount": "12.50"}
    answer = operator.post("/operator/ledger/deposit", data=asked)
    assert (answer.status_code, "Choose a consumer." in answer.text) == (422, True)
    assert re.search(r'<input id="deposit"[^>]* value="12.50"', answer.text)


def shown_code(html: str) -> str:
    found = re.search(r'id="code" class="mono" readonly value="([^"]+)"', html)
    assert found is not None
    return found[1]


def test_loading_the_code_for_someone_new_again_makes_no_other(site: Site, operator: httpx.Client) -> None:
    form = fields(operator.get("/operator/people").text, "/operator/people")
    asked = {**form, "name": "Nia", "role": "owner"}
    code = shown_code(operator.post("/operator/people", data=asked).text)
    again = operator.post("/operator/people", data=asked).text
    assert 'id="code"' not in again
    assert "was shown once already" in again
    assert "no longer works" in again
    assert access.redeem(site.market, code).name == "Nia"


def test_loading_a_new_code_again_makes_no_other_and_signs_nobody_out(site: Site, operator: httpx.Client) -> None:
    user, _ = site.invite("owner", "Ola")
    address = f"/operator/people/{user.user_id}/code"
    site.clock.skip(1)
    asked = fields(operator.get("/operator/people?text=Ola").text, address)
    code = shown_code(operator.post(address, data=asked).text)
    session = access.redeem_for_session(site.market, code)
    again = operator.post(address, data=asked).text
    assert "was shown once already" in again
    assert access.session_of(site.market, session.cookie).user.name == "Ola"
    asks = operator.post(address, data=fields(again, address)).text
    assert "Make a new code for Ola?" in asks
    assert "1 browser" in asks
    assert access.session_of(site.market, session.cookie).user.name == "Ola", "nothing is done before the second word"
    fresh = shown_code(operator.post(address, data=fields(asks, address)).text)
    assert access.redeem(site.market, fresh).name == "Ola"
    with pytest.raises(MarketError):
        access.session_of(site.market, session.cookie)


def test_a_tab_that_waits_notices_a_price_changed_in_another(site: Site, browser: Browser, round_id: str) -> None:
    _, visitor = bidding(site, browser, round_id, "Pia")
    visitor.page.get_by_label(PRICE).fill("0.30")
    visitor.press("Bid 0.30")
    visitor.page.get_by_text("Your bid stands").wait_for()
    second = visitor.context.new_page()
    second.goto(visitor.page.url)
    second.locator(".big-figure").get_by_text("0.30").wait_for()
    visitor.page.get_by_text("Change your price").click()
    visitor.page.get_by_label(PRICE).fill("0.45")
    visitor.press("Change it to 0.45")
    visitor.page.locator(".big-figure").get_by_text("0.45").wait_for()
    second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # she turns to it
    second.locator(".big-figure").get_by_text("0.45").wait_for(timeout=30_000)
    visitor.context.close()


def test_a_page_left_open_past_the_close_says_so_and_invites_no_bid(
    site: Site, browser: Browser, round_id: str
) -> None:
    _, code = site.invite("owner", "Quin")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.page.clock.install()
    visitor.go(f"/owner/rounds/{round_id}")
    visitor.page.locator("#bid-form button:enabled").wait_for()
    assert visitor.page.locator("[data-closed]").get_by_text("Bids are closed").is_hidden()
    visitor.page.clock.fast_forward(36_001_000)
    visitor.page.locator("[data-closed]").get_by_text("Bids are closed").wait_for(timeout=10_000)
    assert "in over" not in visitor.page.locator("main").inner_text()
    assert visitor.page.get_by_role("button", name="Bid").is_disabled()
    visitor.context.close()


def test_a_price_out_of_range_is_promised_nothing(site: Site, browser: Browser, round_id: str) -> None:
    _, visitor = bidding(site, browser, round_id, "Ria")
    visitor.page.get_by_label(PRICE).fill("2")
    means = visitor.page.locator("#price-means")
    assert means.inner_text() == "Give a price from 0.00 to 1.00."
    assert visitor.page.get_by_role("button", name="Bid", exact=True).is_enabled()
    visitor.page.get_by_label("as a slider").fill("300000")
    assert "at least 0.60" in means.inner_text()
    assert visitor.page.get_by_label("as a slider").get_attribute("aria-valuetext") == "0.30"
    visitor.context.close()


def test_a_link_pasted_into_the_open_door_fills_in_its_code(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Sue")
    visitor = Visitor(browser, site)
    visitor.go("/enter")
    visitor.page.wait_for_load_state("networkidle")
    visitor.enter(code)
    visitor.page.wait_for_url("**/owner")
    visitor.context.close()


def test_a_lowest_price_above_the_highest_is_said_in_plain_words_beside_it() -> None:
    for low in ("2", "1"):
        form = plan_form.read({**plan_form.fields_of(PLAN), "owners": "100", "bid_low": low, "bid_high": "1"})
        assert form.faults == {"bid_low": "The lowest price must be below the highest."}


def test_a_payout_is_entered_without_a_minus(site: Site, operator: httpx.Client) -> None:
    owner, _ = site.invite("owner", "Tess")
    _owe(site, [owner], 2_000_000, "tess")
    page = operator.get("/operator/ledger").text
    asked = {**fields(page, "/operator/ledger/payout"), "user_id": owner.user_id, "amount": "2.00", "confirmed": "yes"}
    done = operator.post("/operator/ledger/payout", data=asked)
    assert "The payout is entered: 2.00 for Tess." in operator.get(done.headers["location"]).text
