"""A question that every owner's device would refuse is refused at the market's own door, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from market.town import Town, plan
from pdqs.market import drafts, reads, round_steps
from pdqs.market.pages import plan_form
from pdqs.market.store.schema import rounds
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan
from pdqs.protocol.problems import UnprocessableError


def asking(*labels: str, text: str = "What do you drink?", **more: Any) -> RoundPlan:
    domain = DomainMessage(kind="categories", labels=list(labels), size=len(labels))
    return plan(query=QueryMessage(kind="histogram", text=text, domain=domain), **more)


def flag(region: str) -> str:
    """The flag of a part of a country, which many screens show as a black one."""
    return "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"


UNREADABLE = {
    "two answers alike": (
        asking("none", "Tea", "\u0422ea"),
        r"answers 2 and 3 \(“Tea” and “\u0422ea”\) look the same.*: write one of them in other words",
    ),
    "two flags that many screens show as one": (
        asking(flag("gbeng"), flag("gbsct"), "none"),
        "answers 1 and 2 .*: write one of them in other words, or add words to it",
    ),
    "an answer that shows nothing": (asking("tea", "\u200b"), "shows nothing"),
    "an answer turned around": (asking("1-5", "\u200f6-9"), "turns the direction"),
    "a question turned around": (asking("tea", "coffee", text="Tea\u200e?"), "turns the direction"),
    "a purpose turned around": (asking("tea", "coffee", purpose="\u061cHealth"), "turns the direction"),
}


@pytest.mark.parametrize(
    "labels",
    [
        (f"{flag('gbeng')} England", f"{flag('gbsct')} Scotland"),
        ("10\u00b2", "102"),
        ("Ann\u00e9e I", "Ann\u00e9e 1"),
        ("\u0430\u0435", "\u0430\u04bd"),
    ],
    ids=["flags with names", "a power", "a year", "Abkhaz"],
)
def test_honest_answers_that_people_tell_apart_are_drafted(labels: tuple[str, str], town: Town) -> None:
    assert drafts.draft_round(town.market, town.consumer, asking(*labels), "honest").state == "draft"


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_question_that_no_device_would_show_is_not_drafted(name: str, town: Town) -> None:
    unreadable, why = UNREADABLE[name]
    with pytest.raises(UnprocessableError, match=why):
        drafts.draft_round(town.market, town.consumer, unreadable, "unreadable")


def test_one_that_was_drafted_before_this_was_looked_at_is_not_opened(town: Town) -> None:
    draft = drafts.draft_round(town.market, town.consumer, asking("tea", "coffee"), "an-old-draft")
    old = asking("Tea", "\u0422ea").model_dump_json()
    with town.market.store.write() as connection:
        connection.execute(update(rounds).where(rounds.c.round_id == draft.round_id).values(plan=old))
    before = town.balance(town.consumer)
    with pytest.raises(UnprocessableError, match="look the same"):
        round_steps.open_round(town.market, town.consumer, draft.round_id)
    assert reads.round_by_id(town.market, town.consumer, draft.round_id).state == "draft"
    assert town.balance(town.consumer) == before


def test_the_form_says_so() -> None:
    good = plan_form.fields_of(asking("tea", "coffee"))
    assert plan_form.read(good).faults == {}
    found = plan_form.read({**good, "labels": "Tea\n\u0422ea"})
    assert found.plan is None
    assert "look the same" in " ".join(found.faults.values())
