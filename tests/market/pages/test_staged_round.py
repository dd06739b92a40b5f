"""A median in four stages through real browsers: two owners at pages of their own, and many beside them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sqlalchemy import update

from market.question_rounds import AGES, Played
from market.town import Town
from pdqs.market import offer_access, reads, records, round_steps
from pdqs.market.store.schema import questions
from pdqs.privacy.entropy import SeededEntropy
from pdqs.protocol.market_messages import QueryMessage, Role, RoundPlan, User
from pdqs.verifying import verify

from . import keyboard
from .axe import violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
PLAN = RoundPlan(
    query=QueryMessage(kind="median", text="What is your age?", domain=AGES),
    attribute="age",
    budget_micros=90_000_000,
    bid_high_micros=200_000,
    bid_seconds=3600,
    report_seconds=3600,
    epsilon_max=3.0,
)
OTHERS = 120
VALUES = {"Ann": 31, "Bea": 52}


def entered(site: Site, browser: Browser, name: str, role: Role, **looks: Any) -> tuple[User, Visitor]:
    user, code = site.invite(role, name)
    visitor = Visitor(browser, site, **looks)
    visitor.enter(code)
    return user, visitor


def started(site: Site, browser: Browser) -> dict[str, Any]:
    """A round with everyone's bid in it, cleared by the clock."""
    # Draws that repeat: Ann is asked in the second stage, and Bea in the last.
    object.__setattr__(site.market, "secret", np.random.default_rng(SEED).bytes)
    institute, consumer = entered(site, browser, "Age Institute", "consumer")
    site.deposit(institute, 100_000_000)
    town = Town(
        market=site.market,
        clock=site.clock,  # type: ignore[arg-type]  # it is not moved through the town
        operator=site.operator,
        consumer=institute,
    )
    town.add_owners(OTHERS)
    draft = round_steps.draft_round(site.market, town.consumer, PLAN, "a-median-in-stages")
    found = round_steps.open_round(site.market, town.consumer, draft.round_id)
    people = {name: entered(site, browser, name, "owner", **LOOKS[name]) for name in VALUES}
    for _, visitor in people.values():
        visitor.go(f"/owner/rounds/{found.round_id}")
        keyboard.fill(visitor.page.get_by_label("Your price per unit of epsilon"), "0.01")
        keyboard.press(visitor.page.get_by_role("button", name="Bid"))
        visitor.page.get_by_text("Your bid stands").wait_for()
    town.bid_all(found)
    consumer.go(f"/consumer/rounds/{found.round_id}")
    rng = np.random.default_rng(3)
    ages = np.clip(rng.normal(40, 9, OTHERS).astype(int), 0, 99).tolist()
    values = {owner.user_id: age for owner, age in zip(town.owners, ages, strict=True)}
    played = Played(town=town, found=found, values=values, entropy=SeededEntropy(rng))
    owners = {name: visitor for name, (_, visitor) in people.items()}
    return {
        "played": played,
        "consumer": consumer,
        "users": {name: user for name, (user, _) in people.items()},
        **owners,
    }


SEED = 37
LOOKS: dict[str, dict[str, Any]] = {"Ann": {}, "Bea": {"color_scheme": "dark", **PHONE}}


def wait_for_stage(played: Played, number: int, consumer: Visitor) -> None:
    """The clock opens the next stage by itself, once all have reported, and the consumer's page shows it."""
    words = f"Stage {number} of 4"
    consumer.page.get_by_role("heading", name=words).wait_for()
    assert len(played.now().stages) == number


def answer_her_question(owner: Visitor, user: User, played: Played, name: str) -> dict[str, Any]:
    """What she is asked, as the page words it, what she answers, and what left her browser."""
    legend = owner.page.locator("legend[data-show=question]")
    owner.page.locator(".checks .passed").nth(4).wait_for()
    words = legend.inner_text()
    limit = int(re.findall(r"\d+", words)[0])
    refused = turned_away(owner, user, played)
    keyboard.choose(owner.page.get_by_label("Yes" if VALUES[name] <= limit else "No", exact=True))
    for box in owner.page.locator("[data-agree]").all():
        keyboard.tick(box)
    owner.shoot(f"market-stage-{name.lower()}")
    assert violations(owner.page) == []
    keyboard.press(owner.page.get_by_role("button", name="Randomise and send"))
    owner.page.get_by_text("What left this browser").wait_for()
    return {
        "words": words,
        "limit": limit,
        "refused": refused,
        "sent": str(owner.page.locator('[data-show="sent"]').text_content()),
    }


