"""Mistakes that people make. Each ends in a sentence that helps, and nothing is lost: not money, nor what was typed.

Those that need no browser are here, over plain HTTP; a second device, two tabs, offline and typing before the script is
there are tried in real browsers (test_owner_words, test_browser_device).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import httpx
import pytest

from market.town import contents
from pdqs.market import access, bidding, pages, reads, round_steps
from pdqs.market.pages import plan_form
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.market_messages import QueryMessage, RoundPlan, User
from pdqs.protocol.problems import ProblemType

from .site import Site
from .test_pages import Town, enter, hidden

PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Have you been ill?"),
    attribute="illness",
    budget_micros=10_000_000,
    bid_seconds=3600,
    report_seconds=3600,
)
KEPT = ("rounds", "bids", "offers", "reports", "accounts", "transactions", "postings")
HTML = {"Accept": "text/html"}


@dataclass
class Scene:
    """A consumer with money and rounds in every state, and an owner who took part, both signed in."""

    town: Town
    consumer: User
    owner: User
    desk: httpx.Client
    phone: httpx.Client
    rounds: dict[str, str] = field(default_factory=dict)

    @property
    def csrf(self) -> str:
        return hidden(self.desk.get("/consumer").text, "csrf_token")

    def form(self, **changes: str) -> dict[str, str]:
        """The plan's form, filled in well but for the changes."""
        start = self.desk.get(
            "/consumer/plan?owners=", follow_redirects=True
        ).text  # a fault, so that no forecast is made
        tokens = {name: hidden(start, name) for name in ("csrf_token", "key")}
        return {**plan_form.fields_of(PLAN), "owners": "100", **tokens, **changes}

    def hash(self, name: str) -> str:
        return str(reads.round_by_id(self.town.market, self.consumer, self.rounds[name]).terms_hash)

    def step(self, name: str, step: str) -> httpx.Response:
        return self.desk.post(f"/consumer/rounds/{self.rounds[name]}/{step}", data={"csrf_token": self.csrf})

    def send(self, method: str, path: str, body: object = None) -> httpx.Response:
        """A request of the owner's page, as its script makes it."""
        token = hidden(self.phone.get("/owner").text, "csrf_token")
        return self.phone.request(method, f"/v1{path}", json=body, headers={"X-CSRF-Token": token})


@pytest.fixture(scope="module")
def scene(site: Site) -> Iterator[Scene]:
    town = Town(site)
    consumer, desk = town.somebody("consumer", "Bureau")
    owner, phone = town.somebody("owner", "Ann")
    others = [site.invite("owner", name)[0] for name in ("Bob", "Cid", "Dot", "Eve", "Fay")]
    made = Scene(town, consumer, owner, desk, phone)
    site.deposit(consumer, 45_000_000)

    def opened(name: str) -> str:
        found = round_steps.draft_round(town.market, consumer, PLAN, f"key-round-{name}")
        made.rounds[name] = found.round_id
        return str(round_steps.open_round(town.market, consumer, found.round_id).terms_hash)

    made.rounds["draft"] = round_steps.draft_round(town.market, consumer, PLAN, "key-round-draft").round_id
    for name in ("settled", "reporting"):
        terms_hash = opened(name)
        for one in (owner, *others):
            bid = Bid(terms_hash=terms_hash, bid_micros=1000)
            round_steps.place_bid(town.market, one, made.rounds[name], bid)
        if name == "settled":
            town.clock.skip(3601)
            round_steps.clear_round(town.market, consumer, made.rounds[name])
            report = Report(terms_hash=terms_hash, code=1)
            round_steps.submit_report(town.market, owner, made.rounds[name], report)
            town.clock.skip(3601)
            round_steps.settle_round(town.market, consumer, made.rounds[name])
    town.clock.skip(3601)
    round_steps.clear_round(town.market, consumer, made.rounds["reporting"])
    bid = Bid(terms_hash=opened("open"), bid_micros=1000)
    round_steps.place_bid(town.market, owner, made.rounds["open"], bid)
    yield made
    for browser in town.browsers:
        browser.close()


NEVER = re.compile(r"Traceback|micros|_at_ms|\b1[789]\d{11}\b|NoneType|pydantic|sqlalchemy", re.IGNORECASE)
"""What no person may be shown: internals, or a count of milliseconds."""


