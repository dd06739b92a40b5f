"""Bids, offers and reports are kept as long as the terms say, and then they are gone; the books are not."""

from __future__ import annotations

import dataclasses
import json

import pytest
from sqlalchemy import func, select

from market.question_rounds import start
from market.town import Town
from pdqs.market import offer_access, reads, round_steps
from pdqs.market.outbox import dead_letters
from pdqs.market.retention import purge_due
from pdqs.market.store.schema import bids, offers, outbox, reports, rounds
from pdqs.protocol.market_messages import Round
from pdqs.protocol.problems import NotFoundError, UnprocessableError

DAY = 86_400


def _settled(town: Town, key: str, **changes: object) -> Round:
    found = town.cleared_round(key=key, **changes)
    for owner in town.asked(found):
        town.report(owner, found, 1)
    town.clock.advance(found.plan.report_seconds)
    return round_steps.settle_round(town.market, town.consumer, found.round_id)


def _rows(town: Town) -> list[int]:
    with town.market.store.read() as connection:
        return [
            int(connection.scalar(select(func.count()).select_from(table)) or 0) for table in (bids, offers, reports)
        ]


def _kept_for(town: Town, days: int) -> Town:
    settings = dataclasses.replace(town.market.settings, retention_days=days)
    return dataclasses.replace(town, market=dataclasses.replace(town.market, settings=settings))


def test_what_owners_sent_is_purged_when_the_days_of_the_terms_are_over(either_town: Town) -> None:
    town = _kept_for(either_town, 30)
    town.add_owners(5)
    found = _settled(town, "a-round-to-purge")
    (owner, *_) = town.asked(found)
    before = reads.round_by_id(town.market, town.consumer, found.round_id)
    notice = reads.notice(town.market, owner, found.round_id)
    assert json.loads(notice.terms)["retention_days"] == 30
    earned, answer = town.balance(owner), reads.answer(town.market, town.consumer, found.round_id)
    town.clock.advance(30 * DAY - 10)
    assert purge_due(town.market) == []
    assert min(_rows(town)) > 0
    town.clock.advance(DAY)
    assert purge_due(town.market) == [found.round_id]
    assert _rows(town) == [0, 0, 0]
    assert reads.round_by_id(town.market, town.consumer, found.round_id) == before, "counts and sums are as they were"
    assert reads.answer(town.market, town.consumer, found.round_id) == answer
    assert (town.balance(owner), town.balanced()) == (earned, True)
    with pytest.raises(NotFoundError):
        offer_access.bid(town.market, owner, found.round_id)
    town.clock.advance(DAY)
    assert purge_due(town.market) == [], "once"


def test_letters_that_were_never_taken_tell_nobody_who_was_asked_once_a_round_is_purged(either_town: Town) -> None:
    town = _kept_for(either_town, 30)
    town.add_owners(5)
    purged, kept = (_settled(town, f"kept-for-{days}", retention_days=days) for days in (7, 30))
    with town.market.store.write() as connection:
        for found in (purged, kept):
            (owner, *_) = town.asked(found)
            row = {"user_id": owner.user_id, "channel": "webhook", "kind": "offer", "round_id": found.round_id}
            given_up = {"letter_id": f"offer:{found.round_id}", "at_ms": 1, "state": "dead", "due_at_ms": 1}
            connection.execute(outbox.insert().values(**row, **given_up))
    town.clock.advance(8 * DAY)
    assert purge_due(town.market) == [purged.round_id]
    left = dead_letters(town.market, town.operator).items
    assert [each.letter_id for each in left] == [f"offer:{kept.round_id}"]


def test_a_purged_round_in_stages_still_tells_how_many_reported_in_each(either_town: Town) -> None:
    """Its page said that of each stage nobody had reported, beside an answer from all of them."""
    played = start(_kept_for(either_town, 30), "median", owners=40)
    before = played.through(silent=1)
    assert sum(stage.reports for stage in before.stages) == before.reports > 0
    played.town.clock.advance(31 * DAY)
    assert purge_due(played.town.market) == [before.round_id]
    assert played.now() == before


def test_a_consumer_may_ask_for_fewer_days_and_not_for_more(town: Town) -> None:
    town = _kept_for(town, 30)
    town.add_owners(5)
    short, long = _settled(town, "seven-days-only", retention_days=7), _settled(town, "as-long-as-may-be")
    town.clock.advance(8 * DAY)
    assert purge_due(town.market) == [short.round_id]
    town.clock.advance(30 * DAY)
    assert purge_due(town.market) == [long.round_id]
    with pytest.raises(UnprocessableError, match="at most 30 days"):
        town.open_round("for-ever-and-a-day", retention_days=31)


def test_a_round_that_promised_nothing_about_it_or_runs_on_is_kept(town: Town) -> None:
    town = _kept_for(town, 30)
    town.add_owners(5)
    old = _settled(town, "before-the-promise")
    with town.market.store.write() as connection:
        summary = json.loads(str(connection.scalar(select(rounds.c.summary))))
        del summary["retention_days"]
        connection.execute(rounds.update().values(summary=json.dumps(summary)))
    running = town.open_round("still-running-on", bid_seconds=31_536_000)
    town.bid_all(running)
    town.clock.advance(300 * DAY)
    assert purge_due(town.market) == []
    assert _rows(town)[0] == 10
    assert old.bids == 5
