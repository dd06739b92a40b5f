"""An owner deals with a market from a page of her own machine: by token, with her own account, to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pdqs.market import offer_access, round_steps
from pdqs.owner.bundle import PageServer, manifest_hash
from pdqs.protocol.device_messages import Bid

from .site import Site, Visitor, served
from .test_browser_device import PLAN

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_round_from_her_own_machine(browser: Browser, device_page: PageServer, tmp_path: Path) -> None:
    with served(tmp_path, device_origins=device_page.address) as site:
        ann, code = site.invite("owner", "Ann")
        round_id = opened(site)
        context = browser.new_context()
        page = context.new_page()
        page.goto(device_page.address)
        page.locator("#manifest", has_text=manifest_hash()).wait_for(state="attached")  # under details
        page.get_by_label("Address of the market").fill(site.address)
        page.get_by_label("One-time code").fill(code)
        page.get_by_role("button", name="Enrol").click()
        page.get_by_role("button", name="Do you smoke?").click()
        page.get_by_label("Your price per unit of epsilon").fill("0.3")
        page.get_by_role("button", name="Bid").click()
        page.get_by_text("Your bid stands.").wait_for()
        page.get_by_label("Your price per unit of epsilon").fill("0.4")
        page.get_by_role("button", name="Change it").click()
        page.get_by_text("Your bid of 0.40 stands").wait_for()
        page.get_by_role("button", name="Withdraw it").click()
        page.get_by_text("You have no bid in this round").wait_for()
        page.wait_for_load_state("networkidle")  # the form is drawn anew once the market has said so
        page.get_by_label("Your price per unit of epsilon").fill("0.3")
        page.get_by_role("button", name="Bid").click()
        page.get_by_text("Your bid of 0.30 stands").wait_for()
        site.clock.skip(601)
        round_steps.clear_round(site.market, site.operator, round_id)
        page.get_by_role("button", name="Do you smoke?").click()
        page.get_by_label("Your true answer").select_option("Yes")
        page.get_by_label("is a new fact, and not one asked about before").check()
        page.get_by_role("button", name="Randomise and send").click()
        page.get_by_text("drawn, sent, accepted").wait_for()
        assert offer_access.report(site.market, ann, round_id).ordinal == 1
        site.clock.skip(100_000)
        round_steps.advance_due(site.market)
        page.get_by_role("button", name="Do you smoke?").click()
        page.get_by_text("drawn, sent, accepted, paid").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save it as data").click()
        (bid,) = json.loads(saved.value.path().read_text())["bids"]
        assert (bid["round_id"], bid["inclusion"]["counted"], bid["inclusion"]["root_signed"]) == (round_id, True, True)
        assert page.locator("#trouble").is_hidden()
        context.close()


def test_another_name_of_her_machine_is_no_second_account(browser: Browser, device_page: PageServer) -> None:
    page = browser.new_page()
    page.goto(device_page.address.replace("127.0.0.1", "localhost"))
    page.locator("#manifest", has_text=manifest_hash()).wait_for(state="attached")  # under details
    assert page.evaluate("location.origin") == device_page.address
    page.close()


def opened(site: Site) -> str:
    consumer, _ = site.invite("consumer", "Bureau")
    site.deposit(consumer, 90_000_000)
    round_id = round_steps.draft_round(site.market, consumer, PLAN, "key-elsewhere").round_id
    terms_hash = round_steps.open_round(site.market, consumer, round_id).terms_hash
    assert terms_hash is not None
    other, _ = site.invite("owner", "Bob")
    round_steps.place_bid(site.market, other, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
    return round_id


def test_the_markets_page_says_whose_code_runs_where_she_decides(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Whose")
    round_id = opened(site)
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/owner/rounds/{round_id}")
    said = visitor.page.locator("#bid-form [data-whose]")
    assert "served by this market" in said.inner_text()
    assert manifest_hash() not in said.inner_text(), "no hash unless she opens the details"
    visitor.page.get_by_text("Which code is served now").click()
    assert manifest_hash() in said.inner_text()
    visitor.page.get_by_role("link", name="how to").click()
    assert "pdqs owner page" in visitor.page.locator("main").inner_text()
    visitor.context.close()
