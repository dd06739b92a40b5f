"""Rounds in the market that ask for a level, a bucket or a whole value: from the bids to the record, end to end."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pdqs
from market.question_rounds import start
from market.town import Town, plan
from pdqs.market import reads, records, round_steps
from pdqs.market.round_terms import frozen, terms_of
from pdqs.market.settings import Settings
from pdqs.model.errors import PdqsError
from pdqs.owner.price import epsilon_of
from pdqs.protocol.device_messages import MOST_TERMS, DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan
from pdqs.protocol.problems import UnprocessableError
from pdqs.verifying import verify
from pdqs.verifying.figures import cleared, reports_of
from pdqs.verifying.making import words_for


@pytest.mark.parametrize(
    ("kind", "question", "codes"),
    [("mean", "auto", 2), ("mean", "level:4", 4), ("histogram", "auto", 4), ("histogram", "value", 100)],
)
def test_a_round_of_every_question_is_answered_and_its_record_agrees(
    town: Town, kind: str, question: str, codes: int
) -> None:
    played = start(town, kind, question=question)
    assert played.found.asked.codes == codes
    settled = played.through()
    assert settled.state == "settled"
    answer = reads.answer(town.market, town.consumer, settled.round_id)
    record = records.record(town.market, town.consumer, settled.round_id)
    assert verify(record.text()).agrees
    assert list(record.answer.values) == answer.values
    assert answer.reports == answer.asked == len(played.sent) > 20
    assert town.balanced()


def test_the_answer_is_that_of_the_core_from_the_same_offers_and_reports(town: Town) -> None:
    played = start(town, "mean")
    settled = played.through()
    record = records.record(town.market, town.consumer, settled.round_id)
    terms = terms_of(settled.plan)
    made = cleared(record.bid_micros, words_for(record.seed, record.nonce, record.names), terms)
    found = pdqs.answer(reports_of(record.codes, made.offers, terms), made.offers, terms)
    assert list(record.answer.values) == [found.value]
    assert list(record.answer.interval[0]) == list(found.interval)


def test_offers_cost_the_epsilon_of_their_own_question(town: Town) -> None:
    played = start(town, "mean", epsilon_max=2.0)
    codes, domain = played.found.asked.codes, played.found.plan.query.domain.size
    assert codes < domain
    numerators = [o.q_numerator for o in map(played.offer, town.owners) if o.q_numerator]
    assert epsilon_of(max(numerators), codes) <= 2.0 + 1e-9 < epsilon_of(max(numerators), domain)


def test_a_report_that_is_none_of_the_codes_is_refused(town: Town) -> None:
    played = start(town, "mean")
    asked = next(owner for owner in town.owners if played.offer(owner).q_numerator)
    with pytest.raises(UnprocessableError, match="codes in this round lie from 0 to 1"):
        town.report(asked, played.found, 2)


def test_a_round_says_what_it_asks_and_why(town: Town) -> None:
    found = town.open_round(query=QueryMessage(kind="mean", text="What is your age?", domain=AGES_UP_TO_9))
    assert (found.asked.kind, found.asked.codes) == ("level", 3)
    assert found.asked.reason
    frozen = json.loads(reads.notice(town.market, town.add_owners(1)[0], found.round_id).terms)
    assert frozen["terms"]["question"] == {"is": "level", "codes": 3, "stages": 1}


AGES_UP_TO_9 = DomainMessage(kind="grid", start=0.0, step=1.0, size=10)


@pytest.mark.parametrize("question", ["bucket", "side", "level:1", "level:500"])
def test_a_question_that_cannot_answer_the_query_is_refused_in_a_sentence(town: Town, question: str) -> None:
    query = QueryMessage(kind="mean", text="What is your age?", domain=AGES_UP_TO_9)
    with pytest.raises(PdqsError, match=r"question|mean"):
        round_steps.draft_round(town.market, town.consumer, plan(query=query, question=question), "key-for-a-draft")


@pytest.mark.parametrize("question", ["whole", "level:", "level:x", "side:1", "bucket:0", " value", "auto\n"])
def test_a_plan_with_a_question_that_is_none_is_no_plan(question: str) -> None:
    given: dict[str, Any] = {"query": {"kind": "count", "text": "?"}, "attribute": "ill", "budget_micros": 10}
    RoundPlan.model_validate(given)
    with pytest.raises(ValueError, match="question"):
        RoundPlan.model_validate({**given, "question": question})


def long_plan(answers: int, letter: str) -> RoundPlan:
    labels = [f"{place:04d}{letter * 76}" for place in range(answers)]
    domain = DomainMessage(kind="categories", labels=labels, size=answers)
    return plan(query=QueryMessage(kind="histogram", text="Which?", domain=domain), question="value")


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u4e00", "\U0001f37a"])
def test_devices_read_the_terms_of_whatever_plan_a_market_takes(letter: str) -> None:
    answers = 2
    while len(long_plan(answers + 50, letter).model_dump_json().encode()) <= Settings().most_body_bytes:
        answers += 50
    assert len(frozen("r_1", long_plan(answers, letter), 1, "", {}).document) < MOST_TERMS


def test_terms_that_no_device_would_read_are_not_opened() -> None:
    with pytest.raises(PdqsError, match="too many or too long"):
        frozen("r_1", long_plan(2000, "\u00e9"), 1, "", {})
