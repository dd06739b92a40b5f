"""On the page of her own device: an owner enrols and bids, and the round is cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.market import round_steps

from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page


def enrol_and_bid(page: Page, site: Site, code: str, round_id: str) -> None:
    """From the page as it opens to offers that can be looked at."""
    page.get_by_label("Address of the market").fill(site.address)
    page.get_by_label("One-time code").fill(code)
    page.get_by_role("button", name="Enrol").click()
    page.get_by_role("button", name="Do you smoke?").click()
    page.get_by_label("Your price per unit of epsilon").fill("0.3")
    page.get_by_role("button", name="Bid").click()
    page.get_by_text("Your bid of 0.30 stands").wait_for()
    site.clock.skip(601)
    round_steps.clear_round(site.market, site.operator, round_id)
