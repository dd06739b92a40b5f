"""How a round stands, in words: without an answer it is not answered, and how long each part of it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from market.town import Town, plan
from pdqs.estimate.remarks import NOTHING_RULED_OUT
from pdqs.market import reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.settings import Settings
from pdqs.market.store.schema import rounds
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage, User

from .test_pages import enter

AGES = DomainMessage(kind="grid", start=0.0, step=1.0, size=100)
Look = Callable[[User, str], str]


@pytest.fixture
def look(town: Town) -> Iterator[Look]:
    """A page of the town's as one of its people sees it."""
    app = create_app(Settings(database_url=town.market.settings.database_url), town.clock.__call__, ticking=False)
    with served(app) as address:

        def seen(user: User, path: str) -> str:
            with httpx.Client(base_url=address, timeout=60) as browser:
                enter(browser, round_steps.renew_code(town.market, town.operator, user.user_id).code)
                return browser.get(path).text

        yield seen


def settled(town: Town, key: str, reports: int) -> str:
    """A round of everyone's bids in which so many of those asked report."""
    found = town.cleared_round(key=key)
    for owner in town.asked(found)[:reports]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    return round_steps.settle_round(town.market, town.consumer, found.round_id).round_id


def test_a_round_knows_whether_it_was_answered(either_town: Town) -> None:
    either_town.add_owners(15)
    silent, heard = settled(either_town, "a-silent-round", 2), settled(either_town, "a-heard-round", 15)
    standing = {one.round_id: one.answered for one in reads.rounds_page(either_town.market, either_town.consumer).items}
    assert standing == {silent: False, heard: True}
    assert reads.round_by_id(either_town.market, either_town.consumer, heard).answered


def test_a_round_that_was_settled_without_an_answer_is_nowhere_said_to_be_answered(town: Town, look: Look) -> None:
    town.add_owners(15)
    silent = settled(town, "a-silent-round", 2)
    for user, path in (
        (town.consumer, "/consumer"),
        (town.consumer, f"/consumer/rounds/{silent}"),
        (town.operator, "/operator"),
        (town.operator, f"/operator/rounds/{silent}"),
    ):
        page = look(user, path)
        assert "No answer</" in page, path
        assert "Answered</" not in page, path
    settled(town, "a-heard-round", 15)
    page = look(town.consumer, "/consumer")
    assert (page.count("Answered</"), page.count("No answer</")) == (1, 1)


def test_a_draft_says_how_long_owners_have_and_a_median_that_it_is_for_each_stage(town: Town, look: Look) -> None:
    times = {"bid_seconds": 5400, "report_seconds": 86_400}
    count = round_steps.draft_round(town.market, town.consumer, plan(**times), "a-draft-of-a-count").round_id
    page = look(town.consumer, f"/consumer/rounds/{count}")
    assert "owners can bid for <strong>1 h 30 min</strong>, and then report for <strong>1 day</strong>." in page
    ages = QueryMessage(kind="median", text="How old?", domain=DomainMessage(kind="grid", start=0, step=1, size=101))
    made = plan(query=ages, **times)
    median = round_steps.draft_round(town.market, town.consumer, made, "a-draft-of-a-median").round_id
    assert "report for <strong>4 days</strong> at most, in 4 stages" in look(
        town.consumer, f"/consumer/rounds/{median}"
    )
    round_steps.open_round(town.market, town.consumer, median)
    page = look(town.consumer, f"/consumer/rounds/{median}")
    assert "1 day for each of 4 stages, one after the other: up to 4 days in all" in page
    assert "<dt>Time to bid</dt><dd>1 h 30 min</dd>" in page


def test_a_guess_is_called_one_among_the_answers_over_time(town: Town, look: Look) -> None:
    town.add_owners(15)
    heard = settled(town, "a-heard-round", 15)
    answer = reads.answer(town.market, town.consumer, heard)
    told = {"warnings": [f"{NOTHING_RULED_OUT}: anything from 0 to 15 could be the answer"]}
    said = "no more than a guess: its reports rule nothing out"
    assert (said in look(town.consumer, f"/consumer/compare?like={heard}")) == bool(
        any(NOTHING_RULED_OUT in warning for warning in answer.warnings)
    )
    with town.market.store.write() as connection:
        kept = answer.model_copy(update=told).model_dump_json()
        connection.execute(rounds.update().where(rounds.c.round_id == heard).values(answer=kept))
    assert said in look(town.consumer, f"/consumer/compare?like={heard}")


def test_the_page_of_the_api_shows_names_as_code(town: Town, look: Look) -> None:
    page = look(town.consumer, "/docs")
    assert "``" not in page
    assert "Bid, or change the bid that <code>replaces</code> names." in page


def test_a_draft_shows_every_answer_that_owners_may_choose(town: Town, look: Look) -> None:
    labels = [f"answer {place}" for place in range(1, 13)]
    domain = DomainMessage(kind="categories", labels=labels, size=12)
    asked = plan(query=QueryMessage(kind="histogram", text="Which?", domain=domain))
    draft = round_steps.draft_round(town.market, town.consumer, asked, "a-draft-with-answers").round_id
    page = look(town.consumer, f"/consumer/rounds/{draft}")
    assert "All 12 answers" in page
    assert all(f"<li>{label}</li>" in page for label in labels)


def test_no_and_yes_stand_in_one_order_whether_a_fact_or_a_side_is_asked_about(town: Town, look: Look) -> None:
    """A hand that is used to one order does not answer the other way round: an answer is drawn once."""
    town.add_owners(40)
    median = {
        "query": QueryMessage(kind="median", text="How old?", domain=AGES),
        "question": "side",
        "epsilon_max": 3.0,
    }
    for key, changes in (("a-fact-asked", {}), ("a-side-asked", {**median, "budget_micros": 60_000_000})):
        found = town.cleared_round(key=key, **changes)
        hers = (look(owner, f"/owner/rounds/{found.round_id}") for owner in town.asked(found))
        answers = next(filter(None, (re.findall(r'data-group="answer"[^>]*><span>(\w+)', page) for page in hers)))
        assert answers == ["No", "Yes"]
