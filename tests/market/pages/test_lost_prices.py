"""A price whose answer was lost on its way, or that was taken back: the page says so and looks, in every tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import offer_access
from pdqs.protocol.market_messages import User

from .axe import violations
from .open_round import PHONE, PRICE, bidding, ready, round_id
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

__all__ = ["round_id"]  # the fixture
MAY = "Your price of 0.45 may have arrived: no answer to it came back. This page looks by itself."
TURNS_TO_IT = "document.dispatchEvent(new Event('visibilitychange'))"


@pytest.fixture
def owner(site: Site, browser: Browser, round_id: str, request: pytest.FixtureRequest) -> tuple[User, Visitor]:
    return bidding(site, browser, round_id, request.node.name[5:45], **PHONE)


def cut(visitor: Visitor, *, arrives: bool) -> None:
    """The line breaks with a price of 0.45, once it has arrived or before."""

    def lose(route: Route) -> None:
        if "450000" not in (route.request.post_data or ""):
            route.continue_()
            return
        if arrives:
            route.fetch()
        visitor.context.set_offline(True)
        route.abort("connectionreset")

    visitor.context.route("**/v1/rounds/*/bid?after=*", lose)


def back(visitor: Visitor) -> None:
    visitor.context.unroute_all(behavior="ignoreErrors")
    visitor.context.set_offline(False)


def stands(page: Page, price: str) -> None:
    page.get_by_role("heading", name="Your bid stands").wait_for(timeout=60_000)
    page.locator(".big-figure").get_by_text(price).wait_for(timeout=60_000)
    assert page.locator("#price-sent").is_hidden()


def test_a_price_that_arrived_without_an_answer_is_said_to_be_possible_and_found_when_the_line_is_back(
    site: Site, owner: tuple[User, Visitor], round_id: str
) -> None:
    user, visitor = owner
    cut(visitor, arrives=True)
    visitor.page.get_by_label(PRICE).fill("0.45")
    visitor.page.get_by_role("button", name="Bid 0.45").click()
    visitor.page.get_by_text(MAY).wait_for()
    assert offer_access.bid(site.market, user, round_id).bid_micros == 450_000
    assert visitor.fits()
    visitor.shoot("owner-price-may-have-arrived-phone")
    back(visitor)
    visitor.page.evaluate(TURNS_TO_IT)  # or after a quarter of a minute
    stands(visitor.page, "0.45")
    visitor.context.close()


def test_another_tab_that_she_turns_to_says_so_too(owner: tuple[User, Visitor]) -> None:
    _, visitor = owner
    second = visitor.context.new_page()
    second.goto(visitor.page.url)
    ready(second)
    cut(visitor, arrives=True)
    visitor.page.get_by_label(PRICE).fill("0.45")
    visitor.page.get_by_role("button", name="Bid 0.45").click()
    visitor.page.get_by_text(MAY).wait_for()
    second.evaluate(TURNS_TO_IT)
    second.get_by_text(MAY).wait_for()
    back(visitor)
    second.evaluate(TURNS_TO_IT)
    stands(second, "0.45")
    visitor.context.close()


def test_a_price_that_did_not_arrive_is_said_not_to_have_and_sent_again_by_the_same_button(
    owner: tuple[User, Visitor],
) -> None:
    _, visitor = owner
    cut(visitor, arrives=False)
    visitor.page.get_by_label(PRICE).fill("0.45")
    visitor.page.get_by_role("button", name="Bid 0.45").click()
    visitor.page.get_by_text(MAY).wait_for()
    back(visitor)
    visitor.page.evaluate(TURNS_TO_IT)
    visitor.page.get_by_text("Your price of 0.45 has not arrived so far: the market has no price of yours").wait_for()
    visitor.page.reload()
    visitor.page.get_by_text("Your price of 0.45 has not arrived so far").wait_for()
    assert violations(visitor.page) == []
    visitor.page.get_by_role("button", name="Bid 0.45").click()
    stands(visitor.page, "0.45")
    visitor.context.close()


def test_of_a_change_that_was_lost_it_is_said_which_price_stands(owner: tuple[User, Visitor]) -> None:
    _, visitor = owner
    visitor.page.get_by_label(PRICE).fill("0.30")
    visitor.press("Bid 0.30")
    stands(visitor.page, "0.30")
    visitor.page.get_by_text("Change your price").click()
    cut(visitor, arrives=False)
    visitor.page.get_by_label(PRICE).fill("0.45")
    visitor.page.get_by_role("button", name="Change it to 0.45").click()
    visitor.page.get_by_text(MAY).wait_for()
    back(visitor)
    visitor.page.evaluate(TURNS_TO_IT)
    visitor.page.get_by_text("Your price of 0.45 has not arrived so far: the one below stands.").wait_for()
    assert violations(visitor.page) == []
    visitor.context.close()


def test_a_price_that_is_withdrawn_is_said_to_be(owner: tuple[User, Visitor]) -> None:
    _, visitor = owner
    withdrawn = visitor.page.get_by_text("Your price is withdrawn. You have no bid in this round.")
    assert withdrawn.count() == 0
    visitor.page.get_by_label(PRICE).fill("0.30")
    visitor.press("Bid 0.30")
    stands(visitor.page, "0.30")
    visitor.press("Withdraw your price")
    withdrawn.wait_for()
    assert violations(visitor.page) == []
    visitor.shoot("owner-price-withdrawn-phone")
    ready(visitor.page)
    visitor.page.get_by_label(PRICE).fill("0.35")
    visitor.press("Bid 0.35")
    stands(visitor.page, "0.35")
    assert withdrawn.count() == 0
    visitor.context.close()
