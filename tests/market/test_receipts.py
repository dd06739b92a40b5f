"""Receipts are signed by the key that the frozen terms name, and count an owner's reports."""

from __future__ import annotations

import json
from functools import partial

import pytest
from sqlalchemy import select

from pdqs.market import offer_access, reads, round_steps
from pdqs.market.round_terms import frozen
from pdqs.market.store.schema import receipt_keys
from pdqs.protocol.device_messages import Bid, DomainMessage, Report
from pdqs.protocol.market_messages import QueryMessage
from pdqs.protocol.receipts import is_signed
from pdqs.rounds.commitments import pseudonym_of

from .town import Town


def promised_key(town: Town, round_id: str) -> str:
    return str(json.loads(reads.notice(town.market, town.owners[0], round_id).terms)["receipt_key"])


def test_every_receipt_is_signed_by_the_key_in_the_terms_and_told_the_same_again(either_town: Town) -> None:
    town = either_town
    town.add_owners(4)
    opened = town.open_round()
    key = promised_key(town, opened.round_id)
    town.bid_all(opened)
    for owner in town.owners:
        kept = offer_access.bid(town.market, owner, opened.round_id)
        assert is_signed(key, kept)
        name = pseudonym_of(opened.round_id, owner.user_id).hex()
        assert (kept.pseudonym, offer_access.my_round(town.market, owner, opened.round_id).bid) == (name, kept)
        again = Bid(terms_hash=kept.terms_hash, bid_micros=kept.bid_micros)
        assert round_steps.place_bid(town.market, owner, opened.round_id, again) == kept
    town.clock.advance(opened.plan.bid_seconds)
    round_steps.clear_round(town.market, town.consumer, opened.round_id)
    for owner in town.asked(opened):
        report = Report(terms_hash=kept.terms_hash, code=1)
        receipt = round_steps.submit_report(town.market, owner, opened.round_id, report)
        assert is_signed(key, receipt)
        offer = offer_access.offer(town.market, owner, opened.round_id)
        assert (receipt.q_numerator, receipt.stage, receipt.side) == (offer.q_numerator, 1, None)
        assert receipt.pseudonym == pseudonym_of(opened.round_id, owner.user_id).hex()
        assert receipt == offer_access.report(town.market, owner, opened.round_id)
        assert receipt == round_steps.submit_report(town.market, owner, opened.round_id, report)


def test_receipts_of_a_round_that_was_opened_before_they_said_what_was_asked_stay_as_they_were(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add_owners(4)
    with monkeypatch.context() as before:
        before.setattr(round_steps, "frozen", partial(frozen, receipt_form=1))
        opened = town.open_round()
    town.bid_all(opened)
    town.clock.advance(opened.plan.bid_seconds)
    round_steps.clear_round(town.market, town.consumer, opened.round_id)
    owner = town.asked(opened)[0]
    town.report(owner, opened, 1)
    receipt = offer_access.report(town.market, owner, opened.round_id)
    assert not receipt.is_of_form_2
    assert not {"q_numerator", "pseudonym"} & receipt.model_dump().keys()
    bid = offer_access.bid(town.market, owner, opened.round_id)
    assert "pseudonym" not in bid.model_dump()
    assert all(is_signed(promised_key(town, opened.round_id), each) for each in (bid, receipt))


def test_a_receipt_says_which_side_was_asked_about_and_in_which_stage(either_town: Town) -> None:
    town = either_town
    town.add_owners(6)
    income = DomainMessage(kind="grid", start=0.0, step=5.0, size=21)
    query = QueryMessage(kind="median", text="What is your income?", domain=income)
    found = town.cleared_round(query=query, question="side", stages=1)
    for owner in town.asked(found):
        asked = offer_access.offer(town.market, owner, found.round_id)
        report = Report(terms_hash=asked.terms_hash, code=1)
        receipt = round_steps.submit_report(town.market, owner, found.round_id, report)
        assert asked.side is not None
        assert (receipt.q_numerator, receipt.stage, receipt.side) == (asked.q_numerator, asked.stage, asked.side)
        assert receipt == offer_access.report(town.market, owner, found.round_id)
        assert receipt == offer_access.my_round(town.market, owner, found.round_id).report


def test_receipts_count_an_owners_reports_one_by_one(either_town: Town) -> None:
    town = either_town
    town.add_owners(3)
    counted: list[int] = []
    for place in range(3):
        found = town.cleared_round(key=f"a-round-of-a-test-{place}")
        owner = town.asked(found)[0]
        town.report(owner, found, 1)
        town.report(owner, found, 1)  # the same again is not counted again
        counted.append(offer_access.report(town.market, owner, found.round_id).ordinal)
        assert reads.me(town.market, owner).reports_made == counted[-1]
    assert counted == [1, 2, 3]
    assert reads.me(town.market, town.owners[-1]).reports_made == 0


def test_there_is_one_key_and_rounds_share_it(town: Town) -> None:
    town.add_owners(1)
    first, second = (town.open_round(key=f"a-round-of-a-test-{place}").round_id for place in range(2))
    assert promised_key(town, first) == promised_key(town, second)
    with town.market.store.read() as connection:
        assert len(connection.execute(select(receipt_keys)).all()) == 1
