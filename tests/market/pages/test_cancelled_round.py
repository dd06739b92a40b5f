"""A round that is called off, by the keyboard alone: asked back first, the money returned, and the owner told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.town import plan
from pdqs.market import reads, round_steps

from . import keyboard
from .axe import violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


def test_a_round_is_cancelled_after_a_second_word_and_everyone_is_told(site: Site, browser: Browser) -> None:
    institute, code = site.invite("consumer", "Institute")
    site.deposit(institute, 30_000_000)
    draft = round_steps.draft_round(site.market, institute, plan(bid_seconds=3600), "to-be-called-off")
    round_steps.open_round(site.market, institute, draft.round_id)
    consumer, owner = Visitor(browser, site), Visitor(browser, site, color_scheme="dark", **PHONE)
    owner.enter(site.invite("owner", "Ann")[1])
    owner.go(f"/owner/rounds/{draft.round_id}")
    keyboard.fill(owner.page.get_by_label("Your price per unit of epsilon"), "0.25")
    keyboard.press(owner.page.get_by_role("button", name="Bid"))
    owner.page.get_by_text("Your bid stands").wait_for()

    consumer.enter(code)
    keyboard.press(consumer.page.get_by_role("link", name="Have you been ill this month?"))
    keyboard.press(consumer.page.get_by_role("button", name="Cancel and get the escrow back"))
    consumer.page.get_by_role("heading", name="Cancel this round?").wait_for()
    assert violations(consumer.page) == []
    consumer.shoot("market-cancel-asked")
    keyboard.press(consumer.page.get_by_role("link", name="No, keep it"))
    consumer.page.get_by_role("button", name="Cancel and get the escrow back").wait_for()
    assert reads.round_by_id(site.market, institute, draft.round_id).state == "open"
    keyboard.press(consumer.page.get_by_role("button", name="Cancel and get the escrow back"))
    keyboard.press(consumer.page.get_by_role("button", name="Cancel the round"))
    consumer.page.get_by_text("The whole escrow went back to your balance").wait_for()
    assert violations(consumer.page) == []
    consumer.shoot("market-cancelled")
    assert reads.me(site.market, institute).balance_micros == 30_000_000

    owner.page.get_by_text("It was cancelled before anyone was asked").wait_for()  # her page looks by itself
    assert violations(owner.page) == []
    owner.shoot("market-cancelled-owner-phone-dark")
    assert consumer.complaints + owner.complaints == []
