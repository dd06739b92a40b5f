"""The consumer's answer, in a real browser, when enough owners reported."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from pdqs.market import offer_access, reads, round_steps
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.market_messages import QueryMessage, Round, RoundPlan, User

from .axe import violations
from .site import ARTIFACTS, Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OWNERS = 40
PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Do you like tea?"),
    attribute="tea",
    budget_micros=60_000_000,
    epsilon_max=4.0,
    bid_seconds=3600,
)


def wait_for(site: Site, consumer: User, round_id: str, state: str) -> Round:
    """The round, once the market's own clock has brought it to this state."""
    for _ in range(200):
        found = reads.round_by_id(site.market, consumer, round_id)
        if found.state == state:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the round is still {found.state}")


@pytest.fixture(scope="module")
def answered(site: Site, browser: Browser) -> Visitor:
    """A round of forty owners, bids and reports made by hand, and its consumer at her page."""
    consumer, code = site.invite("consumer", "Tea Board")
    site.deposit(consumer, 100_000_000)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, "key-tea-round")
    opened = round_steps.open_round(site.market, consumer, drafted.round_id)
    assert opened.terms_hash is not None
    owners = [site.invite("owner", f"Drinker {i}")[0] for i in range(OWNERS)]
    for i, owner in enumerate(owners):
        bid = Bid(terms_hash=opened.terms_hash, bid_micros=100_000 + 15_000 * i)
        round_steps.place_bid(site.market, owner, opened.round_id, bid)
    site.clock.skip(3601)
    wait_for(site, consumer, opened.round_id, "reporting")
    for i, owner in enumerate(owners):
        if offer_access.offer(site.market, owner, opened.round_id).q_numerator > 0:
            report = Report(terms_hash=opened.terms_hash, code=i % 2)
            round_steps.submit_report(site.market, owner, opened.round_id, report)
    wait_for(site, consumer, opened.round_id, "settled")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{opened.round_id}")
    return visitor


def test_the_answer_appears_with_its_interval(answered: Visitor) -> None:
    answered.shoot("market-answer")
    text = answered.page.locator("main").inner_text()
    assert re.search(rf"\d+\s+of the {OWNERS} owners who bid would say yes", text)
    assert re.search(r"Between [\d.]+ and [\d.]+: an interval like this holds", text)
    assert re.search(r"Between [\d.]+ and [\d.]+ if 5 in 100 owners sent noise", text)
    assert "What no answer of this market can rule out" in text
    assert "a nonce that the market drew for you" not in text
    answered.page.get_by_text("Details for checking").click()
    assert "a nonce that the market drew for you" in answered.page.locator("main").inner_text()
    assert violations(answered.page) == []
    assert not answered.complaints


def test_the_picture_can_be_downloaded_with_both_intervals_and_its_question(answered: Visitor) -> None:
    assert answered.page.locator(".answer svg .outer").count() == 1
    with answered.page.expect_download() as started:
        answered.page.get_by_role("button", name="Download PNG").click()
    picture = started.value.path().read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert re.fullmatch(r"do-you-like-tea-\d{4}-\d\d-\d\d\.png", started.value.suggested_filename)
    words = answered.page.get_by_role("button", name="Download PNG").get_attribute("data-words") or ""
    assert re.match(r"Owners who would say yes: \d+, between [\d.]+ and [\d.]+\.\n", words)
    wide, high = (int.from_bytes(picture[place : place + 4]) / 3 for place in (16, 20))
    assert wide == 392
    assert high > 72 + 14 + 11 * len(words.splitlines()), "there is a line for each sentence below the picture"
    ARTIFACTS.joinpath("market-answer-picture.png").write_bytes(picture)
    assert not answered.complaints


def height_with(answered: Visitor, caption: str) -> float:
    """How high the picture is with this question above it, in its own units."""
    button = answered.page.get_by_role("button", name="Download PNG")
    before = button.get_attribute("data-caption")
    button.evaluate("(button, words) => { button.dataset.caption = words; }", caption)
    with answered.page.expect_download() as started:
        button.click()
    button.evaluate("(button, words) => { button.dataset.caption = words; }", before)
    return int.from_bytes(started.value.path().read_bytes()[20:24]) / 3


@pytest.mark.parametrize(
    "question",
    ["\u304a\u8336\u306f\u597d\u304d\u3067\u3059\u304b" * 12, f"Have you seen https://tea.example/{'oolong/' * 20}?"],
    ids=["a language without spaces", "an address"],
)
def test_a_question_without_spaces_goes_on_in_the_next_line_of_the_picture(answered: Visitor, question: str) -> None:
    assert height_with(answered, question) >= height_with(answered, "Tea?") + 2 * 1.4 * 14 - 1


def test_the_answer_can_be_downloaded_and_is_the_one_shown(answered: Visitor) -> None:
    with answered.page.expect_download() as started:
        answered.page.get_by_role("link", name="Download JSON").click()
    answer = json.loads(started.value.path().read_text(encoding="utf-8"))
    assert answered.page.locator(".answer .big-figure .value").inner_text() == f"{answer['values'][0]:,.0f}"
    assert answer["owners"] == OWNERS
    with answered.page.expect_download() as started:
        answered.page.get_by_role("link", name="Download CSV").click()
    assert re.fullmatch(r"do-you-like-tea-\d{4}-\d\d-\d\d\.csv", started.value.suggested_filename)
    assert "Do you like tea?" in started.value.path().read_text(encoding="utf-8")
