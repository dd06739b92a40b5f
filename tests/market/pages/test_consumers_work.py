"""The consumer's work over plain HTTP: drafts are changed and cloned, answers compared, and files are what is shown."""

from __future__ import annotations

import math
import re
from html import unescape

import httpx
import pytest

import pdqs
from market.town import Town, found_town, plan
from pdqs.estimate.enough import why_no_answer
from pdqs.market import drafts, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.pages import plan_form
from pdqs.market.pages.numerals import short as number
from pdqs.market.pages.round_figures import could_answer
from pdqs.market.round_terms import terms_of
from pdqs.market.settings import Settings
from pdqs.model.money import Currency
from pdqs.model.spelling import Mark
from pdqs.privacy.loss import cap_q
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan
from pdqs.protocol.problems import ConflictError, NotFoundError
from pdqs.rounds.commitments import commitment_to

from .test_pages import enter, hidden

GRID = DomainMessage(kind="grid", start=-5.0, step=0.5, size=31)
LABELS = DomainMessage(kind="categories", labels=["tea", "coffee, black", "neither"], size=3)
PLANS = {
    "a count": plan(purpose="To know.", use="A talk."),
    "a mean": plan(query=QueryMessage(kind="mean", text="How cold?", domain=GRID), epsilon_max=1.25),
    "a quantile": plan(query=QueryMessage(kind="quantile", text="How cold?", domain=GRID, p=0.25), bid_seconds=90),
    "a histogram": plan(query=QueryMessage(kind="histogram", text="Which?", domain=LABELS), report_seconds=7200),
    "a sharp one": plan(rule="optimal", estimator="weighted", bid_low_micros=10, bid_high_micros=2_500_000),
    "one that a program set": plan(rule="robust", estimator="shrunk"),
    "to the last digit": plan(budget_micros=20_000_001, bid_high_micros=123_457, minimum_owners=17),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("mark", [".", ","])
def test_a_plan_put_into_the_form_and_read_again_is_the_same_plan(name: str, mark: str) -> None:
    currency = Currency(mark="." if mark == "." else ",", decimals=6)
    found = plan_form.read(plan_form.fields_of(PLANS[name], currency), currency)
    assert found.faults == {}
    assert found.plan == PLANS[name].model_copy(update={"only_with_answer": True}), "as every plan of the pages is"


@pytest.mark.parametrize(
    ("typed", "decimals", "mark", "said"),
    [
        ("20.005", 2, ".", "with at most 2 decimals"),
        ("20.05", 1, ".", "with at most 1 decimal:"),
        ("12,50", 0, ",", "without decimals"),
        ("ten", 0, ",", "write it like 12."),
        ("20.000001", 2, ".", "with at most 2 decimals"),
    ],
)
def test_a_budget_finer_than_money_is_paid_is_refused_beside_its_field(
    typed: str, decimals: int, mark: Mark, said: str
) -> None:
    found = plan_form.read({"budget": typed, "bid_high": "1"}, Currency(mark=mark, decimals=decimals))
    assert found.plan is None
    assert list(found.faults) == ["budget"]
    assert said in found.faults["budget"]


def test_a_budget_and_prices_as_fine_as_can_be_are_read() -> None:
    whole = plan_form.read({"budget": "13,0", "bid_low": "0,125"}, Currency(mark=",", decimals=0)).plan
    assert whole is not None
    assert (whole.budget_micros, whole.bid_low_micros) == (13_000_000, 125_000), "prices are not what is paid"


def test_what_is_taken_is_what_is_shown(town: Town) -> None:
    """A program may plan to the last digit: the page then says all of them, where the round is opened and after."""
    made = drafts.draft_round(town.market, town.consumer, plan(budget_micros=20_005_000), "a-finer-draft")
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock.__call__, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    path = f"/consumer/rounds/{made.round_id}"
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        token = {name: hidden(browser.get(path).text, name) for name in ("csrf_token", "shown")}
        shown = [browser.get(path).text, browser.get("/consumer").text]
        assert "put 20.005 in escrow" in shown[0]
        browser.post(f"{path}/open", data=token)
        shown += [browser.get(path).text, browser.post(f"{path}/cancel", data=token).text]
    assert all("20.005" in page and "20.01" not in page for page in shown)
    assert reads.me(town.market, town.consumer).balance_micros == 900_000_000 - 20_005_000
    town.market.store.close()


@pytest.mark.parametrize(("cap", "fewest"), [("2", 9), ("16", 7), ("0,5", 84)])
def test_fewest_bids_left_empty_still_give_an_answer_where_one_in_five_does_not_report(cap: str, fewest: int) -> None:
    given = {"text": "Have you been ill?", "attribute": "illness", "epsilon_max": cap}
    found = plan_form.read(given, Currency(mark=",")).plan
    assert found is not None
    assert found.minimum_owners == fewest
    terms = terms_of(found)
    q = cap_q(terms.epsilon_max, terms.kappa)
    come, fewer = (math.floor(0.8 * bids + 1e-9) for bids in (fewest, fewest - 1))
    assert not why_no_answer(come, come * q**2)
    assert why_no_answer(fewer, fewer * q**2)
    asked = plan_form.read({**given, "minimum_owners": "2"}, Currency(mark=",")).plan
    assert asked is not None, "who wants fewer says so"
    assert asked.minimum_owners == 2


def test_what_the_form_has_no_field_for_stays_in_a_draft_that_is_changed() -> None:
    mean = PLANS["a mean"]
    before = mean.model_copy(update={"nonce_hash": "ab" * 32, "retention_days": 9, "question": "level:3"})
    before = before.model_copy(update={"only_with_answer": True})
    changed = plan_form.read({**plan_form.fields_of(before), "purpose": "To know."}).plan
    assert changed is not None
    assert plan_form.with_unshown(changed, before) == before.model_copy(update={"purpose": "To know."})
    other = plan_form.with_unshown(PLANS["a count"], before)  # another query, which may not be asked in levels
    assert (other.nonce_hash, other.retention_days, other.question) == ("ab" * 32, 9, "auto")


def test_a_draft_is_changed_until_it_is_opened_and_by_nobody_else(town: Town) -> None:
    found = drafts.draft_round(town.market, town.consumer, plan(), "a-draft-of-mine")
    changed = drafts.change_draft(town.market, town.consumer, found.round_id, plan(purpose="To know."))
    assert changed.plan.purpose == "To know."
    assert reads.rounds_page(town.market, town.consumer).items[0].plan.purpose == "To know."
    other = town.operator.model_copy(update={"role": "consumer"})
    with pytest.raises(NotFoundError):
        drafts.change_draft(town.market, other, found.round_id, plan())
    round_steps.open_round(town.market, town.consumer, found.round_id)
    with pytest.raises(ConflictError, match="frozen"):
        drafts.change_draft(town.market, town.consumer, found.round_id, plan())
    assert reads.round_by_id(town.market, town.consumer, found.round_id).plan.purpose == "To know."


@pytest.fixture
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return found_town(f"sqlite:///{tmp_path_factory.mktemp('work')}/market.db", money_micros=900_000_000)


def test_offers_that_are_too_few_for_an_answer_promise_no_precision(town: Town) -> None:
    """Two owners were promised to give "± 59 points of a share"."""
    town.add_owners(3)
    assert not could_answer(town.cleared_round(key="a-round-of-three"))
    town.add_owners(24)
    many = town.cleared_round(key="a-round-of-many")
    assert could_answer(many)
    assert not could_answer(many.model_copy(update={"offers": 4}))
    assert not could_answer(many.model_copy(update={"forecast_half_width": None}))
    town.market.store.close()


def test_a_median_in_stages_is_promised_no_sharper_than_a_plan_would(town: Town) -> None:
    """It was promised as a share is: between the 36th and the 63rd in 100, where the plan said ± 47."""
    town.add_owners(200)
    ages = QueryMessage(kind="median", text="How old?", domain=DomainMessage(kind="grid", start=0, step=1, size=101))
    sharp = {"rule": "optimal", "estimator": "weighted", "budget_micros": 200_000_000}
    found = town.cleared_round(key="a-median-in-stages", query=ages, **sharp)
    assert (found.asked.kind, found.asked.stages) == ("side", 4)
    assert could_answer(found)
    assert found.forecast_half_width is not None
    planned = pdqs.plan(terms_of(found.plan), owners=200).share_half_width
    assert found.forecast_half_width == pytest.approx(planned, rel=0.4)
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock.__call__, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        page = " ".join(browser.get(f"/consumer/rounds/{found.round_id}").text.split())
    low, high = (number(50 + sign * 100 * found.forecast_half_width) for sign in (-1, 1))
    assert f"the offers promise an answer between the values that {low} and {high} in 100" in page
    town.market.store.close()


def shown_at(browser: httpx.Client, at: str) -> str:
    """Which draft the form to change it says that it shows."""
    return hidden(browser.get(f"{at}/edit").text, "shown")


def settled(town: Town, key: str, wanted: RoundPlan) -> str:
    found = town.cleared_round(key=key, **wanted.model_dump(exclude={"query"}), query=wanted.query)
    for place, owner in enumerate(town.asked(found)):
        town.report(owner, found, place % 2)
    town.clock.advance(found.plan.report_seconds)
    return round_steps.settle_round(town.market, town.consumer, found.round_id).round_id


def test_pages_of_the_consumers_work(town: Town) -> None:
    """A template, a draft changed and cloned, the forecast where she pays, two answers side by side."""
    town.add_owners(24)
    rounds = [settled(town, f"a-settled-{place}", plan()) for place in range(2)]
    lone = settled(town, "a-settled-other", plan(attribute="other"))
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock.__call__, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        shown = unescape(browser.get(f"/consumer/compare?like={rounds[0]}").text)
        assert all(f"/consumer/rounds/{found}" in shown for found in rounds)
        assert lone not in shown
        assert "over-time" in shown
        assert "There is one answer" in browser.get(f"/consumer/compare?like={lone}").text
        answer = browser.get(f"/consumer/rounds/{rounds[0]}").text
        for part in ("answer.csv", "answer.json", "data-picture", 'class="outer"', "Plan another like this"):
            assert part in answer

        start = browser.get("/consumer/plan", follow_redirects=True)
        assert "Start from a template" in start.text
        form = {**plan_form.fields_of(plan()), "csrf_token": hidden(start.text, "csrf_token")}
        form["key"] = hidden(start.text, "key")
        first = browser.post("/consumer/rounds", data=form).headers["location"]
        # Back to the form, one word changed, sent again: the same draft, changed.
        form["shown"] = shown_at(browser, first)
        assert browser.post("/consumer/rounds", data={**form, "purpose": "To know."}).headers["location"] == first
        assert "To know." in browser.get(first).text
        assert "±" in browser.get(f"{first}/forecast").text
        form["shown"] = shown_at(browser, first)
        edited = browser.post(f"{first}/edit", data={**form, "text": "Another?"})
        assert (edited.status_code, edited.headers["location"]) == (303, first)
        like = f"/consumer/plan?like={first.rsplit('/', 1)[1]}"
        assert "Another?" in browser.get(like, follow_redirects=True).text
        browser.post(f"{first}/open", data={**form, "shown": shown_at(browser, first)})
        late = browser.post(f"{first}/edit", data={**form, "text": "Too late, but typed with care?"})
        assert late.status_code == 422
        assert "its terms are frozen" in late.text
        assert "Too late, but typed with care?" in late.text, "what was typed is not lost"
    town.market.store.close()


def test_who_has_as_many_drafts_as_there_may_be_is_told_so_and_keeps_what_she_typed(town: Town) -> None:
    settings = Settings(database_url=town.market.settings.database_url, most_drafts=2)
    app = create_app(settings, town.clock.__call__, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        start = browser.get("/consumer/plan", follow_redirects=True).text
        form = {**plan_form.fields_of(plan()), "csrf_token": hidden(start, "csrf_token"), "key": "a-first-form-of-hers"}
        kept = browser.post("/consumer/rounds", data=form)
        assert browser.post("/consumer/rounds", data={**form, "key": "a-second-form-of-hers"}).status_code == 303
        over = browser.post("/consumer/rounds", data={**form, "key": "another-form-of-hers", "text": "One too many?"})
        assert over.status_code == 422
        assert "You have 2 drafts, with rounds called off since yesterday" in unescape(over.text)
        assert "One too many?" in over.text, "what was typed is not lost"
        form["shown"] = shown_at(browser, kept.headers["location"])
        again = browser.post("/consumer/rounds", data={**form, "text": "Changed, and no more of them?"})
        assert again.headers["location"] == kept.headers["location"], "the draft that there is can be changed"
    town.market.store.close()


def test_the_hash_of_a_nonce_comes_with_the_opening_and_the_nonce_once_bids_are_closed(town: Town) -> None:
    owners = town.add_owners(3)
    nonce, other = bytes(range(32)), bytes(32)
    found = drafts.draft_round(town.market, town.consumer, plan(), "a-draft-with-a-nonce")
    at = f"/consumer/rounds/{found.round_id}"
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock.__call__, ticking=False)
    code = round_steps.renew_code(town.market, town.consumer, town.consumer.user_id).code
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, code)
        token = {name: hidden(browser.get(at).text, name) for name in ("csrf_token", "shown")}
        garbled = browser.post(f"{at}/open", data={**token, "nonce_hash": "zz"})
        assert (garbled.status_code, "came garbled: try again" in garbled.text) == (422, True)
        assert reads.round_by_id(town.market, town.consumer, found.round_id).state == "draft"
        browser.post(f"{at}/open", data={**token, "nonce_hash": commitment_to("nonce", nonce)})
        again = browser.post(f"{at}/open", data={**token, "nonce_hash": commitment_to("nonce", other)})
        assert again.status_code == 303  # pressed twice: what it is committed to stays
        opened = reads.round_by_id(town.market, town.consumer, found.round_id)
        assert (opened.nonce_by, opened.plan.nonce_hash) == ("consumer", commitment_to("nonce", nonce))
        early = browser.post(f"{at}/nonce", data={**token, "nonce": nonce.hex()})
        assert (early.status_code, "Bids close in" in early.text) == (409, True)
        for owner in owners:
            town.bid(owner, opened, 200_000)
        town.clock.advance(opened.plan.bid_seconds)
        for wrong, said in (("seven", "64 letters and digits"), (other.hex(), "not the nonce that the round")):
            refused = browser.post(f"{at}/nonce", data={**token, "nonce": wrong})
            assert (refused.status_code, said in refused.text) == (422, True)
        assert "Close bidding and make offers" not in browser.get(at).text  # it would change nothing
        town.clock.advance(86_400)
        late = browser.post(f"{at}/nonce", data={**token, "nonce": nonce.hex()})
        assert (late.status_code, "had to be told before" in late.text, " UTC" in late.text) == (409, True, True)
    town.market.store.close()


