"""A whole round through real browsers, by the keyboard alone: an operator, a consumer and two owners.

Beside them others bid who then keep silent: without them there would be no hope of an answer, and nobody asked.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from market.town import Town
from pdqs.market import reads, round_steps

from . import keyboard
from .axe import violations
from .landmarks import STRUCTURE, UNLABELLED
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUESTION = "Have you had a flu vaccination this year?"
PHONE = {"viewport": {"width": 375, "height": 760}, "has_touch": True, "is_mobile": True}
DEPOSIT = 500_000_000
SILENT = 10


def press(visitor: Visitor, name: str) -> None:
    """Press a button by the keyboard."""
    keyboard.press(visitor.page.get_by_role("button", name=name))


def code_for(operator: Visitor, name: str, role: str) -> str:
    """Let someone in on the operator's page; the code it shows."""
    operator.go("/operator/people")
    keyboard.fill(operator.page.get_by_label("Name"), name)
    keyboard.pick(operator.page.get_by_label("Role"), role)
    press(operator, "Make a code")
    return operator.page.get_by_label("One-time code").input_value()


def open_a_round(consumer: Visitor) -> str:
    """Plan and open a round on the consumer's pages; its id."""
    keyboard.press(consumer.page.get_by_role("link", name="Plan your first round"))
    keyboard.fill(consumer.page.get_by_label("Question put to each owner"), QUESTION)
    keyboard.fill(consumer.page.get_by_label("The fact it is about"), "flu-vaccination")
    from playwright.sync_api import expect

    keyboard.fill(consumer.page.get_by_label("Owners you expect"), "1000")
    expect(consumer.page.locator("#preview .big-figure .value")).not_to_have_text("no answer", timeout=20_000)
    before = consumer.page.locator("#preview .big-figure .value").inner_text()
    keyboard.fill(consumer.page.get_by_label("Budget", exact=True), "200")
    keyboard.fill(consumer.page.get_by_label("Time to bid", exact=True), "1")
    keyboard.fill(consumer.page.get_by_label("Time to report", exact=True), "1")
    keyboard.press(consumer.page.get_by_text("More settings"))
    keyboard.fill(consumer.page.get_by_label("Fewest bids to go on with"), "2")
    expect(consumer.page.locator("#preview .big-figure .value")).not_to_have_text(before, timeout=20_000)
    consumer.shoot("market-plan")
    press(consumer, "Save as draft")
    press(consumer, "Open the round")
    consumer.page.get_by_text("Owners can bid for another").wait_for()
    return consumer.page.url.rsplit("/", 1)[1]


def bid(owner: Visitor, price: str) -> None:
    keyboard.press(owner.page.get_by_role("link", name="Name your price"))
    keyboard.fill(owner.page.get_by_label("Your price per unit of epsilon"), price)
    press(owner, "Bid")
    owner.page.get_by_text("Your bid stands").wait_for()


def others_bid(site: Site, round_id: str) -> None:
    """Bids of owners who will not report."""
    town = Town(
        market=site.market,
        clock=site.clock,  # type: ignore[arg-type]  # it is not moved through the town
        operator=site.operator,
        consumer=site.operator,
    )
    town.add_owners(SILENT)
    town.bid_all(reads.round_by_id(site.market, site.operator, round_id))


def report(owner: Visitor, answer: str, picture: str) -> str:
    """Look at the offer when it comes, answer, and give back what the page says left the browser."""
    owner.page.get_by_role("heading", name="Your offer").wait_for()
    owner.page.locator(".checks .passed").nth(3).wait_for()
    keyboard.choose(owner.page.get_by_label(answer, exact=True))
    for box in owner.page.locator("[data-agree]").all():
        keyboard.tick(box)
    owner.shoot(picture)
    assert violations(owner.page) == []
    press(owner, "Randomise and send")
    owner.page.get_by_text("What left this browser").wait_for()
    return str(owner.page.locator('[data-show="sent"]').text_content())


@pytest.fixture(scope="module")
def played(site: Site, browser: Browser) -> dict[str, Any]:
    """The round, played once; tests look at what it left."""
    operator = Visitor(browser, site)
    operator.enter(round_steps.renew_code(site.market, site.operator, site.operator.user_id).code)
    codes = {name: code_for(operator, name, role) for name, role in PEOPLE.items()}
    operator.go("/operator/ledger")
    keyboard.pick(operator.page.get_by_label("Consumer", exact=True), "Health")
    keyboard.fill(operator.page.get_by_label("Amount received"), "500")
    press(operator, "Enter the deposit")
    assert operator.micros("amount") == DEPOSIT
    assert "Health Institute" in operator.figure("person")
    press(operator, "Enter the deposit of 500.00")

    consumer = Visitor(browser, site)
    consumer.enter(codes["Health Institute"])
    round_id = open_a_round(consumer)
    ann, bea = Visitor(browser, site), Visitor(browser, site, color_scheme="dark", **PHONE)
    for owner, name, price in ((ann, "Ann", "0.2"), (bea, "Bea", "0.35")):
        owner.enter(codes[name])
        bid(owner, price)
    others_bid(site, round_id)
    site.clock.skip(3601)
    sent = [report(ann, "Yes", "market-offer"), report(bea, "No", "market-offer-phone-dark")]
    site.clock.skip(3601)
    consumer.page.get_by_role("heading", name="The answer").wait_for()
    consumer.shoot("market-answer")
    return {"round": round_id, "sent": sent, "operator": operator, "consumer": consumer, "owners": (ann, bea)}


