"""What is worked out before a settlement's transaction is used only for the very reports that the transaction finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from market.town import Town, contents
from pdqs.market import reads, round_steps, settling_ahead
from pdqs.market.settling_ahead import NOT_WORKED_OUT, SettlementAhead, settlement_of
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import postings, reports, rounds
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import NotFoundError


def due(town: Town) -> tuple[Round, User]:
    """A cleared round at the moment when reports close, all in but one; and whose that is."""
    town.add_owners(12)
    found = town.cleared_round()
    asked = town.asked(found)
    assert len(asked) > 2
    for place, owner in enumerate(asked[1:]):
        town.report(owner, found, place % 2)
    town.clock.advance(found.plan.report_seconds)
    return found, asked[0]


def overtaken_by_a_report(town: Town, found: Round, late: User) -> Callable[[Any, str], SettlementAhead]:
    """Working ahead, and a report that was taken in time is written down after that."""

    def overtaken(market: Any, round_id: str) -> SettlementAhead:
        ahead = settling_ahead.settlement_ahead(market, round_id)
        assert ahead.worked_out is not None
        row = {"round_id": found.round_id, "owner_id": late.user_id, "code": 1, "received_at_ms": 1, "ordinal": 1}
        with town.market.store.write() as connection:
            connection.execute(reports.insert(), row)
        return ahead

    return overtaken


def as_found(town: Town, found: Round) -> settling_ahead.Settlement:
    with town.market.store.read() as connection:
        row = connection.execute(select(rounds).where(rounds.c.round_id == found.round_id)).one()
        return settlement_of(connection, row)


def paid(town: Town, found: Round) -> dict[str, int]:
    mine = postings.c.transaction_id == f"settlement:{found.round_id}"
    moved = select(postings.c.account, postings.c.amount_micros).where(mine)
    with town.market.store.read() as connection:
        return {line.account: line.amount_micros for line in connection.execute(moved)}


def test_a_report_written_down_since_is_answered_and_paid(either_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town = either_town
    found, late = due(town)
    before = as_found(town, found)
    monkeypatch.setattr(round_steps, "settlement_ahead", overtaken_by_a_report(town, found, late))
    round_steps.settle_round(town.market, town.operator, found.round_id)
    now, told = as_found(town, found), reads.answer(town.market, town.consumer, found.round_id)
    assert (told, paid(town, found)) == (now.answer, now.amounts)
    assert told != before.answer
    assert paid(town, found)[f"owner:{late.user_id}"] > 0
    assert f"owner:{late.user_id}" not in before.amounts
    assert town.balanced()


def test_it_is_reading_the_reports_again_that_does_it(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a transaction that took the reports for what they were would leave her unpaid."""
    found, late = due(town)
    before = as_found(town, found)
    monkeypatch.setattr(round_steps, "settlement_ahead", overtaken_by_a_report(town, found, late))
    monkeypatch.setattr(settling_ahead, "_came", lambda *_: before.came)
    round_steps.settle_round(town.market, town.operator, found.round_id)
    assert paid(town, found) == before.amounts


def test_what_was_worked_out_for_another_row_is_thrown_away(town: Town) -> None:
    found, _ = due(town)
    ahead = settling_ahead.settlement_ahead(town.market, found.round_id)
    assert ahead.worked_out is not None
    wrong = replace(ahead, worked_out=replace(ahead.worked_out, amounts={}))
    mine = rounds.c.round_id == found.round_id
    with town.market.store.write() as connection:
        same = connection.execute(select(rounds).where(mine)).one()
        assert wrong.settlement(connection, same).amounts == {}
        connection.execute(update(rounds).where(mine).values(summary='{"changed": true}'))
        changed = connection.execute(select(rounds).where(mine)).one()
        assert wrong.settlement(connection, changed) == ahead.worked_out


def test_what_was_worked_out_is_what_is_kept(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is worked out twice: with the work ahead done, the transaction answers nothing itself."""
    found, _ = due(town)
    ahead = settling_ahead.settlement_ahead(town.market, found.round_id)
    assert ahead.worked_out is not None

    def refused(*_given: Any) -> Any:
        raise AssertionError("worked out inside the transaction")

    monkeypatch.setattr(round_steps, "settlement_ahead", lambda *_: ahead)
    monkeypatch.setattr(settling_ahead, "settlement_of", refused)
    round_steps.settle_round(town.market, town.operator, found.round_id)
    assert reads.answer(town.market, town.consumer, found.round_id) == ahead.worked_out.answer
    assert paid(town, found) == ahead.worked_out.amounts


def test_the_market_is_the_same_in_every_row_as_without_working_ahead(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = due(town)
    with town.market.store.look() as connection:
        connection.exec_driver_sql("VACUUM INTO ?", (str(tmp_path / "twin.db"),))
    twin = replace(town.market, store=open_store(f"sqlite:///{tmp_path}/twin.db"))
    assert contents(twin) == contents(town)
    round_steps.settle_round(town.market, town.operator, found.round_id)
    monkeypatch.setattr(round_steps, "settlement_ahead", lambda *_: NOT_WORKED_OUT)
    round_steps.settle_round(twin, town.operator, found.round_id)
    assert contents(twin) == contents(town)
    twin.store.close()


def test_nothing_is_worked_out_ahead_of_its_time(town: Town) -> None:
    town.add_owners(12)
    found = town.cleared_round()
    assert settling_ahead.settlement_ahead(town.market, found.round_id) == NOT_WORKED_OUT  # reports are awaited
    town.clock.advance(found.plan.report_seconds)
    assert settling_ahead.settlement_ahead(town.market, found.round_id) != NOT_WORKED_OUT
    round_steps.settle_round(town.market, town.operator, found.round_id)
    assert settling_ahead.settlement_ahead(town.market, found.round_id) == NOT_WORKED_OUT  # it is settled


def test_nobody_makes_the_market_settle_a_round_that_is_not_hers(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = due(town)
    stranger = town.consumer.model_copy(update={"user_id": f"u_{'f' * 24}"})

    def worked(*_given: Any) -> Any:
        raise AssertionError("worked on for a stranger")

    monkeypatch.setattr(round_steps, "settlement_ahead", worked)
    with pytest.raises(NotFoundError):
        round_steps.settle_round(town.market, stranger, found.round_id)
    assert reads.round_by_id(town.market, town.operator, found.round_id).state == "reporting"