RENT = plan(
    query=QueryMessage(kind="mean", text="How much rent?", domain=DomainMessage(kind="grid", size=5001)),
    attribute="rent",
    budget_micros=12_000_000,
    bid_high_micros=500_000,
)
ENGLISH = re.compile(r"(?<![\d.])\d+\.\d{1,2}(?![\d.])|(?<![\d.,])[1-9]\d{0,2},\d{3}(?!\d)")
"""A number with an English point, or with its thousands parted otherwise than elsewhere on the page."""


def read_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<(head|style|script).*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)).split())


@pytest.mark.parametrize("decimals", [0, 2])
def test_with_a_decimal_comma_all_numbers_of_a_page_are_in_one_style(town: Town, decimals: int) -> None:
    town.add_owners(24)
    rounds = [settled(town, f"a-mean-{place}", RENT) for place in range(2)]
    rounds.append(settled(town, "a-count", plan(budget_micros=2_000_000)))
    rounds.append(drafts.draft_round(town.market, town.consumer, RENT, "a-draft-of-it").round_id)
    settings = Settings(
        database_url=town.market.settings.database_url,
        currency="EUR",
        decimal_mark=",",
        currency_decimals=decimals,
    )
    pages: dict[str, str] = {}
    with served(create_app(settings, town.clock.__call__, ticking=False)) as address:
        for user, paths in (
            (town.consumer, [f"/consumer/rounds/{found}" for found in rounds]),
            (
                town.consumer,
                [
                    "/consumer",
                    "/consumer/plan?kind=mean&stop=5000&owners=5000&form=a-form-of-hers",
                    f"/consumer/compare?like={rounds[0]}",
                ],
            ),
            (town.consumer, [f"/consumer/rounds/{rounds[-1]}/forecast", "/consumer/plan/preview?owners=40&budget=20"]),
            (town.operator, ["/operator", "/operator/ledger", "/operator/payouts", f"/operator/rounds/{rounds[0]}"]),
        ):
            with httpx.Client(base_url=address, timeout=60) as browser:
                enter(browser, round_steps.renew_code(town.market, town.operator, user.user_id).code)
                pages |= {path: read_text(browser.get(path).text) for path in paths}
    for path, text in pages.items():
        assert ENGLISH.findall(text) == [], (path, ENGLISH.search(text))
    assert "a whole number from 0 to 5.000" in pages[f"/consumer/rounds/{rounds[0]}"]
    assert re.search(r"± \d+ people", pages["/consumer/plan/preview?owners=40&budget=20"])
    small = "less than 1 EUR too little to pay yet" if decimals == 0 else "EUR"
    assert small in pages["/operator/ledger"]
    town.market.store.close()


