"""A round that is called off, by the keyboard alone: asked back first, the money returned, and the owner told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.town import plan
from pdqs.market import access, reads, round_steps
from pdqs.market.store.schema import rounds
from pdqs.protocol.device_messages import Bid

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


BACK = "The whole escrow went back to your balance."
WHY = {
    "by herself": ("You cancelled this round.", "Its consumer cancelled this round."),
    "by the operator": ("The operator cancelled this round.", "The operator cancelled this round."),
    "with one bid": (
        "This round was cancelled: 1 owner bid, and the round needs 2.",
        "This round was cancelled: 1 owner bid, and the round needs 2.",
    ),
    "without her part": (
        "This round was cancelled: your part of the draw was not told in time.",
        "This round was cancelled: its consumer did not tell her part of the draw in time.",
    ),
}


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("how", WHY)
def test_why_it_was_called_off_is_a_whole_sentence(
    site: Site, browser: Browser, how: str, look: dict[str, object]
) -> None:
    user, code = site.invite("consumer", f"Called off {how} {len(look)}")
    site.deposit(user, 30_000_000)
    made = round_steps.draft_round(
        site.market, user, plan(bid_seconds=3600, minimum_owners=2), f"off-{how}".replace(" ", "-")
    )
    opened = round_steps.open_round(site.market, user, made.round_id)
    if how == "with one bid":
        owner = site.invite("owner", f"Lone {len(look)}")[0]
        round_steps.place_bid(
            site.market, owner, opened.round_id, Bid(terms_hash=opened.terms_hash or "", bid_micros=9)
        )
        site.clock.skip(3601)
        round_steps.clear_round(site.market, user, opened.round_id)
    else:
        round_steps.cancel_round(site.market, site.operator if how == "by the operator" else user, opened.round_id)
    if how == "without her part":
        kept = {"reason": "its consumer did not tell her nonce in time"}  # after a day, as the clock words it
        with site.market.store.write() as connection:
            connection.execute(rounds.update().where(rounds.c.round_id == opened.round_id).values(kept))
    consumer, operator = Visitor(browser, site, **look), Visitor(browser, site, **look)
    consumer.enter(code)
    consumer.go(f"/consumer/rounds/{opened.round_id}")
    hers, others = WHY[how]
    assert f"{hers} {BACK}" in consumer.page.locator("#progress").inner_text()
    cookie = access.start_session(site.market, site.operator).cookie
    operator.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    operator.go(f"/operator/rounds/{opened.round_id}")
    assert f"Cancelled {others}" in " ".join(operator.page.locator("main").inner_text().split())
    for visitor in (consumer, operator):
        assert visitor.fits()
        visitor.shoot(
            f"called-off-{'operator' if visitor is operator else 'consumer'}-{'phone' if look else 'desktop'}"
        )
        visitor.context.close()
