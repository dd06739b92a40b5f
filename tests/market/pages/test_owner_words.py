"""What an owner reads and does before the close, in a real browser: who asks, what it can tell, her price, her mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import access, offer_access, reads, round_steps
from pdqs.protocol.market_messages import QueryMessage, RoundPlan, User
from pdqs.protocol.problems import NotFoundError

from .axe import violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Have you had a flu vaccination this year?"),
    attribute="flu-vaccination",
    budget_micros=20_000_000,
    bid_seconds=3600,
    purpose="To plan how much vaccine to order for next winter.",
    use="One figure in our yearly report; nothing else.",
)


@pytest.fixture(scope="module")
def round_id(site: Site) -> str:
    consumer, _ = site.invite("consumer", "Health Institute")
    site.deposit(consumer, 100_000_000)
    for name in ("Bob", "Cid", "Dot"):
        site.invite("owner", name)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, "key-of-a-round")
    return round_steps.open_round(site.market, consumer, drafted.round_id).round_id


def standing(site: Site, owner: User, round_id: str) -> int | None:
    try:
        return offer_access.bid(site.market, owner, round_id).bid_micros
    except NotFoundError:
        return None


def test_an_owner_reads_who_asks_names_a_price_changes_and_withdraws_it(
    site: Site, browser: Browser, round_id: str
) -> None:
    ann, code = site.invite("owner", "Ann")
    phone = Visitor(browser, site, color_scheme="dark", **PHONE)
    phone.enter(code)
    phone.go(f"/owner/rounds/{round_id}")
    button = phone.page.get_by_role("button", name="Bid")
    button.and_(phone.page.locator(":enabled")).wait_for()
    text = phone.page.locator("main").inner_text()
    for words in ("Health Institute", PLAN.purpose, PLAN.use, "50:50", "88:12", "A forecast for this round"):
        assert words in text
    assert "are deleted 365 days after the round ends" in text
    assert "No round of this market was settled yet" in text
    shown = reads.notice(site.market, ann, round_id)
    assert shown.terms_hash not in text, "no hash unless she opens the details"
    phone.page.get_by_label("as a slider").fill("300000")
    assert phone.page.get_by_label("Your price per unit of epsilon").input_value() == "0.30"
    assert "at least 0.60" in phone.page.locator("#price-means").inner_text()
    assert phone.page.locator("#outlook tr.here").count() == 1
    assert phone.fits()
    phone.shoot("owner-price-phone-dark")
    assert violations(phone.page) == []
    phone.press("Bid 0.30")
    phone.page.get_by_text("Your bid stands").wait_for()
    assert standing(site, ann, round_id) == 300_000

    phone.page.get_by_text("Change your price").click()
    phone.page.get_by_label("Your price per unit of epsilon").fill("0.45")
    phone.shoot("owner-change-phone-dark")
    assert violations(phone.page) == []
    phone.press("Change it to 0.45")
    phone.page.locator(".big-figure").get_by_text("0.45").wait_for()
    assert standing(site, ann, round_id) == 450_000

    phone.press("Withdraw your price")
    phone.page.get_by_role("heading", name="Name your price").wait_for()
    assert standing(site, ann, round_id) is None
    assert phone.complaints == []
    phone.context.close()


def test_a_second_device_is_told_what_to_do_and_not_shown_a_fault(site: Site, browser: Browser, round_id: str) -> None:
    eve, code = site.invite("owner", "Eve")
    laptop = Visitor(browser, site)
    laptop.enter(code)
    laptop.go(f"/owner/rounds/{round_id}")
    laptop.page.get_by_label("Your price per unit of epsilon").fill("0")
    laptop.press("Bid 0.00")
    laptop.page.get_by_text("Your bid stands").wait_for()
    other = Visitor(browser, site)
    (cookie,) = [found for found in laptop.context.cookies() if found["name"] == access.COOKIE]
    other.context.add_cookies([{"name": access.COOKIE, "value": str(cookie["value"]), "url": site.address}])
    other.go(f"/owner/rounds/{round_id}")
    other.page.get_by_text("on another device or in another browser").wait_for()
    other.shoot("owner-second-device")
    assert other.page.locator("#trouble").is_hidden()
    assert violations(other.page) == []
    other.page.get_by_role("button", name="Withdraw your price").wait_for()
    laptop.context.close()
    other.context.close()
    assert standing(site, eve, round_id) == 0