def test_what_an_owner_might_be_paid_has_no_finer_digits_than_money_has(town: Town) -> None:
    """In a market without decimals: "about 0,409128 EUR"."""
    town.add_owners(24)
    opened = town.open_round(**RENT.model_dump(exclude={"query"}), query=RENT.query)
    url = town.market.settings.database_url
    settings = Settings(database_url=url, currency="EUR", decimal_mark=",", currency_decimals=0)
    app = create_app(settings, town.clock.__call__, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as browser:
        enter(browser, round_steps.renew_code(town.market, town.operator, town.owners[0].user_id).code)
        text = read_text(browser.get(f"/owner/rounds/{opened.round_id}").text)
    shown = text.partition("Paid, if asked")[2]
    assert "0,03 EUR" in shown, "prices are not paid as they are, and keep two decimals"
    assert "less than 1 EUR" in shown
    assert "about" not in shown.partition("less than")[0]
    assert not re.search(r"\d,\d{3,}", shown)
    town.market.store.close()


def test_all_that_is_wrong_with_the_words_of_a_plan_is_said_at_once_and_with_its_line() -> None:
    labels = "tea\n\ncoffee\ntea\n" + "x" * 81 + "\nwa\u202eter"
    given = {"kind": "histogram", "labels": labels, "attribute": "Flu Shot", "budget": "none", "purpose": "y" * 401}
    found = plan_form.read(given).faults
    assert set(found) == {"labels", "attribute", "budget", "purpose"}
    assert found["labels"].startswith(
        "Line 4 is the same as line 1. Line 5 has 81 letters, and 80 are the most. Line 6 "
    )
    assert found["purpose"] == "Write at most 400 letters; these are 401."
    for said in found.values():
        assert "String" not in said
        assert "Value error" not in said