def unchanged(scene: Scene, act: Callable[[], httpx.Response]) -> str:
    """Make a mistake; what the page says, once it is sure that nothing happened but that."""
    before = {name: rows for name, rows in contents(scene.town.market).items() if name in KEPT}
    answer = act()
    after = {name: rows for name, rows in contents(scene.town.market).items() if name in KEPT}
    assert before == after, "a mistake changed something"
    text = unescape(re.sub(r"<(script|style|head).*?</\1>|<[^>]+>", " ", answer.text, flags=re.DOTALL))
    assert NEVER.search(text) is None, NEVER.search(text)
    return " ".join(text.split())


PLANS: dict[str, tuple[dict[str, str], str]] = {
    "a comma for a point": ({"budget": "12,50"}, "12.50"),
    "a comma that could be either": ({"budget": "1,500"}, "1,500"),
    "nothing where an amount belongs": ({"budget": ""}, "needs your attention"),
    "an amount below nothing": ({"budget": "-5"}, "needs your attention"),
    "an amount of nothing": ({"budget": "0"}, "Give an amount above 0"),
    "an amount in words": ({"budget": "ten"}, "needs your attention"),
    "an amount short for a longer one": ({"budget": "1e3"}, "write all of its digits"),
    "an amount beyond all bounds": ({"budget": "2000000000"}, "needs your attention"),
    "half a minute to report": (
        {"report_time": "0.5", "report_unit": "minutes"},
        "must have at least 60 seconds to report",
    ),
    "an amount that is too small for a round": ({"budget": "0.5"}, "budget of a round is at least 1"),
    "half an owner": ({"owners": "1.5"}, "needs your attention"),
    "one owner": ({"owners": "1"}, "Give a whole number from 2"),
    "no question": ({"text": ""}, "Write the question that owners will read"),
    "no fact": ({"attribute": ""}, "Name the fact this is about"),
    "a fact in capitals": ({"attribute": "My Income"}, "Use small letters"),
    "the highest below the lowest": ({"kind": "median", "start": "9", "stop": "3"}, "must be a whole number of steps"),
    "steps of nothing": ({"kind": "mean", "start": "0", "stop": "9", "step": "0"}, "needs your attention"),
    "steps that do not fit": ({"kind": "mean", "start": "0", "stop": "10", "step": "3"}, "whole number of steps"),
    "one answer to choose from": ({"kind": "histogram", "labels": "tea"}, "Give at least two answers"),
    "an answer twice": ({"kind": "histogram", "labels": "tea\ntea"}, "needs your attention"),
    "a quantile beyond all": (
        {"kind": "quantile", "p": "1.5", "start": "0", "stop": "9", "step": "1"},
        "needs your attention",
    ),
    "no privacy to be asked for": ({"epsilon_max": "0"}, "needs your attention"),
    "the lowest price above the highest": ({"bid_low": "2", "bid_high": "1"}, "needs your attention"),
    "no time to bid": ({"bid_time": "0"}, "needs your attention"),
    "a unit of time that there is none of": ({"bid_unit": "fortnights"}, "Give a time between"),
    "fewest bids below two": ({"minimum_owners": "1"}, "needs your attention"),
    "a kind of question that there is none of": ({"kind": "mode"}, "needs your attention"),
    "a question that turns the writing round": ({"text": "Are you\u202e well?"}, "needs your attention"),
}


@pytest.mark.parametrize("mistake", PLANS)
def test_a_plan_filled_in_wrongly(scene: Scene, mistake: str) -> None:
    changes, sentence = PLANS[mistake]
    form = scene.form(**changes)
    shown: list[httpx.Response] = []

    def send() -> httpx.Response:
        shown.append(scene.desk.post("/consumer/rounds", data=form))
        return shown[-1]

    assert sentence in unchanged(scene, send)
    assert shown[0].status_code == 422
    for name in ("text", "attribute", "budget"):
        assert f'value="{form[name]}"' in shown[0].text or name in changes, "what was typed is still there"


