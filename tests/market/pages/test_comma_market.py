"""A market that writes 4.900 and 2,00 EUR writes so wherever an owner reads a number: else it is another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pdqs.market import round_steps
from pdqs.market.pages import plan_form
from pdqs.market.pages.render import _environment
from pdqs.model.errors import InputError
from pdqs.model.money import Currency, parse_money
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage

from .axe import violations
from .open_round import PHONE, PRICE, SEEN, bidding
from .site import ARTIFACTS, Site, served
from .test_browser_device import PLAN, Guest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

INCOMES = DomainMessage(kind="grid", start=100_000.0, step=1_000.0, size=51)
MEDIAN = PLAN.model_copy(
    update={
        "query": QueryMessage(kind="median", text="What is your income?", domain=INCOMES),
        "attribute": "income",
        "question": "side",
        "stages": 1,
        "rule": "lottery",
        "estimator": "unbiased",
        "epsilon_max": 2.0,
    }
)
ENGLISH = re.compile(r"\d,\d{3}\b|\d\.\d{1,2}\b|\d\.\d{4}\b")
"""A number as it would be written with a point for a mark."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("market"), currency="EUR", decimal_mark=",") as up:
        yield up


@pytest.fixture
def phone(site: Site, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Guest]:
    guest = Guest(site, browser, request.node.name[5:45], getattr(request, "param", PLAN))
    guest.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    yield guest
    guest.leave()


@pytest.mark.parametrize("phone", [MEDIAN], indirect=True)
def test_the_question_and_every_figure_beside_it_are_in_the_style_of_the_market(phone: Guest) -> None:
    phone.ready()
    asked = phone.page.locator("legend[data-show=question]").inner_text()
    assert re.fullmatch(r"Is your income at most 1\d\d\.000\?", asked)
    phone.page.get_by_text("All figures").click()
    text = phone.page.locator("main").inner_text()
    assert ENGLISH.search(text.replace("pdqs 0.1.0", "")) is None
    assert "2,00 of 4,00" in text
    phone.visitor.shoot("owner-comma-question-phone")
    phone.page.get_by_label("Yes", exact=True).check()
    phone.visitor.press("Randomise and send")
    phone.page.get_by_text("Your report is in").wait_for()
    phone.visitor.go("/owner/privacy")
    phone.page.locator("#history .sent").wait_for()
    assert "2,0000\nof 4,0000 epsilon, in 1 report" in phone.page.locator("#spending").inner_text()
    phone.page.get_by_label("Lifetime cap", exact=True).first.fill("3,5")
    phone.page.get_by_role("button", name="Set the cap").first.click()
    phone.page.get_by_text("The cap for income is 3,5.").wait_for(state="attached")
    assert ENGLISH.search(phone.page.locator("main").inner_text()) is None
    phone.visitor.shoot("owner-comma-privacy-phone")


def test_bounds_in_errors_and_warnings_are_in_the_style_of_the_market() -> None:
    euro = Currency(code="EUR", mark=",")
    given = {**plan_form.fields_of(PLAN, euro), "kind": "median", "start": "0", "stop": "50.000,5", "step": "1"}
    form = plan_form.read({**given, "labels": "", "owners": "100"}, euro)
    assert form.faults["stop"] == "The highest answer must be a whole number of steps (1 to 9.999) above the lowest."
    with pytest.raises(InputError, match=r"amounts stay below 1\.000\.000\.000$"):
        parse_money("2.000.000.000", currency=euro)
    warning = "nothing is known beyond the ends: it is between 0 and 5,000 (information 3.5, at least 4 needed)"
    shown = _environment(euro).from_string("{{ warning | in_style }}").render(warning=warning)
    assert shown == warning.replace("5,000", "5.000").replace("3.5", "3,5")


SPENDING = PLAN.model_copy(
    update={
        "query": QueryMessage(
            kind="mean", text="What do you spend?", domain=DomainMessage(kind="grid", start=0.0, step=1.0, size=3001)
        ),
        "attribute": "spending",
        "question": "level:5",
    }
)
MISTAKES = {
    "": "Give a whole number from 0 to 3.000.",
    "950,5": '"950,5" is not a whole number. Give a whole number from 0 to 3.000.',
    "1,500": "if you mean 1500, write it without a comma.",
    "abc": '"abc" is not a number: write it like 1500.',
    "4000": "Give a whole number from 0 to 3.000.",
}


@pytest.mark.parametrize("phone", [SPENDING], indirect=True)
def test_a_number_is_read_as_prices_are_and_each_mistake_is_said_beside_it(phone: Guest) -> None:
    phone.ready()
    page, field, fault = phone.page, phone.page.locator("#answer"), phone.page.locator("#answer-fault")
    assert page.locator("#answer-hint").inner_text() == "A whole number from 0 to 3.000."
    for typed, said in MISTAKES.items():
        field.fill(typed)
        page.get_by_role("button", name="Randomise and send").click()
        fault.get_by_text(said).wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        assert field.evaluate("field => field === document.activeElement")
    phone.visitor.shoot("owner-number-fault-phone")
    field.fill("1.500")  # as the hint writes it
    assert fault.is_hidden()
    phone.visitor.press("Randomise and send")
    page.get_by_text("Your report is in").wait_for()


def test_a_box_that_was_not_ticked_is_where_she_is_told_of_it(phone: Guest) -> None:
    phone.look()
    page = phone.page
    page.locator("#report-form button:enabled").wait_for()
    page.get_by_label("Yes", exact=True).check()
    button = page.get_by_role("button", name="Randomise and send")
    button.click()
    box = page.get_by_role("checkbox", name="I agree: “smoker” is a new fact, and not one asked about before")
    page.get_by_text("Tick this to go on, if you agree.").wait_for()
    assert box.get_attribute("aria-invalid") == "true"
    assert box.evaluate("box => box === document.activeElement")
    assert page.locator("#asks").evaluate(SEEN), "the page did not jump away from it"
    assert page.locator("#trouble").is_hidden()
    assert violations(page) == []
    page.screenshot(path=ARTIFACTS / "owner-box-not-ticked-phone.png")
    box.check()
    assert page.get_by_text("Tick this to go on").is_hidden()
    phone.visitor.press("Randomise and send")
    page.get_by_text("Your report is in").wait_for()


def test_an_example_of_a_price_is_one_that_could_be_named(site: Site, browser: Browser) -> None:
    consumer, _ = site.invite("consumer", "Bureau of prices")
    site.deposit(consumer, 90_000_000)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, "key-of-prices")
    found = round_steps.open_round(site.market, consumer, drafted.round_id).round_id
    _, visitor = bidding(site, browser, found, "Pia", **PHONE)
    visitor.page.get_by_label(PRICE).fill("ten")
    visitor.page.locator("#bid-form button").click()
    visitor.page.locator("#price-fault").get_by_text(
        "write it like 0,50. Give a price from 0,00 EUR to 1,00"
    ).wait_for()
    visitor.context.close()
