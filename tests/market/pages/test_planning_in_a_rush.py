"""A consumer who fills in the form fast, saves it, goes back and saves it again: one forecast, one draft."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access, forecasting, reads, round_steps
from pdqs.market.pages import plan_form
from pdqs.planning.forecasts import plan
from pdqs.protocol.forecasts import ForecastRequest
from pdqs.protocol.market_messages import User

from .axe import violations
from .open_round import PHONE, PLAN
from .site import Site, Visitor
from .test_money_pages import fields as all_fields

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TOO_MANY = "Too many forecasts"
TO_COME = "This one follows in a moment"


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No forecast is done until this is over; the names of the threads that have begun one."""
    go = threading.Event()
    begun: list[str] = []

    def slow(*args: object, **options: object) -> object:
        begun.append(threading.current_thread().name)
        assert go.wait(60)
        return plan(*args, **options)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(forecasting, "plan", slow)
    try:
        yield begun
    finally:
        go.set()


def planning(site: Site, browser: Browser, name: str, **context: object) -> tuple[User, Visitor]:
    """A consumer at the form, with the words of her question in it."""
    user, code = site.invite("consumer", name)
    site.deposit(user, 100_000_000)
    visitor = Visitor(browser, site, **context)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    visitor.page.get_by_label("Question put to each owner").fill("Do you cycle to work?")
    visitor.page.get_by_label("The fact it is about").fill("cycling")
    return user, visitor