STEPS: dict[str, tuple[Callable[[Scene], httpx.Response], str]] = {
    "opening again what is open": (lambda s: s.step("open", "open"), ""),
    "cancelling what is settled": (lambda s: s.step("settled", "cancel"), "cannot be cancelled"),
    "cancelling when owners may have reported": (lambda s: s.step("reporting", "cancel"), "cannot be cancelled"),
    "closing bids too early": (lambda s: s.step("open", "clear"), "bids close in"),
    "answering before reports are in": (lambda s: s.step("reporting", "settle"), "reports close in"),
    "answering a draft": (lambda s: s.step("draft", "settle"), "nothing to settle"),
    "a step that there is none of": (lambda s: s.step("draft", "publish"), "cannot do that"),
    "changing what is open": (
        lambda s: s.desk.post(f"/consumer/rounds/{s.rounds['open']}/edit", data=s.form(text="Otherwise?")),
        "its terms are frozen",
    ),
    "an answer before there is one": (
        lambda s: s.desk.get(f"/consumer/rounds/{s.rounds['open']}/answer.csv"),
        "no answer yet",
    ),
    "a file of a kind that there is none of": (
        lambda s: s.desk.get(f"/consumer/rounds/{s.rounds['settled']}/answer.doc"),
        "as json or csv",
    ),
    "a round that is not there": (lambda s: s.desk.get(f"/consumer/rounds/r_{'0' * 24}"), "There is no round"),
    "half of a link": (lambda s: s.desk.get("/consumer/rounds/r_12", headers=HTML), "no such page"),
    "a link with a letter too many": (lambda s: s.desk.get("/consumerr", headers=HTML), "There is nothing at this"),
    "a consumer at an owner's page": (lambda s: s.desk.get("/owner"), "for"),
    "an owner at a consumer's page": (lambda s: s.phone.get("/consumer"), "for"),
    "an owner at a draft": (lambda s: s.phone.get(f"/owner/rounds/{s.rounds['draft']}"), "There is no round"),
    "a form that came without its token": (
        lambda s: s.desk.post(f"/consumer/rounds/{s.rounds['draft']}/cancel", data={}),
        "Nothing was sent: that page was loaded before you signed in as",
    ),
    "a form of an earlier sign-in": (
        lambda s: s.desk.post(f"/consumer/rounds/{s.rounds['draft']}/cancel", data={"csrf_token": "x" * 43}),
        "Nothing was sent: that page was loaded before you signed in as",
    ),
    "a form whose key is gone": (
        lambda s: s.desk.post("/consumer/rounds", data={**s.form(), "key": ""}),
        "reload the page",
    ),
    "reading another's page without scripts": (
        lambda s: s.phone.get(f"/owner/rounds/{s.rounds['open']}"),
        "Nothing can be sent without it",
    ),
}


@pytest.mark.parametrize("mistake", STEPS)
def test_a_step_taken_wrongly(scene: Scene, mistake: str) -> None:
    act, sentence = STEPS[mistake]
    assert sentence.lower() in unchanged(scene, lambda: act(scene)).lower()


def _bid(scene: Scene, name: str, price: int, **more: object) -> httpx.Response:
    body = {"terms_hash": scene.hash(name), "bid_micros": price, **more}
    return scene.send("PUT", f"/rounds/{scene.rounds[name]}/bid", body)


def _report(scene: Scene, name: str, code: int) -> httpx.Response:
    body = {"terms_hash": scene.hash(name), "code": code}
    return scene.send("PUT", f"/rounds/{scene.rounds[name]}/report", body)


SENT: dict[str, tuple[Callable[[Scene], httpx.Response], str]] = {
    "a price beyond the range": (lambda s: _bid(s, "open", 2_000_000, replaces=12), "bid-out-of-range"),
    "a price after the close": (lambda s: _bid(s, "reporting", 5), "bid-stands"),
    "another price from a page that is old": (lambda s: _bid(s, "open", 5), "bid-stands"),
    "a change of a price that was changed since": (lambda s: _bid(s, "open", 5, replaces=12), "bid-stands"),
    "a change of a price after the close": (lambda s: _bid(s, "reporting", 5, replaces=12), "bids-closed"),
    "taking a price back after the close": (
        lambda s: s.send("DELETE", f"/rounds/{s.rounds['reporting']}/bid"),
        "bids-closed",
    ),
    "a price for other terms": (
        lambda s: _bid(s, "open", 5, replaces=12, terms_hash="0" * 64),
        "other-terms",
    ),
    "a report before there is an offer": (lambda s: _report(s, "open", 1), "no-offer"),
    "a report after the close": (lambda s: _report(s, "settled", 0), "report-stands"),
    "an answer that the question does not allow": (lambda s: _report(s, "reporting", 7), "code-out-of-range"),
    "a price in a round that is not there": (
        lambda s: s.send("PUT", f"/rounds/r_{'0' * 24}/bid", {"terms_hash": "0" * 64, "bid_micros": 5}),
        "no-round",
    ),
    "a price in words": (
        lambda s: s.send("PUT", f"/rounds/{s.rounds['open']}/bid", {"terms_hash": "0" * 64, "bid_micros": "five"}),
        "invalid",
    ),
}


