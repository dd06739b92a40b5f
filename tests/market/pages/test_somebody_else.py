"""A tab that was left open while somebody else signed in with the same browser, or nobody was any more: it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from pdqs.market import access, offer_access, people, reads, round_steps
from pdqs.protocol.device_messages import Bid
from pdqs.protocol.market_messages import User

from .axe import violations
from .open_round import PHONE, PRICE, bidding, ready, round_id
from .site import Site, Visitor
from .test_browser_device import Guest, has_reported

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["round_id"]  # the fixture
ELSE = "Somebody else ({}) is signed in here now. Nothing was changed; to go on as yourself, sign in again."


def signs_in(visitor: Visitor, user: User) -> None:
    """In another tab, in her place."""
    cookie = access.start_session(visitor.site.market, user).cookie
    visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": visitor.site.address}])


def entries(visitor: Visitor) -> int:
    return int(
        visitor.page.evaluate(
            """async () => {
              const { visiting } = await import("/static/market.mjs");
              return (await (await visiting()).device.account()).entries.length;
            }"""
        )
    )


def test_an_offer_in_an_old_tab_is_not_said_to_be_gone(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Ann at an offer")
    guest.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    guest.ready()
    before = entries(guest.visitor)
    carl, _ = site.invite("owner", "Carl")
    signs_in(guest.visitor, carl)
    guest.page.get_by_role("button", name="Randomise and send").click()
    assert guest.refusal() == ELSE.format("Carl")
    assert violations(guest.page) == []
    guest.visitor.shoot("owner-somebody-else-phone")
    assert entries(guest.visitor) == before, "nothing is noted in her account of what is told to him"
    signs_in(guest.visitor, guest.user)
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.page.get_by_text("You signed in anew in another tab. Nothing was changed; reload this page").wait_for()
    guest.ready()
    guest.visitor.press("Randomise and send")
    guest.page.get_by_text("Your report is in").wait_for()
    guest.leave()


def test_an_offer_to_somebody_else_is_not_taken_for_hers(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Ann beside Cleo")
    beside = site.invite("owner", "Beside Ann beside Cleo")[0]  # who has an offer in the same round
    guest.ready()
    signs_in(guest.visitor, beside)
    guest.page.get_by_role("button", name="Randomise and send").click()
    assert guest.refusal() == ELSE.format("Beside Ann beside Cleo")
    assert guest.puts() == []
    assert not has_reported(site, guest.user, guest.round_id)
    guest.leave()


def test_a_price_in_an_old_tab_is_named_for_nobody(site: Site, browser: Browser, round_id: str) -> None:
    _, visitor = bidding(site, browser, round_id, "Ann with a price")
    buyer, _ = site.invite("consumer", "Eve Ltd")
    signs_in(visitor, buyer)
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.page.get_by_role("button", name="Bid 0.25").click()
    visitor.page.get_by_text(ELSE.format("Eve Ltd")).wait_for()
    assert visitor.page.get_by_label(PRICE).input_value() == "0.25"
    visitor.context.close()


def test_a_read_with_the_token_of_another_session_is_refused(site: Site, round_id: str) -> None:
    """A page says with each request which session it belongs to; who says nothing reads as whoever is signed in."""
    ann, carl = (site.invite("owner", name)[0] for name in ("Ann who reads", "Carl who reads"))
    notice_hash = reads.notice(site.market, carl, round_id).terms_hash
    round_steps.place_bid(site.market, carl, round_id, Bid(terms_hash=notice_hash, bid_micros=250_000))
    old, now = (access.start_session(site.market, user) for user in (ann, carl))
    with httpx.Client(base_url=site.address, cookies={access.COOKIE: now.cookie}) as client:
        path = f"/v1/rounds/{round_id}/bid"
        refused = client.get(path, headers={"X-CSRF-Token": old.csrf_token})
        assert (refused.status_code, refused.json()["type"]) == (403, "bad-csrf-token")
        for headers in ({}, {"X-CSRF-Token": now.csrf_token}):
            assert client.get(path, headers=headers).json()["bid_micros"] == 250_000
    assert offer_access.bid(site.market, carl, round_id).bid_micros == 250_000


def test_cleared_cookies_are_a_session_that_ended(site: Site, browser: Browser, round_id: str) -> None:
    user, visitor = bidding(site, browser, round_id, "Dora", **PHONE)
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.context.clear_cookies()
    visitor.page.get_by_role("button", name="Bid 0.25").click()
    visitor.page.get_by_text("You were signed out. Sign in again to come back to this page; nothing is").wait_for()
    visitor.shoot("owner-cookies-cleared-phone")
    assert visitor.page.get_by_label(PRICE).input_value() == "0.25"
    signs_in(visitor, user)
    visitor.page.reload()
    ready(visitor.page)
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.press("Bid 0.25")
    visitor.page.get_by_text("Your bid stands").wait_for()
    visitor.context.close()


def test_who_was_signed_out_finds_the_way_in_where_it_is_said_and_comes_back_to_the_round(
    site: Site, browser: Browser, round_id: str
) -> None:
    user, visitor = bidding(site, browser, round_id, "Elsa", **PHONE)
    visitor.page.get_by_label(PRICE).fill("0.25")
    visitor.context.clear_cookies()
    visitor.page.get_by_role("button", name="Bid 0.25").click()
    door = visitor.page.locator("#trouble").get_by_role("link", name="Sign in again")
    door.wait_for()
    assert violations(visitor.page) == []
    visitor.shoot("owner-signed-out-phone")
    door.click()
    visitor.page.wait_for_url(f"**/enter?next=%2Fowner%2Frounds%2F{round_id}")
    visitor.page.get_by_label("Code").fill(people.renew_code(site.market, site.operator, user.user_id).code)
    visitor.press("Sign in")
    visitor.page.wait_for_url(f"**/owner/rounds/{round_id}")
    ready(visitor.page)
    visitor.context.close()
