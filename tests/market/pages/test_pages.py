"""Pages over plain HTTP: who may see what, what forms refuse and say, and what is on a page at all."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

import pdqs
from pdqs.market import as_shown, reads, round_steps
from pdqs.market.access import COOKIE
from pdqs.market.pages import plan_form
from pdqs.market.store.schema import offers, rounds
from pdqs.model.money import Currency
from pdqs.protocol.device_messages import Bid
from pdqs.protocol.market_messages import NewUser, QueryMessage, Role, RoundPlan, Transfer, User

from .site import Site

HOSTILE = '<script>alert(1)</script>" onmouseover="x'
PLAN = RoundPlan(
    query=QueryMessage(kind="count", text=HOSTILE), attribute="flu", budget_micros=50_000_000, bid_seconds=60
)


Person = tuple[User, httpx.Client]


class Town:
    """A market being served, with people who are signed in over plain HTTP."""

    def __init__(self, site: Site) -> None:
        self.site, self.market, self.operator, self.clock = site, site.market, site.operator, site.clock
        self.browsers: list[httpx.Client] = []

    def somebody(self, role: Role, name: str) -> Person:
        user, code = self.site.invite(role, name)
        browser = self.browser()
        enter(browser, code)
        return user, browser

    def browser(self) -> httpx.Client:
        self.browsers.append(httpx.Client(base_url=self.site.address, timeout=30.0))
        return self.browsers[-1]

    def opened(self, consumer: User, key: str, plan: RoundPlan = PLAN) -> str:
        transfer = Transfer(user_id=consumer.user_id, amount_micros=50_000_000)
        round_steps.deposit(self.market, self.operator, transfer, f"{key}-{consumer.user_id}")
        drafted = round_steps.draft_round(self.market, consumer, plan, key)
        return round_steps.open_round(self.market, consumer, drafted.round_id).round_id


def enter(browser: httpx.Client, code: str) -> httpx.Response:
    token = hidden(browser.get("/").text, "door_token")
    return browser.post("/enter", data={"door_token": token, "code": code})


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found is not None, f"no hidden field {name}"
    return found[1]


@pytest.fixture(scope="module")
def town(site: Site) -> Iterator[Town]:
    made = Town(site)
    yield made
    for browser in made.browsers:
        browser.close()


@pytest.fixture(scope="module")
def consumer(town: Town) -> Person:
    return town.somebody("consumer", "Bureau")


@pytest.fixture(scope="module")
def owner(town: Town) -> Person:
    return town.somebody("owner", "Ann")


@pytest.fixture(scope="module")
def operator(town: Town) -> Person:
    return town.somebody("operator", "Op")


PAGES = {
    "consumer": ["/consumer", "/consumer/plan?form=a-form-of-hers", "/consumer/plan/preview", "/consumer/money"],
    "owner": ["/owner", "/owner/privacy", "/owner/earnings"],
    "operator": ["/operator", "/operator/ledger", "/operator/people"],
}


def test_each_role_sees_its_own_pages_and_nobody_elses(
    town: Town, consumer: Person, owner: Person, operator: Person
) -> None:
    for user, browser in (consumer, owner, operator):
        for role, paths in PAGES.items():
            for path in paths:
                assert browser.get(path).status_code == (200 if role == user.role else 403), (user.role, path)
    stranger = town.browser()
    for path in [path for paths in PAGES.values() for path in paths]:
        answer = stranger.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/enter?next={quote(path)}")


def test_a_round_of_someone_elses_is_not_found(town: Town, consumer: Person) -> None:
    round_id = town.opened(consumer[0], "key-foreign")
    _, other = town.somebody("consumer", "Rival")
    for path in ("", "/progress", "/answer.json"):
        assert other.get(f"/consumer/rounds/{round_id}{path}").status_code == 404
    csrf = hidden(other.get("/consumer").text, "csrf_token")
    assert other.post(f"/consumer/rounds/{round_id}/cancel", data={"csrf_token": csrf}).status_code == 404


def test_a_form_without_the_sessions_token_changes_nothing(town: Town, consumer: Person, operator: Person) -> None:
    round_id = town.opened(consumer[0], "key-csrf")
    _, other = town.somebody("consumer", "Other")
    stolen = hidden(other.get("/consumer").text, "csrf_token")
    for given in ({}, {"csrf_token": ""}, {"csrf_token": stolen}):
        assert consumer[1].post(f"/consumer/rounds/{round_id}/cancel", data=given).status_code == 403
        assert (
            operator[1].post("/operator/people", data={"name": "Mallory", "role": "operator", **given}).status_code
            == 403
        )
        assert consumer[1].post("/leave", data=given).status_code == 403
    assert reads.round_by_id(town.market, consumer[0], round_id).state == "open"
    assert consumer[1].get("/consumer").status_code == 200, "nobody was signed out"
    assert "Mallory" not in operator[1].get("/operator/people").text


def test_another_site_cannot_sign_a_visitor_in(town: Town) -> None:
    made = round_steps.register_user(town.market, town.operator, NewUser(role="owner", name="Vic"), "key-victim")
    visitor = town.browser()
    visitor.get("/")
    assert visitor.post("/enter", data={"code": made.code}).status_code == 403
    assert visitor.post("/enter", data={"code": made.code, "door_token": "0" * 64}).status_code == 403
    assert enter(visitor, made.code).status_code == 303, "the code is still good for its owner"


def test_a_code_works_once_and_the_page_says_so(town: Town) -> None:
    made = round_steps.register_user(town.market, town.operator, NewUser(role="owner", name="Una"), "key-once")
    assert enter(town.browser(), made.code).headers["location"] == "/owner"
    again = enter(town.browser(), made.code)
    assert again.status_code == 401
    assert "used or has run out" in again.text


def test_the_session_cookie_is_out_of_scripts_and_other_sites_reach(town: Town) -> None:
    made = round_steps.register_user(town.market, town.operator, NewUser(role="owner", name="Kim"), "key-cookie")
    cookies = enter(town.browser(), made.code).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith(COOKIE))
    assert "HttpOnly" in session
    assert "SameSite=lax" in session
    knock = town.browser().get("/").headers["set-cookie"]
    assert "SameSite=strict" in knock


def test_signing_out_ends_the_session(town: Town) -> None:
    _, browser = town.somebody("owner", "Lea")
    kept = dict(browser.cookies)
    csrf = hidden(browser.get("/owner").text, "csrf_token")
    assert browser.post("/leave", data={"csrf_token": csrf}).status_code == 303
    thief = town.browser()
    thief.cookies.update(kept)
    assert thief.get("/owner").status_code == 303


def test_pages_forbid_inline_code_and_are_not_kept(consumer: Person) -> None:
    answer = consumer[1].get("/consumer")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"


def test_what_a_consumer_writes_is_shown_as_text(town: Town, consumer: Person, owner: Person, operator: Person) -> None:
    round_id = town.opened(consumer[0], "key-hostile")
    for browser, path in (
        (consumer[1], f"/consumer/rounds/{round_id}"),
        (owner[1], "/owner"),
        (owner[1], f"/owner/rounds/{round_id}"),
        (operator[1], f"/operator/rounds/{round_id}"),
    ):
        html = browser.get(path).text
        assert "<script>alert" not in html
        assert '" onmouseover' not in html
        assert "&lt;script&gt;alert(1)" in html


def test_no_control_of_the_report_form_has_a_name(town: Town, consumer: Person, owner: Person) -> None:
    """So that no browser, with or without its script, can submit the answer."""
    round_id = town.opened(consumer[0], "key-names")
    terms_hash = hash_of(town, consumer[0], round_id)
    _, second = town.somebody("owner", "Bob")
    for person in (owner[0], town.somebody("owner", "Cyd")[0]):
        round_steps.place_bid(town.market, person, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
    town.clock.skip(61)
    round_steps.clear_round(town.market, consumer[0], round_id)
    form = re.search(
        r'<form class="card" id="report-form".*?</form>', owner[1].get(f"/owner/rounds/{round_id}").text, re.S
    )
    assert form is not None
    assert "<input" in form[0]
    assert re.findall(r"\b(name|action|formaction|method)=", form[0]) == []
    assert "This round is over" in second.get(f"/owner/rounds/{round_id}").text


def hash_of(town: Town, consumer: User, round_id: str) -> str:
    found = reads.round_by_id(town.market, consumer, round_id).terms_hash
    assert found is not None
    return found


def test_a_bad_plan_is_refused_field_by_field_and_keeps_what_was_typed(consumer: Person) -> None:
    page = consumer[1].get("/consumer/plan", follow_redirects=True).text
    fields = {"csrf_token": hidden(page, "csrf_token"), "key": hidden(page, "key"), "text": "", "budget": "12.3456789"}
    answer = consumer[1].post("/consumer/rounds", data={**fields, "owners": "many", "attribute": "Flu!"})
    assert answer.status_code == 422
    for said in ("has more than six decimals", "Give a whole number from 2", "Write the question"):
        assert said in answer.text
    assert 'value="12.3456789"' in answer.text
    assert 'aria-invalid="true"' in answer.text


def test_a_double_press_makes_one_round(consumer: Person) -> None:
    page = consumer[1].get("/consumer/plan", follow_redirects=True).text
    fields = {
        "csrf_token": hidden(page, "csrf_token"),
        "key": hidden(page, "key"),
        "text": "Once?",
        "attribute": "once",
    }
    places = {consumer[1].post("/consumer/rounds", data=fields).headers["location"] for _ in range(2)}
    assert len(places) == 1


def test_opening_beyond_the_balance_is_said_on_the_page(town: Town) -> None:
    poor, browser = town.somebody("consumer", "Poor")
    drafted = round_steps.draft_round(town.market, poor, PLAN, "key-poor")
    path = f"/consumer/rounds/{drafted.round_id}"
    assert "does not cover the budget" in browser.get(path).text
    csrf = hidden(browser.get(path).text, "csrf_token")
    sent = {"csrf_token": csrf, "shown": as_shown.hash_of(drafted.plan)}
    refused = browser.post(f"{path}/open", data=sent)
    assert refused.status_code == 409
    assert 'role="alert"' in refused.text


def test_the_preview_is_a_chart_with_words_and_a_table(consumer: Person) -> None:
    html = consumer[1].get("/consumer/plan/preview", params={"budget": "100", "owners": "500"}).text
    assert "<svg" in html
    assert "<desc" in html
    assert "The same as a table" in html
    assert "style=" not in html


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "median", "start": "0", "stop": "10", "step": "3"}, "stop"),
        ({"kind": "median", "start": "0", "stop": "1e9", "step": "1"}, "stop"),
        ({"kind": "quantile", "p": "1"}, "p"),
        ({"budget": "NaN"}, "budget"),
        ({"budget": "Infinity"}, "budget"),
        ({"budget": "-1"}, "budget"),
        ({"budget": "1e300"}, "budget"),
        ({"owners": "2.5"}, "owners"),
        ({"epsilon_max": "0"}, "epsilon_max"),
        ({"bid_time": "0"}, "bid_time"),
        ({"bid_low": "2", "bid_high": "1"}, "bid_low"),
        ({"kind": "histogram", "labels": "only one"}, "labels"),
        ({"kind": "histogram", "labels": "same\nsame"}, "labels"),
    ],
)
def test_a_plan_that_cannot_be_names_the_field(given: dict[str, str], field: str) -> None:
    form = plan_form.read({"text": "Q?", "attribute": "a", **given})
    assert form.plan is None
    assert field in form.faults


@pytest.mark.parametrize(("step", "said"), [("0", "Give a number above 0."), ("-1", "Give a number above 0.")])
def test_a_step_that_leads_nowhere_is_told_what_one_is(step: str, said: str) -> None:
    form = plan_form.read({"text": "Q?", "attribute": "a", "kind": "mean", "start": "0", "stop": "9", "step": step})
    assert form.faults["step"] == said


def test_a_form_of_defaults_is_a_plan() -> None:
    form = plan_form.read({})
    assert form.faults == {}
    assert form.plan is not None
    assert form.plan.budget_micros == 500_000_000
    assert (form.plan.rule, form.plan.estimator, form.plan.epsilon_max) == ("lottery", "unbiased", 2.0)
    rest = RoundPlan(query=form.plan.query, attribute="unnamed", budget_micros=500_000_000)
    careful = rest.model_copy(update={"minimum_owners": 9, "only_with_answer": True})
    assert form.plan == careful, "as a program's would be, but for what spares her paying for no answer"


def test_the_other_choice_is_the_sharper_rule_and_there_are_two() -> None:
    form = plan_form.read({"method": "sharp"})
    assert form.plan is not None
    assert (form.plan.rule, form.plan.estimator) == ("optimal", "weighted")
    assert set(plan_form.METHODS) == {"right", "sharp"}


def test_amounts_are_read_exactly() -> None:
    form = plan_form.read({"budget": "1,234.000001", "bid_high": "0.3"}, Currency(decimals=6))
    assert form.plan is not None
    assert form.plan.budget_micros == 1_234_000_001
    assert form.plan.bid_high_micros == 300_000


def test_a_strange_address_is_a_page_and_not_a_fault(owner: Person, consumer: Person) -> None:
    for path in ("/owner/rounds/r_%00", "/owner/rounds/" + "x" * 300, "/owner?after=zzz", "/device/nothing.mjs"):
        answer = owner[1].get(path)
        assert 400 <= answer.status_code < 500, path
        assert "text/html" in answer.headers["content-type"], path
    assert consumer[1].get("/device/device.mjs").headers["content-type"].startswith("text/javascript")


def test_the_form_shows_what_being_right_costs(consumer: Person) -> None:
    found = consumer[1].get("/consumer/plan/preview?owners=300&budget=150").text
    assert "Right whatever prices say" in found
    right, sharp, cost = (float(said) for said in re.findall(r"<dd>(?:± )?([\d.]+) points</dd>", found))
    assert 0 < sharp < right
    assert cost == pytest.approx(right - sharp, abs=0.02)


def test_an_owner_on_whom_the_lot_did_not_fall_is_told_her_chance(town: Town, consumer: Person, owner: Person) -> None:
    round_id = town.opened(consumer[0], "key-of-a-round-by-lot")
    terms_hash = reads.notice(town.market, owner[0], round_id).terms_hash
    round_steps.place_bid(town.market, owner[0], round_id, Bid(terms_hash=terms_hash, bid_micros=1_000_000))
    with town.market.store.write() as connection:
        row = {"round_id": round_id, "owner_id": owner[0].user_id, "q_numerator": 0, "payment_micros": 0}
        connection.execute(offers.insert(), {**row, "chance_numerator": 2663000000, "draw": 2**32 - 1})
        change = {"state": "reporting", "reports_close_at_ms": town.clock() + 10**7}
        connection.execute(rounds.update().where(rounds.c.round_id == round_id).values(change))
    found = owner[1].get(f"/owner/rounds/{round_id}").text
    assert "Not drawn this time" in found
    assert "62 in 100" in found
    assert "not drawn, your chance was 62 in 100" in owner[1].get("/owner").text


def test_a_round_that_cannot_go_on_is_on_the_operators_first_page_with_the_reason(
    town: Town, consumer: Person, operator: Person
) -> None:
    assert "Cannot go on" not in operator[1].get("/operator").text
    round_id = town.opened(consumer[0], "key-of-a-stuck-round")
    with town.market.store.write() as connection:
        past = {"terms_hash": "0" * 64, "bids_close_at_ms": town.clock() - 1}
        connection.execute(rounds.update().where(rounds.c.round_id == round_id).values(past))
    deadline, found = time.monotonic() + 120.0, ""
    while "Cannot go on" not in found and time.monotonic() < deadline:  # noted once the clock's whole turn is over
        time.sleep(0.05)
        found = operator[1].get("/operator").text
    assert "Cannot go on" in found
    assert "are not those frozen when the round was opened" in found
    assert "pdqs_rounds_stuck 1" in operator[1].get("/metrics").text
    round_steps.cancel_round(town.market, town.operator, round_id)


def test_the_pages_of_a_settled_round_lead_to_its_record(town: Town, consumer: Person, owner: Person) -> None:
    round_id = town.opened(consumer[0], "key-of-a-record", PLAN.model_copy(update={"report_seconds": 60}))
    terms_hash = reads.round_by_id(town.market, consumer[0], round_id).terms_hash or ""
    for user in (owner[0], town.site.invite("owner", "Bea")[0]):
        round_steps.place_bid(town.market, user, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
    link = f"/v1/rounds/{round_id}/record"
    before = owner[1].get(f"/owner/rounds/{round_id}").text
    assert "those who took part can see every bid" in before
    assert link not in before
    town.clock.skip(61)
    round_steps.clear_round(town.market, consumer[0], round_id)
    town.clock.skip(61)
    round_steps.settle_round(town.market, consumer[0], round_id)
    for who, page in ((consumer, f"/consumer/rounds/{round_id}"), (owner, f"/owner/rounds/{round_id}")):
        assert link in who[1].get(page).text
        assert pdqs.verify(who[1].get(link).text).agrees
