"""What a consumer in a hurry meets on her pages: each says which figure it is about, whose fault, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access, drafts, forecasting, round_steps
from pdqs.market.pages import plan_form
from pdqs.market.pages.render import _environment
from pdqs.model.money import PLAIN, Currency
from pdqs.model.spelling import Mark
from pdqs.protocol.device_messages import Bid
from pdqs.protocol.forecasts import ForecastRequest
from pdqs.protocol.market_messages import User

from .axe import violations
from .open_round import PHONE, PLAN
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def signed_in(site: Site, user: User) -> Iterator[httpx.Client]:
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60) as browser:
        yield browser


def test_a_forecast_that_cannot_be_made_anew_takes_the_old_figure_away(site: Site, browser: Browser) -> None:
    _, code = site.invite("consumer", "Signed Out")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    page, figure = visitor.page, visitor.page.locator("#preview .big-figure")
    figure.wait_for()
    visitor.context.set_offline(True)
    page.get_by_label("Budget", exact=True).fill("71")
    page.get_by_text("could not be worked out anew: the market is out of reach.").wait_for()
    assert figure.count() == 0
    visitor.context.set_offline(False)
    page.get_by_label("Budget", exact=True).fill("72")
    figure.wait_for()
    visitor.context.clear_cookies()
    page.get_by_label("Budget", exact=True).fill("73")
    page.get_by_text("could not be worked out anew: you are signed out.").wait_for()
    assert figure.count() == 0
    assert violations(page) == []
    visitor.shoot("forecast-signed-out-phone")
    visitor.context.close()


@pytest.mark.parametrize(
    ("right", "sharp", "said"),
    [
        (0.0207, 0.0414, "Here being right costs nothing: choose it."),
        (0.020701, 0.020699, "Here being right costs nothing: choose it."),
        (0.12346, 0.10004, "<dd>2.35 points</dd>"),
    ],
)
def test_what_being_right_costs_is_the_difference_of_the_figures_above_it(
    site: Site, right: float, sharp: float, said: str
) -> None:
    user, _ = site.invite("consumer", "Being Right")
    made = forecasting.forecast(site.market, user, ForecastRequest(plan=PLAN, owners=400))
    form = plan_form.PlanForm(fields={}, plan=PLAN, owners=400)
    forecast = made.model_copy(update={"half_width_right": right, "half_width_sharp": sharp})
    shown = _environment(PLAIN).get_template("consumer/preview.html").render(form=form, forecast=forecast, why="")
    assert said in shown
    assert "-" not in re.findall(r"<dd>([^<]*) points</dd>", shown)[-1]


def test_what_stands_against_a_forecast_is_named_with_its_field(site: Site) -> None:
    user, _ = site.invite("consumer", "Not Marked")
    with signed_in(site, user) as browser:
        typed = {"kind": "median", "budget": "1O0", "start": "ten"}
        said = unescape(browser.get("/consumer/plan/preview", params=typed).text)
    assert 'The budget: "1O0" is not a number: write it like 12.50.' in said
    assert 'The lowest answer: "ten" is not a number: write it like 12.' in said
    assert "marked" not in said


@pytest.mark.parametrize(
    ("mark", "low", "high"), [(",", "1.000", "5.000"), (".", "1,000", "5,000"), (",", "1000", "5000")]
)
def test_the_ends_of_whole_steps_are_read_as_pages_write_them(mark: Mark, low: str, high: str) -> None:
    money = Currency(mark=mark)
    given = {"kind": "median", "text": "How much?", "attribute": "income", "start": low, "stop": high, "step": "10"}
    found = plan_form.read(given, money).plan
    assert found is not None
    domain = found.query.domain
    assert (domain.start, domain.step, domain.size) == (1000, 10, 401)
    fine = plan_form.read({**given, "step": f"0{mark}5"}, money)
    assert ("start" in fine.faults) == (low != "1000"), "by half steps it could mean either"


def test_a_number_of_people_has_an_example_of_people() -> None:
    assert plan_form.read({"owners": "forty"}).faults["owners"] == (
        '"forty" is not a number: write it like 12. Give a whole number from 2 to 10,000,000.'
    )
    assert plan_form.read({"owners": "1,250"}).owners == 1250, "there are no decimals of people"


def test_the_form_of_an_open_round_leads_to_its_page(site: Site) -> None:
    user, _ = site.invite("consumer", "Opened Since")
    site.deposit(user, 100_000_000)
    made = drafts.draft_round(site.market, user, PLAN, "the-draft-opened-since")
    at = f"/consumer/rounds/{made.round_id}"
    with signed_in(site, user) as browser:
        sent = {**plan_form.fields_of(PLAN), "purpose": "To know."}
        sent["csrf_token"] = re.findall(r'name="csrf_token" value="([^"]*)"', browser.get(f"{at}/edit").text)[0]
        round_steps.open_round(site.market, user, made.round_id)
        led = browser.get(f"{at}/edit")
        assert (led.status_code, led.headers["location"]) == (303, at)
        late = browser.post(f"{at}/edit", data=sent).text
        page = browser.get(at).text
    assert "its terms are frozen: plan another like this to ask otherwise." in late
    assert "Plan another like this" in page


def test_a_form_expects_the_owners_that_there_are(site: Site) -> None:
    user, _ = site.invite("consumer", "Whoever Is Here")
    for place in range(7):
        site.invite("owner", f"Owner {place}")
    made = drafts.draft_round(site.market, user, PLAN, "the-draft-of-whoever")
    with signed_in(site, user) as browser:
        for path in (
            "/consumer/plan",
            f"/consumer/plan?like={made.round_id}",
            f"/consumer/rounds/{made.round_id}/edit",
        ):
            shown = browser.get(path, follow_redirects=True).text
            assert re.findall(r'name="owners" type="text" value="([^"]*)"', shown) == ["7"], path
        asked = browser.get("/consumer/plan?owners=42", follow_redirects=True).text
        assert 'name="owners" type="text" value="42"' in asked, "what she says herself stays"


def test_a_fault_is_listed_by_its_field_and_goes_once_that_is_changed(site: Site, browser: Browser) -> None:
    _, code = site.invite("consumer", "Corrects It")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    page = visitor.page
    page.get_by_label("Owners you expect").fill("forty")
    visitor.press("Save as draft")
    listed = page.locator("#faults li")
    listed.filter(has_text="The owners you expect: ").wait_for()
    assert all(re.match(r"The [a-z ]+: ", line) for line in listed.all_inner_texts())
    visitor.shoot("plan-faults-named-phone")
    assert page.locator("#owners-fault").is_visible()
    page.get_by_label("Owners you expect").fill("40")
    assert page.locator("#owners-fault").count() == 0
    assert page.locator("#owners").get_attribute("aria-invalid") is None
    assert page.locator("#text-fault").is_visible(), "the others stay"
    page.locator("#preview[aria-busy=false]").wait_for()  # until then it is pale on purpose
    assert violations(page) == []
    visitor.context.close()


def test_one_bid_is_one_and_moments_look_alike_with_scripts_and_without(site: Site, browser: Browser) -> None:
    user, code = site.invite("consumer", "One Bid")
    site.deposit(user, 100_000_000)
    made = drafts.draft_round(site.market, user, PLAN, "the-draft-of-one-bid")
    opened = round_steps.open_round(site.market, user, made.round_id)
    owner, _ = site.invite("owner", "The Only One")
    bid = Bid(terms_hash=str(opened.terms_hash), bid_micros=1000)
    round_steps.place_bid(site.market, owner, opened.round_id, bid)
    visitor = Visitor(browser, site, timezone_id="Europe/Vienna")
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{made.round_id}")
    closes = visitor.page.locator("#progress time:not([data-until])").first
    moment = r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d "
    visitor.page.wait_for_function("() => document.querySelector('#progress time:not([data-until])').title")
    assert re.fullmatch(moment + r"(GMT\+\d|CES?T)", closes.inner_text())
    assert re.fullmatch(moment + "UTC", str(closes.get_attribute("title")))
    said = visitor.page.locator("#progress > div").get_attribute("data-said")
    assert said == "Open for bids: 1 bid, 0 of 0 reports"
    visitor.context.close()
