"""The record that a market gives of a settled round: it agrees with itself, unless the market did not keep to it."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, update

import pdqs
from market.town import Town, found_town
from pdqs.market import Settings, records, round_steps
from pdqs.market.ledger import account_of
from pdqs.market.made_once import MadeOnce
from pdqs.market.store.schema import bids, offers, postings, reports
from pdqs.model.errors import TermsError
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import NotFoundError, ProblemType, TooManyRequestsError
from pdqs.rounds.commitments import pseudonym_of


def settled(town: Town, *, silent: int = 0, **changes: Any) -> Round:
    """A round that all were bidding in and most of those asked reported to."""
    if not town.owners:
        town.add_owners(30)
    found = town.cleared_round(**changes)
    for place, owner in enumerate(town.asked(found)[silent:]):
        town.report(owner, found, place % 2)
    town.clock.advance(found.plan.report_seconds)
    return round_steps.settle_round(town.market, town.consumer, found.round_id)


def broken(town: Town, found: Round) -> list[str]:
    report = pdqs.verify(records.record(town.market, town.operator, found.round_id).text())
    return [each.name for each in report.findings if each.verdict == "does not agree"]


@pytest.mark.parametrize("silent", [0, 1])
@pytest.mark.parametrize(
    "changes",
    [{}, {"rule": "optimal", "estimator": "weighted"}, {"budget_micros": 2_000}],
    ids=["lottery", "ladder", "hardly any money"],
)
def test_the_record_of_an_honest_round_agrees(town: Town, silent: int, changes: dict[str, Any]) -> None:
    found = settled(town, silent=silent, **changes)
    told = records.record(town.market, town.consumer, found.round_id)
    assert broken(town, found) == []
    assert told.bids_root == (found.bids_root and found.bids_root.root)
    assert told.ledger.paid_micros == found.paid_micros
    reported = sum(line.code is not None for line in told.owners)
    assert len(told.owners) == (30 if reported >= 5 else reported)


def test_no_owner_is_named_in_a_record_and_of_the_consumer_only_what_the_terms_say(town: Town) -> None:
    found = records.record(town.market, town.consumer, settled(town).round_id)
    text = found.text()
    assert not [user for user in town.owners if user.user_id in text or user.name in text]
    assert town.consumer.user_id not in text
    assert json.loads(found.terms)["asked_by"] == town.consumer.name
    elsewhere = dataclasses.replace(found, terms="").text()
    assert town.consumer.name not in elsewhere.replace("nonce_by", "")


def drop_a_bid(connection: Any, found: Round, who: User) -> None:
    for table in (reports, offers, bids):
        connection.execute(delete(table).where(table.c.round_id == found.round_id, table.c.owner_id == who.user_id))


def swap_a_report(connection: Any, found: Round, who: User) -> None:
    mine = (reports.c.round_id == found.round_id) & (reports.c.owner_id == who.user_id)
    connection.execute(update(reports).where(mine).values(code=1 - reports.c.code))


def favour_a_draw(connection: Any, found: Round, who: User) -> None:
    mine = (offers.c.round_id == found.round_id) & (offers.c.owner_id == who.user_id)
    connection.execute(update(offers).where(mine).values(draw=0))


def pay_less(connection: Any, found: Round, who: User) -> None:
    for account, more in ((account_of("owner", who.user_id), -1), (account_of("consumer", found.consumer_id), 1)):
        moved = (postings.c.transaction_id == f"settlement:{found.round_id}") & (postings.c.account == account)
        connection.execute(update(postings).where(moved).values(amount_micros=postings.c.amount_micros + more))


@pytest.mark.parametrize(
    ("lie", "names"),
    [
        (drop_a_bid, {"bids", "reports"}),
        (swap_a_report, {"reports", "answer"}),
        (favour_a_draw, {"draws"}),
        (pay_less, {"payments"}),
    ],
)
def test_a_market_that_did_not_keep_to_its_round_is_caught(
    town: Town, lie: Callable[[Any, Round, User], None], names: set[str]
) -> None:
    town.add_owners(30)
    found = settled(town)
    who = town.asked(found)[0]
    assert broken(town, found) == []
    with town.market.store.write() as connection:
        lie(connection, found, who)
    assert names <= set(broken(town, found))


def test_a_record_is_written_once_for_all_who_ask_and_for_nobody_else(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, whole, made = settled(town), records.record, []

    def counted(*asked: Any) -> Any:
        made.append(1)
        time.sleep(0.2)
        return whole(*asked)

    monkeypatch.setattr(records, "record", counted)
    asking = [town.consumer, town.operator, *town.owners[:2]]
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda who: records.record_text(town.market, who, found.round_id), asking))
    assert len(made) == 1
    assert set(texts) == {whole(town.market, town.consumer, found.round_id).text().encode()}
    (stranger,) = town.add_owners(1)
    with pytest.raises(NotFoundError):
        records.record_text(town.market, stranger, found.round_id)
    impatient = dataclasses.replace(town.market, records=MadeOnce(most=1, patience=0.01))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(records.record_text, impatient, town.consumer, found.round_id)
        while len(made) == 1:
            time.sleep(0.001)
        with pytest.raises(TooManyRequestsError, match="ask again in a moment"):
            records.record_text(impatient, town.operator, found.round_id)
        assert slow.result() == texts[0]


def test_there_is_no_record_before_a_round_is_settled_nor_for_those_who_took_no_part(town: Town) -> None:
    town.add_owners(30)
    found = town.cleared_round()
    for actor, problem in (
        (town.operator, ProblemType.NO_RECORD),
        (town.owners[0], ProblemType.NO_RECORD),
        (town.add_owners(1)[0], ProblemType.NO_BID),
    ):
        with pytest.raises(NotFoundError) as refused:
            records.record(town.market, actor, found.round_id)
        assert refused.value.type == problem


def test_an_operator_who_wants_no_records_says_so_in_the_terms_before_anyone_bids(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/quiet.db"
    town = found_town(url, settings=Settings(database_url=url, records="none"))
    found = settled(town)
    with pytest.raises(NotFoundError, match="promise no record"):
        records.record(town.market, town.consumer, found.round_id)
    town.market.store.close()


def test_what_a_round_promised_of_its_record_does_not_change_with_the_settings(town: Town) -> None:
    found = settled(town)
    later = dataclasses.replace(town.market, settings=Settings(records="none"))
    told = records.record(later, town.consumer, found.round_id)
    assert json.loads(told.terms)["record"] == "answered"


def test_a_setting_of_records_that_is_none_is_refused() -> None:
    with pytest.raises(TermsError, match="PDQS_RECORDS"):
        Settings(records="some")


@pytest.mark.parametrize("came", [0, 1, 4, 5])
def test_nobody_has_bids_for_nothing_of_a_round_that_too_few_reported_in(town: Town, came: int) -> None:
    """Where 5 did not report there is no answer, hardly anything was paid, and the silent stay out of the record."""
    town.add_owners(30)
    found = town.cleared_round()
    for owner in town.asked(found)[:came]:
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    told = records.record(town.market, town.consumer, found.round_id)
    assert len(told.owners) == (came if came < 5 else 30)
    if came < 5:
        names = {pseudonym_of(found.round_id, owner.user_id).hex() for owner in town.asked(found)[:came]}
        assert {line.pseudonym for line in told.owners} == names
    seen = pdqs.verify(told.text(), root=told.bids_root)
    assert seen.agrees, repr(seen)
    assert ("bids are left out" in repr(seen)) == (came < 5)


def test_rounds_that_promised_every_bid_whatever_comes_keep_to_it(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/open.db"
    town = found_town(url, settings=Settings(database_url=url, records="full"))
    found = settled(town, silent=30)
    assert len(records.record(town.market, town.consumer, found.round_id).owners) == 30
    assert broken(town, found) == []
    town.market.store.close()