@pytest.mark.parametrize("mistake", SENT)
def test_what_an_owners_page_sends_wrongly(scene: Scene, mistake: str) -> None:
    act, word = SENT[mistake]
    said: list[httpx.Response] = []

    def send() -> httpx.Response:
        said.append(act(scene))
        return said[-1]

    before = {name: rows for name, rows in contents(scene.town.market).items() if name in KEPT}
    send()
    assert {name: rows for name, rows in contents(scene.town.market).items() if name in KEPT} == before
    assert said[0].json()["type"] == word


def test_pressing_twice_sends_the_same_price_and_the_same_report_once(scene: Scene) -> None:
    assert _bid(scene, "open", 1000).json() == _bid(scene, "open", 1000).json()
    assert _report(scene, "settled", 1).json() == _report(scene, "settled", 1).json()


def test_taking_a_price_back_twice_takes_it_back_once(scene: Scene) -> None:
    first, again = (scene.send("DELETE", f"/rounds/{scene.rounds['open']}/bid") for _ in range(2))
    assert [first.status_code, again.status_code] == [200, 200]
    assert first.json()["withdrawn_at_ms"] < again.json()["withdrawn_at_ms"]
    bidding.place_bid(
        scene.town.market,
        scene.owner,
        scene.rounds["open"],
        Bid(terms_hash=scene.hash("open"), bid_micros=1000),
    )


def test_saving_twice_and_going_back_make_one_draft(scene: Scene) -> None:
    form = scene.form(text="Once?")
    places = {scene.desk.post("/consumer/rounds", data=form).headers["location"] for _ in range(2)}
    form["shown"] = hidden(scene.desk.get(f"{min(places)}/edit").text, "shown")
    places.add(scene.desk.post("/consumer/rounds", data={**form, "text": "Twice?"}).headers["location"])
    assert len(places) == 1
    assert "Twice?" in scene.desk.get(places.pop()).text


def test_opening_beyond_the_balance_says_what_is_missing(scene: Scene) -> None:
    dear = round_steps.draft_round(
        scene.town.market, scene.consumer, PLAN.model_copy(update={"budget_micros": 10**10}), "key-too-dear"
    )
    scene.rounds["dear"] = dear.round_id
    assert "does not cover" in unchanged(scene, lambda: scene.step("dear", "open"))


def test_an_expired_session_leads_to_the_door_and_back_to_where_she_was(scene: Scene) -> None:
    session = access.start_session(scene.town.market, scene.consumer)
    late = scene.town.browser()
    late.cookies.set(access.COOKIE, session.cookie)
    access.end_session(scene.town.market, session.cookie)
    answer = late.get("/consumer/plan")
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter?next=/consumer/plan")


def test_a_code_that_is_wrong_or_was_used_is_said_to_be(scene: Scene) -> None:
    _, code = scene.town.site.invite("owner", "Gil")
    first, second = scene.town.browser(), scene.town.browser()
    assert enter(first, code).status_code == 303
    for given in (code, "x" * 40, ""):
        answer = enter(second, given)
        assert answer.status_code in (401, 422)
        assert 'role="alert"' in answer.text


def test_the_words_for_an_owner_are_of_problems_that_there_are() -> None:
    text = (Path(str(pages.__file__)).parent / "static" / "words.mjs").read_text(encoding="utf-8")
    named = set(re.findall(r'^  "([a-z-]+)":', text, flags=re.MULTILINE))
    assert len(named) >= 12
    assert named <= {str(kind.value) for kind in ProblemType}
    sent = {word for _, word in SENT.values()} - {"invalid", "code-out-of-range"}  # which no page of ours sends
    assert sent <= named
