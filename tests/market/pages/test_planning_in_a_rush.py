"""A consumer who fills in the form fast, saves it, goes back and saves it again: one forecast, one draft."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pdqs.market import forecasting, reads
from pdqs.planning.forecasts import plan
from pdqs.protocol.forecasts import ForecastRequest
from pdqs.protocol.market_messages import User

from .axe import violations
from .open_round import PHONE, PLAN
from .site import Site, Visitor

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


def test_a_browser_that_keeps_nothing_begins_another_draft(site: Site, browser: Browser) -> None:
    """As over TLS: back at an empty form, what is written next is not the draft of before."""
    user, visitor = planning(site, browser, "Keeps Nothing")
    page = visitor.page
    page.evaluate("document.getElementById('plan').autocomplete = 'off'")
    page.get_by_label("Budget", exact=True).fill("41")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    page.go_back()
    page.get_by_label("Question put to each owner").wait_for()
    assert page.get_by_label("Question put to each owner").input_value() == ""
    assert not page.get_by_text(SENT_BEFORE).is_visible()
    page.get_by_label("Question put to each owner").fill("Do you swim?")
    page.get_by_label("The fact it is about").fill("swimming")
    page.get_by_label("Budget", exact=True).fill("42")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    assert budgets(site, user) == [42, 41]
    visitor.context.close()


def test_a_form_that_was_opened_meanwhile_is_refused_with_its_words_and_sent_as_another(
    site: Site, browser: Browser
) -> None:
    user, visitor = planning(site, browser, "Already Open")
    page = visitor.page
    page.get_by_label("Budget", exact=True).fill("51")
    visitor.press("Save as draft")
    visitor.press("Open the round")
    page.get_by_text("Owners can bid for another").wait_for()
    page.go_back()
    page.go_back()
    page.get_by_text(SENT_BEFORE).wait_for()
    page.get_by_label("Budget", exact=True).fill("52")
    visitor.press("Save as draft")
    page.get_by_text("its terms are frozen").wait_for()
    assert page.get_by_label("Question put to each owner").input_value() == "Do you cycle to work?"
    assert budgets(site, user) == [51]
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    assert budgets(site, user) == [52, 51]
    visitor.context.close()
