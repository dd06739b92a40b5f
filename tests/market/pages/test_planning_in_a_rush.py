"""A consumer who fills in the form fast, saves it, goes back and saves it again: one forecast, one draft."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pdqs.market import forecasting
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