def test_who_fills_in_the_form_fast_is_not_in_her_own_way(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, visitor = planning(site, browser, "Fast Fingers")
    with held(monkeypatch) as begun:
        for budget in ("61", "62", "63", "64"):
            with visitor.page.expect_request(f"**/plan/preview?*budget={budget}*"):
                visitor.page.get_by_label("Budget", exact=True).fill(budget)
        with visitor.page.expect_request("**/forecast"):
            visitor.press("Save as draft")
        visitor.page.wait_for_timeout(500)
        assert TOO_MANY not in visitor.page.locator("main").inner_text()
        assert len(begun) == 1, "still one at a time"
    visitor.page.locator("#preview .big-figure").wait_for()
    assert "±" in visitor.page.locator("#preview").inner_text()
    assert not visitor.complaints
    visitor.context.close()


def test_while_others_wait_too_the_page_says_so_and_asks_again_by_itself(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, visitor = planning(site, browser, "One of Many", **PHONE)
    others = [site.invite("consumer", f"Other {place}")[0] for place in range(2)]

    def ask(user: User, owners: int) -> None:
        forecasting.forecast(site.market, user, ForecastRequest(plan=PLAN, owners=owners))

    crowd = [threading.Thread(target=ask, args=(user, owners)) for user in others for owners in (50, 60)]
    with held(monkeypatch):
        for thread in crowd:
            thread.start()
        visitor.page.wait_for_timeout(500)
        visitor.page.get_by_label("Budget", exact=True).fill("71")
        visitor.page.get_by_text(TO_COME).wait_for()
        assert violations(visitor.page) == []
        visitor.shoot("forecast-to-come-phone")
        visitor.press("Save as draft")
        visitor.page.get_by_text(TO_COME).wait_for()
        assert TOO_MANY not in visitor.page.locator("main").inner_text()
        visitor.shoot("draft-forecast-to-come-phone")
    visitor.page.locator("#preview .big-figure").wait_for()
    for thread in crowd:
        thread.join()
    assert not visitor.complaints
    visitor.context.close()


SENT_BEFORE = "You have sent this form before"


def budgets(site: Site, user: User) -> list[int]:
    """Of her drafts, newest first, in whole units."""
    return [one.plan.budget_micros // 1_000_000 for one in reads.rounds_page(site.market, user).items]


def test_saving_going_back_and_saving_again_is_one_draft_and_a_new_form_another(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "There and Back", **PHONE)
    page = visitor.page
    page.get_by_label("What do you want to know?").select_option("median")
    page.get_by_label("Budget", exact=True).fill("31")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    made = page.url
    for budget in ("31", "32"):  # the very same, and changed
        page.go_back()
        page.get_by_text(SENT_BEFORE).wait_for()
        assert page.get_by_label("Budget", exact=True).input_value() == "31", "as it was sent"
        assert page.get_by_label("Lowest answer").is_visible(), "the fields of a median"
        assert page.evaluate("JSON.stringify(history.state)").find("cycle") == -1, "no words are kept"
        page.get_by_label("Budget", exact=True).fill(budget)
        visitor.press("Save as draft")
        page.wait_for_url("**/consumer/rounds/r_*")
        assert page.url == made
        assert budgets(site, user) == [int(budget)]
    page.go_back()
    page.get_by_text(SENT_BEFORE).wait_for()
    page.locator("#preview[aria-busy=false]").wait_for()
    assert violations(page) == []
    assert visitor.fits()
    visitor.shoot("form-sent-before-phone")
    page.get_by_role("link", name="begin a new form").click()
    page.get_by_label("Budget", exact=True).wait_for()
    assert not page.get_by_text(SENT_BEFORE).is_visible()
    page.get_by_label("Question put to each owner").fill("Do you cycle to work?")
    page.get_by_label("The fact it is about").fill("cycling")
    page.get_by_label("Budget", exact=True).fill("33")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    assert page.url != made
    assert budgets(site, user) == [33, 32]
    assert not visitor.complaints
    visitor.context.close()


def test_without_scripts_too_a_form_is_one_draft_and_a_new_form_another(site: Site, browser: Browser) -> None:
    user, _ = site.invite("consumer", "Plain and Back")
    visitor = Visitor(browser, site, java_script_enabled=False, **PHONE)
    cookie = access.start_session(site.market, user).cookie
    visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    page = visitor.page
    places = []
    for first, budget in ((True, "51"), (False, "51"), (False, "52"), (True, "53")):
        if first:  # begun anew
            visitor.go("/consumer/plan")
            assert not page.get_by_text(SENT_BEFORE).is_visible()
            page.get_by_label("Question put to each owner").fill("Do you row?")
            page.get_by_label("The fact it is about").fill("rowing")
        else:
            page.go_back()
            page.get_by_text(SENT_BEFORE).wait_for()
            assert page.get_by_label("Budget", exact=True).input_value() == "51", "as it was sent"
        page.get_by_label("Budget", exact=True).fill(budget)
        visitor.press("Save as draft")
        page.wait_for_url("**/consumer/rounds/r_*")
        places.append(page.url)
    assert [places.index(place) for place in places] == [0, 0, 0, 3]
    assert budgets(site, user) == [53, 52]
    visitor.context.close()


def fields(html: str, action: str) -> dict[str, str]:
    """Of the form that goes there, what says whose and which it is."""
    return {name: value for name, value in all_fields(html, action).items() if name in ("csrf_token", "key")}


def test_a_form_whose_round_was_opened_is_another_round_when_it_is_gone_back_to(site: Site) -> None:
    user, _ = site.invite("consumer", "Opened and Back")
    site.deposit(user, 100_000_000)
    cookie = access.start_session(site.market, user).cookie
    with httpx.Client(base_url=site.address, cookies={access.COOKIE: cookie}, timeout=60) as browser:
        address = browser.get("/consumer/plan?kind=count").headers["location"]
        fresh = fields(browser.get(address).text, "/consumer/rounds")
        assert fields(browser.get(address).text, "/consumer/rounds") == fresh, "the same form, with the same key"
        refused = browser.post("/consumer/rounds", data={**plan_form.fields_of(PLAN), **fresh, "budget": "much"})
        assert fields(refused.text, "/consumer/rounds")["key"] == fresh["key"], "refused, it is the same form still"
        made = browser.post("/consumer/rounds", data={**plan_form.fields_of(PLAN), **fresh}).headers["location"]
        assert SENT_BEFORE in browser.get(address).text
        round_steps.open_round(site.market, user, made.rpartition("/")[2])
        again = browser.get(address, follow_redirects=True).text
        assert SENT_BEFORE not in again
        assert "Sent, it makes a draft of its own." in again
        assert PLAN.query.text in again, "filled in as it was"
        assert fields(again, "/consumer/rounds")["key"] != fresh["key"]


def test_a_browser_that_keeps_nothing_finds_the_draft_in_the_form(site: Site, browser: Browser) -> None:
    """As over TLS: back at the form, the market has filled it in."""
    user, visitor = planning(site, browser, "Keeps Nothing")
    page = visitor.page
    page.evaluate("document.getElementById('plan').autocomplete = 'off'")
    page.get_by_label("Budget", exact=True).fill("41")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    page.go_back()
    page.get_by_label("Question put to each owner").wait_for()
    assert page.get_by_label("Question put to each owner").input_value() == "Do you cycle to work?"
    assert page.get_by_label("Budget", exact=True).input_value() == "41"
    assert page.get_by_text(SENT_BEFORE).is_visible()
    page.get_by_label("Budget", exact=True).fill("42")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    assert budgets(site, user) == [42]
    visitor.context.close()


def test_a_form_that_was_opened_meanwhile_is_refused_with_its_words_and_sent_as_another(
    site: Site, browser: Browser
) -> None:
    user, visitor = planning(site, browser, "Already Open")
    page = visitor.page
    page.get_by_label("Budget", exact=True).fill("51")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    made = page.url.rpartition("/")[2]
    page.go_back()
    page.get_by_text(SENT_BEFORE).wait_for()
    round_steps.open_round(site.market, user, made)  # in another tab
    page.get_by_label("Budget", exact=True).fill("52")
    visitor.press("Save as draft")
    page.get_by_text("its terms are frozen").wait_for()
    assert page.get_by_label("Question put to each owner").input_value() == "Do you cycle to work?"
    assert budgets(site, user) == [51]
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    assert budgets(site, user) == [52, 51]
    visitor.context.close()