def turned_away(owner: Visitor, user: User, played: Played) -> str:
    """A second, different question, after a restart of her browser's page: what it says; then the first one again."""
    hers = (questions.c.round_id == played.found.round_id) & (questions.c.owner_id == user.user_id)
    side = offer_access.offer(played.town.market, user, played.found.round_id).side
    assert side is not None
    said = ""
    for other in (side - 1 if side else side + 1, side):
        with played.town.market.store.write() as connection:
            connection.execute(update(questions).where(hers).values(side=other))
        owner.page.reload()
        if other != side:
            owner.page.locator("#trouble").wait_for()
            said = owner.page.locator("#trouble").inner_text()
        else:
            owner.page.locator(".checks .passed").nth(4).wait_for()
    return said


@pytest.fixture(scope="module")
def round_in_stages(site: Site, browser: Browser) -> dict[str, Any]:
    """The round, played once; tests look at what it left."""
    found = started(site, browser)
    played, consumer = found["played"], found["consumer"]
    site.clock.skip(3601)
    wait_for_stage(played, 1, consumer)
    turns = {name: offer_access.offer(site.market, found["users"][name], played.found.round_id) for name in VALUES}
    found["turns"] = {name: (offer.q_numerator > 0, offer.stage) for name, offer in turns.items()}
    found["Bea"].page.get_by_role("heading", name="You are asked, in stage").wait_for()
    found["Bea"].page.get_by_text("Checked by this browser").wait_for()
    found["before"] = found["Bea"].page.locator("main").inner_text()
    found["Bea"].shoot("market-stage-waits-phone-dark")
    assert violations(found["Bea"].page) == []
    found["fits"] = [found["Bea"].fits()]
    found["answers"], found["pictures"] = {}, []
    for stage in (1, 2, 3, 4):
        played.report()
        for name in VALUES:
            if found["turns"][name][1] == stage:
                found["answers"][name] = answer_her_question(found[name], found["users"][name], played, name)
                found["fits"].append(found[name].fits())
        if stage < 4:
            wait_for_stage(played, stage + 1, consumer)
            found["pictures"].append(consumer.page.locator("svg.chart #narrowing-text").first.text_content())
            if stage == 2:
                consumer.shoot("market-stages")
                assert violations(consumer.page) == []
    consumer.page.get_by_role("heading", name="The answer").wait_for()
    consumer.shoot("market-stages-answer")
    return found


def test_the_owners_are_asked_in_different_stages(round_in_stages: dict[str, Any]) -> None:
    assert round_in_stages["turns"] == {"Ann": (True, 2), "Bea": (True, 4)}


def test_before_her_stage_an_owner_reads_when_her_question_comes_and_what_is_settled(
    round_in_stages: dict[str, Any],
) -> None:
    text = round_in_stages["before"]
    assert "You are asked, in stage 4 of 4" in text
    assert "Your question comes at" in text
    assert "your draw and your stage follow from what was fixed" in text


def test_each_owner_answers_one_yes_or_no_question_in_plain_words(round_in_stages: dict[str, Any]) -> None:
    played = round_in_stages["played"]
    for name, told in round_in_stages["answers"].items():
        side = offer_access.offer(played.town.market, round_in_stages["users"][name], played.found.round_id).side
        assert told["words"] == f"Is your age at most {side}?"
        assert json.loads(told["sent"])["code"] in (0, 1)
        assert set(json.loads(told["sent"])) == {"terms_hash", "code"}
    assert set(round_in_stages["answers"]) == {"Ann", "Bea"}


def test_a_second_question_is_refused_by_a_page_that_was_started_anew(round_in_stages: dict[str, Any]) -> None:
    for told in round_in_stages["answers"].values():
        assert "not the question that you were asked first" in told["refused"]


def test_the_consumer_sees_what_is_left_open_stage_by_stage(round_in_stages: dict[str, Any]) -> None:
    pictures = round_in_stages["pictures"]
    assert [text.count("Stage") for text in pictures] == [2, 3, 4]
    assert all(text.startswith("Stage 1: 0 to 99") for text in pictures)
    last = round_in_stages["played"].now().stages[-1]
    assert last.high - last.low < 60
    final = round_in_stages["consumer"].page.locator("svg.chart #narrowing-text").first.text_content()
    assert "Answer:" in str(final)


def test_the_answer_is_there_the_record_agrees_and_everyone_was_paid(round_in_stages: dict[str, Any]) -> None:
    played = round_in_stages["played"]
    answer = reads.answer(played.town.market, played.town.consumer, played.found.round_id)
    assert answer.reports == answer.asked == len(played.sent) + 2
    record = records.record(played.town.market, played.town.consumer, played.found.round_id)
    assert verify(record.text()).agrees
    assert played.town.balanced()


def test_nothing_is_wider_than_the_phone_and_no_console_complained(round_in_stages: dict[str, Any]) -> None:
    assert all(round_in_stages["fits"])
    assert [c for name in ("consumer", *VALUES) for c in round_in_stages[name].complaints] == []