PEOPLE = {"Health Institute": "consumer", "Ann": "owner", "Bea": "owner"}


def test_two_reports_give_no_number_and_the_consumers_page_says_why(played: dict[str, Any]) -> None:
    text = played["consumer"].page.locator("main").inner_text()
    assert "There were too few reports to give an answer" in text
    assert "No answer: 2 reports came, and at least 5 are needed" in text
    assert not re.search(r"Between [\d.]+ and [\d.]+", text)


def test_what_can_be_downloaded_is_what_is_shown(played: dict[str, Any]) -> None:
    page = played["consumer"].page
    with page.expect_download() as started:
        page.get_by_role("link", name="Download JSON").click()
    answer = json.loads(started.value.path().read_text(encoding="utf-8"))
    assert page.locator(".answer .big-figure").count() == len(answer["values"]) == 0
    assert (answer["reports"], answer["owners"]) == (2, 2 + SILENT)


def test_money_adds_up_across_everyones_pages(played: dict[str, Any]) -> None:
    consumer = played["consumer"]
    paid, returned = consumer.micros("paid"), consumer.micros("returned")
    assert paid + returned == 200_000_000
    assert consumer.micros("escrow") == 0
    earned = []
    for owner in played["owners"]:
        owner.go("/owner/earnings")
        earned.append(owner.micros("balance"))
    assert sum(earned) == paid > 0
    assert consumer.micros("balance") + sum(earned) == DEPOSIT


def test_the_operators_books_balance(played: dict[str, Any]) -> None:
    operator = played["operator"]
    operator.go("/operator/ledger")
    operator.shoot("market-ledger")
    assert operator.figure("balanced") == "balanced"
    assert operator.micros("total") == 0
    cells = operator.page.locator('[data-figure="account-balance"]').all_inner_texts()
    assert sum(round(1e6 * float(cell.replace(",", ""))) for cell in cells) == 0


def test_what_the_page_says_left_is_what_was_sent(played: dict[str, Any]) -> None:
    for owner, said in zip(played["owners"], played["sent"], strict=True):
        put = [r for r in owner.requests if r.method == "PUT" and r.url.endswith("/report")]
        assert len(put) == 1
        assert put[0].post_data == said
        assert set(json.loads(said)) == {"terms_hash", "code"}


def test_the_owners_browser_keeps_her_lifetime_account(played: dict[str, Any]) -> None:
    bea = played["owners"][1]
    bea.go("/owner/privacy")
    bea.page.locator(".spending").first.wait_for()
    bea.shoot("market-privacy-phone-dark")
    text = bea.page.locator("main").inner_text()
    assert "flu-vaccination" in text
    assert "of 4.0000 epsilon, in 1 report" in text
    assert "of 12.0000 epsilon, in 1 report" in text
    assert "drawn, sent, accepted" in text
    assert played["sent"][1] not in text, "nobody is shown bytes who did not ask for them"
    bea.page.get_by_text("The bytes that were sent").first.click()
    assert played["sent"][1] in bea.page.locator("main").inner_text()
    with bea.page.expect_download() as saved:
        bea.page.get_by_role("button", name="Save it as a page").click()
    kept = saved.value.path().read_text()
    assert escape(played["sent"][1]) in kept
    assert "yes: your bid is under this root, which the market signed" in kept


def test_a_cap_set_in_the_browser_stays(played: dict[str, Any]) -> None:
    ann = played["owners"][0]
    ann.go("/owner/privacy")
    ann.page.get_by_label("Lifetime cap", exact=True).first.fill("4.5")
    ann.page.get_by_role("button", name="Set the cap").first.click()
    ann.page.get_by_text("of 4.5000 epsilon").wait_for()
    ann.go("/owner/privacy")
    ann.page.get_by_text("of 4.5000 epsilon").wait_for()


def test_no_page_asked_anyone_but_the_market_and_no_console_complained(played: dict[str, Any], site: Site) -> None:
    visitors = [played["operator"], played["consumer"], *played["owners"]]
    asked = [request.url for visitor in visitors for request in visitor.requests]
    assert len(asked) > 100
    assert [url for url in asked if not url.startswith(site.address + "/")] == []
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []


def test_the_look_for_unlabelled_fields_and_inline_code_finds_them(played: dict[str, Any]) -> None:
    operator = played["operator"]
    operator.go("/operator")
    operator.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    operator.page.evaluate("document.querySelector('main').setAttribute('onclick', '')")
    assert len(operator.page.evaluate(UNLABELLED)) == 1
    assert operator.page.evaluate(STRUCTURE)["inline"] == 1


def test_a_form_can_be_filled_in_with_the_keyboard_alone(played: dict[str, Any]) -> None:
    consumer = played["consumer"]
    consumer.go("/consumer/plan")
    consumer.page.keyboard.press("Tab")
    assert consumer.page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(40):
        consumer.page.keyboard.press("Tab")
        seen.add(consumer.page.evaluate("document.activeElement.name || document.activeElement.innerText"))
    assert {"kind", "text", "attribute", "budget", "owners", "bid_time", "report_time", "Save as draft"} <= seen
