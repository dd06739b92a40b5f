"""Large rounds are left to the clock: a request waits for it and does not do its work."""

from __future__ import annotations

import threading

import pytest

from market.town import Town
from pdqs.market import handing_over, round_steps
from pdqs.market.clock_state import note_tick
from pdqs.market.context import Market
from pdqs.market.handing_over import clear_or_wait, settle_or_wait
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import ConflictError


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six bids are many here, and waiting is short."""
    monkeypatch.setattr(handing_over, "LARGE", 6)
    monkeypatch.setattr(handing_over, "_PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(handing_over, "_BETWEEN_SECONDS", 0.01)


def _closed(town: Town, owners: int = 6) -> Round:
    town.add_owners(owners)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(60)
    return found


@pytest.mark.usefixtures("large")
def test_a_request_for_a_large_round_waits_for_the_clock_and_does_not_do_its_work(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = either_town
    found = _closed(town)
    note_tick(town.market)  # a clock is alive somewhere
    if town.market.store.dialect == "sqlite":
        assert clear_or_wait(town.market, town.consumer, found.round_id).state == "reporting", "one process does all"
        return

    def by_the_request(_market: Market, _actor: User, _round_id: str) -> Round:
        raise AssertionError("the request did the work")

    monkeypatch.setattr(round_steps, "clear_round", by_the_request)
    assert clear_or_wait(town.market, town.consumer, found.round_id).state == "open", "it does not wait for ever"
    monkeypatch.undo()
    clock = threading.Timer(0.1, lambda: round_steps.advance_due(town.market))
    clock.start()
    monkeypatch.setattr(handing_over, "LARGE", 6)
    assert clear_or_wait(town.market, town.consumer, found.round_id).state == "reporting"
    clock.join()


@pytest.mark.usefixtures("large")
def test_without_a_clock_a_request_does_it_itself(either_town: Town) -> None:
    town = either_town
    found = _closed(town)
    assert clear_or_wait(town.market, town.consumer, found.round_id).state == "reporting"
    town.clock.advance(60)
    assert settle_or_wait(town.market, town.consumer, found.round_id).state == "settled"


@pytest.mark.usefixtures("large")
def test_small_rounds_and_those_that_are_not_due_are_answered_at_once(either_town: Town) -> None:
    town = either_town
    note_tick(town.market)
    town.add_owners(5)
    found = town.open_round()
    town.bid_all(found)
    with pytest.raises(ConflictError, match="close"):
        clear_or_wait(town.market, town.consumer, found.round_id)
    town.clock.advance(60)
    assert clear_or_wait(town.market, town.consumer, found.round_id).state == "reporting", "five are few"
    with pytest.raises(ConflictError, match="close"):
        settle_or_wait(town.market, town.consumer, found.round_id)
