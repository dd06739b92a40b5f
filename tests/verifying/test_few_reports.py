"""The record of a round that too few reported in: no bid of the silent is in it, and a broker who cheats is caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import pdqs
from pdqs.rounds.commitments import pseudonym_of
from pdqs.verifying import OwnProof, RoundRecord, frozen_document, record_of
from pdqs.verifying.record import reports_tree

from .rounds import NONCE, ROUND, SEED, Plain, kept_by, plain

TERMS = pdqs.Terms(query=pdqs.Count("Do you like tea?"), budget=30.0)


def played(came: int, *, record: str = "answered", terms: pdqs.Terms = TERMS, **said: object) -> RoundRecord:
    """The whole record of a round among 40 owners, of whom so many reported; ``said`` stands in its document too."""
    rng = np.random.default_rng(4)
    bids = {pseudonym_of(ROUND, f"u_{i}"): int(rng.integers(50_000, 1_000_000)) for i in range(40)}
    document = json.loads(frozen_document(ROUND, terms, SEED, NONCE))
    document |= {"record": record, "nonce_by": "market", "minimum_owners": 40, **said}

    def reporting(offers: pdqs.Offers) -> list[int | None]:
        asked = np.flatnonzero(offers.asked)[:came].tolist()
        return [1 if row in asked else None for row in range(len(offers))]

    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return record_of(text, SEED, NONCE, bids, reporting)


WHOLE = played(3)
FEW = WHOLE.without_silent()


def verdicts(record: RoundRecord | Plain, proof: OwnProof | None = None) -> dict[str, str]:
    return {each.name: each.verdict for each in pdqs.verify(record, proof=proof).findings}


@pytest.mark.parametrize("came", [0, 3])
@pytest.mark.parametrize("question", ["value", "side"])
def test_what_is_left_agrees_and_it_is_said_what_was_left_out_and_why(came: int, question: str) -> None:
    terms = TERMS if question == "value" else pdqs.Terms(
        query=pdqs.Median(pdqs.Domain.grid(0, 9, 1)), budget=30.0, question="side"
    )  # fmt: skip
    whole = played(came, terms=terms)
    record = whole.without_silent()
    assert len(record.owners) == came
    assert RoundRecord.read(record.text()) == record
    found = pdqs.verify(record.text(), root=whole.bids_root)
    assert found.agrees, repr(found)
    by_sides = {"questions": "not checked"} if question == "side" else {}
    assert verdicts(record) == {
        "terms": "held", "seed": "held", "nonce": "held", "bids": "not checked", "owners": "not checked",
        "rows": "held", "draws": "held", "offers": "not checked", "reports": "held", **by_sides, "answer": "held",
        "payments": "held", "totals": "held",
    }  # fmt: skip
    said = repr(found)
    assert f"everything agrees that could be checked ({len(by_sides) + 3} of" in said
    assert "fewer than 5 reported, so that the record lists them alone, as the terms say" in said
    assert f"{40 - came} bids are left out" in said


def drop_a_report(told: Plain) -> None:
    del told["owners"][0]
    told["answer"]["reports"] -= 1


def list_a_silent_one(told: Plain) -> None:
    silent = next(row for row in json.loads(replace(WHOLE, of_few=True).text())["owners"] if row["code"] is None)
    told["owners"] = sorted([*told["owners"], silent], key=lambda row: str(row["pseudonym"]))


def pay_less(told: Plain) -> None:
    told["owners"][0]["paid_micros"] -= 1


def keep_money(told: Plain) -> None:
    told["ledger"]["returned_micros"] -= 1


def change_a_draw(told: Plain) -> None:
    told["owners"][0]["draw"] ^= 1


def change_a_report(told: Plain) -> None:
    told["owners"][0]["code"] = 0


def invent_a_value(told: Plain) -> None:
    told["owners"][0]["code"] = 2


def tell_an_answer(told: Plain) -> None:
    told["answer"]["values"] = [12.0]


def count_otherwise(told: Plain) -> None:
    told["answer"]["reports"] = 4


def report_unasked(told: Plain) -> None:
    told["owners"][0]["q_numerator"] = 0


def give_no_chance(told: Plain) -> None:
    told["owners"][0]["chance_numerator"] = 0


def ask_too_much(told: Plain) -> None:
    told["owners"][0]["q_numerator"] = 2**32 - 1


def ask_less(told: Plain) -> None:
    told["owners"][0]["q_numerator"] -= 1


def post_another_price(told: Plain) -> None:
    told["owners"][0]["posted_micros"] += 1


def offer(told: Plain, micros: int) -> None:
    """Write another offer down for the first owner, and everything after it to match."""
    row = told["owners"][0]
    for held, name, sign in (
        (row, "posted_micros", 0),
        (row, "payment_micros", 0),
        (told["ledger"], "paid_micros", 1),
        (told["ledger"], "returned_micros", -1),
    ):
        held[name] = held[name] + sign * (micros - row["paid_micros"]) if sign else micros
    row["paid_micros"] = micros


def offer_less_than_her_price(told: Plain) -> None:
    offer(told, 1)


def offer_more_than_anyone_gets(told: Plain) -> None:
    offer(told, 2_000_002)


def bid_beyond_the_range(told: Plain) -> None:
    told["owners"][0]["bid_micros"] = 1_000_001


def ask_about_a_side(told: Plain) -> None:
    told["owners"][0]["side"] = 0


def ask_in_another_stage(told: Plain) -> None:
    told["owners"][0]["stage"] = 7


def too_few_owners(told: Plain) -> None:
    told["answer"]["owners"] = 39


@pytest.mark.parametrize(
    ("lie", "caught"),
    [
        (drop_a_report, "reports"),
        (list_a_silent_one, "reports"),
        (pay_less, "payments"),
        (keep_money, "totals"),
        (change_a_draw, "draws"),
        (change_a_report, "reports"),
        (invent_a_value, "reports"),
        (tell_an_answer, "answer"),
        (count_otherwise, "answer"),
        (report_unasked, "reports"),
        (too_few_owners, "owners"),
        (give_no_chance, "offers"),
        (ask_too_much, "offers"),
        (ask_less, "offers"),
        (post_another_price, "offers"),
        (offer_less_than_her_price, "offers"),
        (offer_more_than_anyone_gets, "offers"),
        (bid_beyond_the_range, "bids"),
        (ask_about_a_side, "questions"),
        (ask_in_another_stage, "questions"),
    ],
)
def test_a_broker_who_cheats_in_what_is_left_is_caught(lie: Callable[[Plain], None], caught: str) -> None:
    told = plain(FEW)
    lie(told)
    found = verdicts(told)
    assert found[caught] == "does not agree"
    if lie in (offer_less_than_her_price, offer_more_than_anyone_gets):
        assert [name for name, verdict in found.items() if verdict == "does not agree"] == ["offers"]


@pytest.mark.parametrize(("came", "promised"), [(6, "answered"), (3, "full"), (0, "full")])
def test_no_row_may_be_left_out_where_enough_reported_or_the_terms_promise_them_all(came: int, promised: str) -> None:
    record = played(came, record=promised).without_silent()
    assert verdicts(record)["rows"] == "does not agree"


def test_an_owner_who_is_left_out_finds_her_bid_under_the_root_and_one_who_reported_herself() -> None:
    silent = next(line.pseudonym for line in WHOLE.owners if line.code is None)
    found = verdicts(FEW, kept_by(WHOLE, silent))
    assert (found["your terms"], found["your bid"], found["your payment"]) == ("held", "held", "not checked")
    other = replace(kept_by(WHOLE, silent), bid_micros=1)
    assert verdicts(FEW, other)["your bid"] == "does not agree"
    mine = verdicts(FEW, kept_by(WHOLE, FEW.owners[0].pseudonym))
    assert {name: verdict for name, verdict in mine.items() if name.startswith("your")}.keys() >= {"your report"}
    assert "does not agree" not in mine.values()


SIDES = pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 9, 1)), budget=30.0, question="side", stages=3)


@pytest.mark.parametrize("side", [None, 9, 99])
def test_a_side_that_the_question_does_not_have_is_named(side: int | None) -> None:
    told = plain(played(3, terms=SIDES).without_silent())
    assert verdicts(told)["questions"] == "not checked"
    told["owners"][0]["side"] = side
    found = pdqs.verify(told)
    named = [each.owners for each in found.findings if each.verdict == "does not agree"]
    assert named == [(told["owners"][0]["pseudonym"],)]


def test_without_a_lot_nobody_has_less_than_a_whole_chance_and_the_cap_binds() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=30.0, rule="optimal", estimator="weighted")
    record = played(3, terms=terms).without_silent()
    for name, value in (("chance_numerator", 2**32 - 1), ("q_numerator", int(terms.q_max * 2**32) + 1)):
        told = plain(record)
        told["owners"][0][name] = value
        assert verdicts(told)["offers"] == "does not agree"


def test_how_many_bid_is_the_markets_word_and_who_bid_holds_it_to_the_root_she_was_shown() -> None:
    whole = played(3, minimum_owners=1000)
    told = plain(whole.without_silent())
    assert verdicts(told)["owners"] == "does not agree"
    told["answer"]["owners"] = 1000
    assert verdicts(told)["owners"] == "not checked"
    for line in (whole.owners[0], FEW.owners[0]):
        found = pdqs.verify(told, proof=kept_by(whole, line.pseudonym))
        (wrong,) = (each for each in found.findings if each.verdict == "does not agree")
        assert wrong.name == "your bid"
        assert wrong.told == "the root you were shown was published over 40 bids, and the record counts 1,000"


def test_whether_there_was_hope_of_an_answer_is_said_not_to_be_checked_unless_too_few_were_asked() -> None:
    told = plain(played(3, only_with_answer=True).without_silent())
    assert verdicts(told)["hope"] == "not checked"
    assert "hope" not in verdicts(FEW)
    told["answer"]["asked"] = 6
    assert verdicts(told)["hope"] == "does not agree"


@pytest.mark.parametrize(("promised", "came"), [("answered", 3), ("none", 12)])
def test_a_record_that_lists_those_whom_its_terms_promise_not_to_list_does_not_agree(promised: str, came: int) -> None:
    found = verdicts(played(came, record=promised))
    assert [name for name, verdict in found.items() if verdict != "held"] == ["rows"]
    assert "rows" not in verdicts(played(came, record="full"))
    assert "rows" not in verdicts(played(12))


def test_a_naive_answer_of_owners_who_are_not_listed_is_said_not_to_be_checked() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=30.0, rule="optimal", estimator="naive")
    record = played(3, terms=terms).without_silent()
    assert record.answer.values
    assert verdicts(record)["answer"] == "not checked"
    assert pdqs.verify(record).agrees


def test_a_broker_who_says_that_nobody_reported_is_caught_by_whoever_did() -> None:
    told = plain(played(0).without_silent())
    assert told["reports_root"] == reports_tree([], []).root.hex()
    mine = kept_by(WHOLE, FEW.owners[0].pseudonym)
    assert verdicts(told)["totals"] == "held"
    found = verdicts(told, mine)
    assert (found["your bid"], found["your report"], found["your payment"]) == (
        "held", "does not agree", "does not agree",
    )  # fmt: skip
