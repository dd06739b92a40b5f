"""What somebody in a hurry reads on a phone: nobody is asked before she is, and no word is a program's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from market.town import plan
from pdqs.market import access, drafts, reads, round_steps
from pdqs.market.pages.render import _environment
from pdqs.protocol.device_messages import Bid, DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan

from .filled import Filled, fill
from .open_round import PHONE, SEEN
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def made(site: Site) -> Filled:
    return fill(site, site.invite("consumer", "Institute")[0], site.invite("owner", "Ann")[0])


def seen_by(site: Site, made: Filled, role: str) -> Iterator[httpx.Client]:
    user = {"owner": made.owner, "consumer": made.consumer}[role]
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60.0) as client:
        yield client


@pytest.fixture(scope="module")
def ann(site: Site, made: Filled) -> Iterator[httpx.Client]:
    yield from seen_by(site, made, "owner")


@pytest.fixture(scope="module")
def institute(site: Site, made: Filled) -> Iterator[httpx.Client]:
    yield from seen_by(site, made, "consumer")


EYEBROW = r'<p class="eyebrow">(.*?)</p>'
ABOVE = {
    "open": "The question",
    "waiting": "The question",
    "offer": "You are asked",
    "reported": "You were asked",
    "done": "You were asked",
    "nothing": "The question was",
}


@pytest.mark.parametrize("name", ABOVE)
def test_an_owner_is_said_to_be_asked_when_she_is(ann: httpx.Client, made: Filled, name: str) -> None:
    html = ann.get(f"/owner/rounds/{made.rounds[name]}").text
    # What is hidden is for when the time is over.
    above = [re.sub(r"<span[^>]* hidden>[^<]*</span>", "", found) for found in re.findall(EYEBROW, html)]
    assert [re.sub(r"<[^>]*>", "", words) for words in above] == [ABOVE[name]]


def test_a_cancelled_round_is_not_just_over(ann: httpx.Client) -> None:
    assert "Cancelled before anyone was asked." in ann.get("/owner").text


def test_a_consumer_reads_her_own_choice_and_not_its_names(institute: httpx.Client, made: Filled) -> None:
    html = institute.get(f"/consumer/rounds/{made.rounds['done']}").text
    shown, _, details = html.partition("Details for checking")
    assert "right whatever prices say" in shown
    assert "lottery, unbiased" not in shown
    assert "lottery, unbiased" in details
    assert "points of a share" not in shown
    assert re.search(r"Before anyone had reported, the offers promised the answer to ± [\d.]+ in 100 owners\.", shown)


AGE = RoundPlan(
    query=QueryMessage(kind="median", text="What is your age?", domain=DomainMessage(kind="grid", size=100)),
    attribute="age",
    budget_micros=90_000_000,
    bid_seconds=3600,
    report_seconds=3600,
)


def test_a_median_is_promised_in_words_of_a_median(site: Site) -> None:
    template = _environment().get_template("consumer/promised.html")
    consumer, _ = site.invite("consumer", "Age Institute")
    draft = drafts.draft_round(site.market, consumer, AGE, "key-of-ages")
    draft = draft.model_copy(update={"state": "reporting", "forecast_half_width": 0.0417})
    said = " ".join(template.render(round=draft).split())
    assert "promise an answer between the values that 45.8 and 54.2 in 100 owners do not exceed" in said


def test_an_owner_of_a_staged_round_knows_that_no_number_is_asked(site: Site, made: Filled, ann: httpx.Client) -> None:
    consumer, _ = site.invite("consumer", "Bureau of Ages")
    site.deposit(consumer, 100_000_000)
    draft = drafts.draft_round(site.market, consumer, AGE.model_copy(update={"question": "side"}), "key-of-stages")
    opened = round_steps.open_round(site.market, consumer, draft.round_id)
    words = "for one yes or no about it, not for the number itself"
    assert f"If you are asked, it is {words}" in ann.get(f"/owner/rounds/{draft.round_id}").text
    for owner in made.owners:
        bid = Bid(terms_hash=opened.terms_hash or "", bid_micros=1000)
        round_steps.place_bid(site.market, owner, draft.round_id, bid)
    site.clock.skip(3601)
    round_steps.clear_round(site.market, consumer, draft.round_id)
    assert f"You are asked {words}" in ann.get(f"/owner/rounds/{draft.round_id}").text


def test_a_draft_says_at_its_top_where_it_is_opened(site: Site, browser: Browser) -> None:
    consumer, code = site.invite("consumer", "Drafts Ltd")
    site.deposit(consumer, 30_000_000)
    draft = drafts.draft_round(site.market, consumer, plan(), "key-of-a-draft")
    phone = Visitor(browser, site, **PHONE)
    phone.enter(code)
    phone.go(f"/consumer/rounds/{draft.round_id}")
    link = phone.page.get_by_role("link", name="open it, change it or discard it")
    assert link.evaluate(SEEN)
    link.click()
    phone.page.get_by_role("button", name="Open the round").wait_for()
    phone.page.wait_for_function("document.querySelector('#opening').getBoundingClientRect().top < innerHeight")
    phone.context.close()


def test_an_invitation_on_a_phone_has_its_button_in_sight(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Ida")
    phone = Visitor(browser, site, **PHONE)
    phone.page.goto(f"{site.address}/enter#{code}")
    assert phone.page.get_by_role("button", name="Sign in").evaluate(SEEN)
    phone.context.close()


def test_without_scripts_the_picture_is_drawn_anew_and_no_address_holds_her_words(
    site: Site, made: Filled, browser: Browser
) -> None:
    plain = Visitor(browser, site, java_script_enabled=False)
    cookie = access.start_session(site.market, made.consumer).cookie
    plain.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    for path in ("/consumer/plan", f"/consumer/rounds/{made.rounds['draft']}/edit"):
        plain.go(path)
        before = plain.page.locator("#preview").inner_text()
        plain.page.get_by_label("Question put to each owner").fill("A secret plan?")
        plain.page.get_by_label("Budget", exact=True).fill("900")
        plain.press("Update the picture")
        assert plain.page.locator("#preview").inner_text() != before
        assert plain.page.get_by_label("Question put to each owner").input_value() == "A secret plan?"
        assert "?" not in plain.page.url
    assert not any("secret" in request.url or "csrf" in request.url for request in plain.requests)
    kept = [one.plan.text for one in reads.rounds_page(site.market, made.consumer).items]
    assert "A secret plan?" not in kept, "looking keeps nothing"
    plain.context.close()
