"""On the page of her own device the numbers of a grid are shown as Python's device shows them, digit for digit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pdqs.market import round_steps
from pdqs.owner.bundle import PageServer
from pdqs.protocol.device_messages import Bid, DomainMessage
from pdqs.protocol.market_messages import QueryMessage

from .site import served
from .test_browser_device import PLAN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TENTHS = DomainMessage(kind="grid", start=0.0, step=0.1, size=5)
ASKED = "How much sugar?"


def test_tenths_are_shown_as_tenths(browser: Browser, device_page: PageServer, tmp_path: Path) -> None:
    asked = QueryMessage(kind="mean", text=ASKED, domain=TENTHS)
    plan = PLAN.model_copy(update={"query": asked, "question": "value", "attribute": "sugar"})
    with served(tmp_path, device_origins=device_page.address) as site:
        consumer, _ = site.invite("consumer", "Bureau")
        site.deposit(consumer, 90_000_000)
        round_id = round_steps.draft_round(site.market, consumer, plan, "key-of-tenths").round_id
        terms_hash = round_steps.open_round(site.market, consumer, round_id).terms_hash or ""
        other, _ = site.invite("owner", "Bob")
        round_steps.place_bid(site.market, other, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
        _, code = site.invite("owner", "Ann")
        page = browser.new_page()
        page.goto(device_page.address)
        page.get_by_label("Address of the market").fill(site.address)
        page.get_by_label("One-time code").fill(code)
        page.get_by_role("button", name="Enrol").click()
        page.get_by_role("button", name=ASKED).click()
        page.get_by_text("a number from 0 to 0.4 in steps of 0.1", exact=True).wait_for()
        page.get_by_label("Your price per unit of epsilon").fill("0.3")
        page.get_by_role("button", name="Bid").click()
        page.get_by_text("Your bid of 0.30 stands").wait_for()
        site.clock.skip(plan.bid_seconds + 1)
        round_steps.clear_round(site.market, site.operator, round_id)
        page.get_by_role("button", name=ASKED).click()
        page.get_by_label("Your true answer").wait_for()
        shown = page.get_by_label("Your true answer").locator("option")
        assert shown.all_inner_texts() == ["Choose one", "0", "0.1", "0.2", "0.3", "0.4"]
        page.close()
