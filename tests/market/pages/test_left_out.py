"""An answer that a question does not have, on the market's own page: she is warned before a bid, and told a way on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import round_steps
from pdqs.owner.review import NOT_AMONG
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import RoundPlan

from .axe import violations
from .open_round import PHONE, bidding
from .site import Site
from .test_browser_device import HALVES, LETTERS, PLAN, RAISE_CAP, SHORT, Guest, asking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WARNING = (
    "If yours is not among them, decide now whether you would give the nearest: whoever bids and then does not answer"
    " tells the market something, and is paid nothing."
)
WAYS = DomainMessage(kind="categories", labels=["by car", "by bus, tram or train", "on foot"], size=3)
WAGES = DomainMessage(kind="grid", start=1000.0, step=100.0, size=41)


def opened(site: Site, plan: RoundPlan, name: str) -> str:
    consumer, _ = site.invite("consumer", f"For {name}")
    site.deposit(consumer, plan.budget_micros)
    drafted = round_steps.draft_round(site.market, consumer, plan, f"key-{name}-round")
    return round_steps.open_round(site.market, consumer, drafted.round_id).round_id


@pytest.mark.parametrize(
    ("name", "domain", "answers"),
    [
        ("numbers", WAGES, "a whole number from 1,000 to 5,000 in steps of 100"),
        ("some", SHORT, "one of 3: tea, coffee, neither"),
        ("commas", WAYS, "one of 3: by car; by bus, tram or train; on foot"),
        ("many", LETTERS, "one of the 12 answers below"),
    ],
)
def test_who_might_be_left_out_is_warned_before_a_bid(
    site: Site, browser: Browser, name: str, domain: DomainMessage, answers: str
) -> None:
    kind = asking("mean" if domain.kind == "grid" else "histogram", domain)
    _, visitor = bidding(site, browser, opened(site, kind, name), f"Ann {name}", **PHONE)
    said = visitor.page.locator("#left-out p").inner_text()
    assert said == f"You would answer {answers}. {WARNING}"
    everything = visitor.page.get_by_text("All 12 answers")
    assert everything.count() == (domain.size == 12)
    if domain.size == 12:
        everything.click()
        assert visitor.page.locator("#left-out li").all_inner_texts() == list("abcdefghijkl")
    assert violations(visitor.page) == []
    assert visitor.fits()
    visitor.shoot(f"owner-left-out-{name}-phone")
    visitor.context.close()


def test_where_yes_or_no_is_asked_nobody_is_left_out(site: Site, browser: Browser) -> None:
    _, visitor = bidding(site, browser, opened(site, PLAN, "all"), "Ann all")
    assert visitor.page.locator("#left-out").count() == 0
    visitor.context.close()


@pytest.mark.parametrize(("name", "domain"), [("numbers", HALVES), ("some", SHORT), ("many", LETTERS)])
def test_an_answer_that_is_none_of_those_is_told_the_nearest_and_nothing_is_drawn(
    site: Site, browser: Browser, name: str, domain: DomainMessage
) -> None:
    guest = Guest(site, browser, f"Bea {name}", asking("mean" if name == "numbers" else "histogram", domain))
    guest.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    guest.page.evaluate(RAISE_CAP)
    guest.ready()
    assert guest.page.get_by_text("If yours is not among them, you may give the nearest one.").is_visible()
    if name == "numbers":
        guest.page.locator("#answer").fill("12")
    guest.page.get_by_role("button", name="Randomise and send").click()
    fault = guest.page.locator("#answer-fault:not([hidden])")
    fault.wait_for()
    first = {"numbers": "Give a number from 5 to 10 in steps of 0.5."}.get(name, "Choose one of the answers.")
    assert fault.inner_text() == f"{first} Nothing was drawn and nothing was sent. {NOT_AMONG}."
    assert guest.page.get_by_text("If yours is not among them").is_hidden(), "it is said once"
    assert violations(guest.page) == []
    guest.visitor.shoot(f"owner-nearest-{name}-phone")
    assert guest.puts() == []
    guest.leave()


def test_no_answer_to_a_yes_or_no_is_not_told_of_a_nearest(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Cleo")
    guest.look()
    guest.page.locator("#report-form button:enabled").wait_for()
    guest.page.get_by_role("button", name="Randomise and send").click()
    fault = guest.page.locator("#answer-fault:not([hidden])")
    assert fault.inner_text() == "Choose one of the answers. Nothing was drawn and nothing was sent."
    assert guest.page.get_by_text("the nearest one").count() == 0
    guest.leave()


def test_a_report_that_is_nearly_always_true_is_not_said_to_be_always_so(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Dot", asking("histogram", SHORT))
    guest.page.evaluate(RAISE_CAP)
    guest.ready()
    meaning = guest.page.locator("[data-show=meaning]").inner_text()
    assert "with chance more than 99 in 100, otherwise a random one." in meaning
    guest.leave()
