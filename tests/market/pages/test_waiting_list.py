"""The owner's list of rounds while something is waited for: it says when, and looks by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import people, round_steps
from pdqs.protocol.device_messages import Bid

from .axe import violations
from .open_round import PHONE
from .site import Site, Visitor
from .test_browser_device import BID, PLAN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NONE_NOW = "No offer waits for you now."


class Waiting:
    """An owner at her list on a phone, with a bid in a round that takes bids for ten minutes."""

    def __init__(self, site: Site, browser: Browser, name: str) -> None:
        self.site = site
        consumer, _ = site.invite("consumer", f"For {name}")
        site.deposit(consumer, PLAN.budget_micros)
        self.round_id = round_steps.draft_round(site.market, consumer, PLAN, f"key-{name}-round").round_id
        terms_hash = round_steps.open_round(site.market, consumer, self.round_id).terms_hash
        assert terms_hash is not None
        other, _ = site.invite("owner", f"Beside {name}")
        round_steps.place_bid(site.market, other, self.round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
        self.user, code = site.invite("owner", name)
        self.visitor = Visitor(browser, site, **PHONE)
        self.page = self.visitor.page
        self.visitor.enter(code)
        assert self.page.evaluate(BID, self.round_id) == 300_000
        self.page.clock.install()
        self.visitor.go("/owner")
        self.page.wait_for_load_state("networkidle")

    def clear(self) -> None:
        """Bids close, and offers are made, by the market's clock; the page's own stands."""
        self.site.clock.skip(PLAN.bid_seconds + 1)
        round_steps.clear_round(self.site.market, self.site.operator, self.round_id)

    def looks(self) -> list[str]:
        return [asked.url for asked in self.visitor.requests if "/owner/standing" in asked.url]


@pytest.fixture
def owner(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Waiting:
    return Waiting(site, browser, request.node.name[5:45])


def test_a_card_with_a_bid_says_when_bids_close(owner: Waiting) -> None:
    card = owner.page.locator(".round-card").filter(has_text="Your bid stands")
    assert "Your bid stands. Bids close in" in card.inner_text()
    assert violations(owner.page) == []
    assert owner.visitor.fits()
    owner.visitor.shoot("owner-list-waiting-phone")
    owner.visitor.context.close()


def test_an_offer_that_is_waited_for_comes_into_the_list_by_itself(owner: Waiting) -> None:
    owner.page.get_by_text(NONE_NOW).wait_for()
    owner.clear()
    owner.page.clock.run_for(21_000)
    owner.page.get_by_text("An offer waits for you, for").wait_for(timeout=30_000)
    assert owner.page.get_by_text(NONE_NOW).count() == 0
    owner.visitor.context.close()


def test_a_list_that_she_turns_to_is_looked_at_at_once(owner: Waiting) -> None:
    owner.clear()
    owner.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    owner.page.get_by_text("An offer waits for you, for").wait_for(timeout=30_000)
    owner.visitor.context.close()


def test_a_list_on_which_nothing_changes_is_not_loaded_again(owner: Waiting) -> None:
    owner.page.evaluate("window.stayed = true")
    owner.page.clock.run_for(21_000)
    owner.page.wait_for_timeout(500)
    assert len(owner.looks()) == 1
    assert owner.page.evaluate("window.stayed")
    owner.visitor.context.close()


def test_a_list_with_nothing_to_wait_for_asks_nothing(site: Site, browser: Browser) -> None:
    visitor = Visitor(browser, site)
    visitor.page.clock.install()
    visitor.enter(site.invite("owner", "Idle")[1])
    visitor.page.wait_for_load_state("networkidle")
    visitor.page.clock.run_for(41_000)
    visitor.page.wait_for_timeout(500)
    assert [asked.url for asked in visitor.requests if "/owner/standing" in asked.url] == []
    visitor.context.close()


def test_a_list_of_someone_who_is_signed_out_meanwhile_shows_the_door(owner: Waiting) -> None:
    people.revoke_all(owner.site.market, owner.site.operator, owner.user.user_id)
    owner.page.clock.run_for(21_000)
    owner.page.wait_for_url("**/enter?next=**", timeout=30_000)
    owner.visitor.context.close()
