"""A bid that was made before a withdrawal and comes after it does not stand, whichever way the two meet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select

from market.meanwhile import began
from market.town import Town, found_town
from pdqs.market import bidding, own_data, round_steps
from pdqs.market.retention import purge_due
from pdqs.market.store import migrate
from pdqs.market.store.schema import bids
from pdqs.market.store.withdrawal_table import withdrawals
from pdqs.protocol.device_messages import Bid, BidReceipt
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import ConflictError, ForbiddenError, MarketError, NotFoundError, ProblemType

MEETINGS = 40


def put(town: Town, owner: User, found: Round, price: int, after: int | None = None) -> BidReceipt:
    bid = Bid(terms_hash=found.terms_hash or "", bid_micros=price)
    return bidding.place_bid(town.market, owner, found.round_id, bid, after)


def stands(town: Town, owner: User, found: Round) -> bool:
    with town.market.store.read() as connection:
        hers = select(func.count()).select_from(bids)
        hers = hers.where(bids.c.owner_id == owner.user_id, bids.c.round_id == found.round_id)
        return bool(connection.scalar(hers))


def test_a_first_bid_that_its_withdrawal_overtook_is_refused_when_it_comes(either_town: Town) -> None:
    town = either_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    gone = bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    with pytest.raises(ConflictError, match="you withdrew from this round after this bid was made") as refused:
        put(town, ann, found, 5, after=0)
    assert refused.value.type is ProblemType.BID_WITHDRAWN
    assert not stands(town, ann, found)
    assert put(town, ann, found, 7, after=gone.withdrawn_at_ms).bid_micros == 7


def test_a_twin_of_a_bid_that_was_signed_for_and_withdrawn_does_not_bring_it_back(either_town: Town) -> None:
    town = either_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    first = put(town, ann, found, 5, after=0)
    once = bidding.withdraw_bid(town.market, ann, found.round_id, first.placed_at_ms)
    again = put(town, ann, found, 5, after=once.withdrawn_at_ms)
    twice = bidding.withdraw_bid(town.market, ann, found.round_id, again.placed_at_ms)
    assert twice.withdrawn_at_ms > once.withdrawn_at_ms, "a time names one withdrawal, though the clock stood still"
    for late in (0, once.withdrawn_at_ms):
        with pytest.raises(ConflictError):
            put(town, ann, found, 5, after=late)
    assert not stands(town, ann, found)


def test_a_change_of_a_bid_that_was_withdrawn_is_told_as_that(either_town: Town) -> None:
    """Whoever is told that there is none to change does not know that she may make one."""
    town = either_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    first = put(town, ann, found, 5, after=0)
    change = Bid(terms_hash=found.terms_hash or "", bid_micros=7, replaces=first.placed_at_ms)
    gone = bidding.withdraw_bid(town.market, ann, found.round_id, first.placed_at_ms)
    for after, fault in ((0, ProblemType.BID_WITHDRAWN), (gone.withdrawn_at_ms, ProblemType.NO_BID)):
        with pytest.raises(MarketError) as refused:
            bidding.place_bid(town.market, ann, found.round_id, change, after)
        assert refused.value.type is fault
    assert not stands(town, ann, found)


def test_no_bid_is_withdrawn_before_it_was_placed(town: Town) -> None:
    """Whatever the clock does: a device takes no withdrawal for one of what was signed for after it."""
    (ann,) = town.add_owners(1)
    found = town.open_round()
    placed = put(town, ann, found, 5, after=0)
    town.clock.advance(-2)
    assert bidding.withdraw_bid(town.market, ann, found.round_id).withdrawn_at_ms >= placed.placed_at_ms


def test_nobody_is_asked_to_bid_again_once_bids_are_closed(either_town: Town) -> None:
    town = either_town
    (ann,) = town.add_owners(1)
    found = town.open_round()
    bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    town.clock.advance(found.plan.bid_seconds)
    with pytest.raises(ConflictError, match="bids in this round are closed") as refused:
        put(town, ann, found, 5, after=0)
    assert refused.value.type is ProblemType.BIDS_CLOSED


def test_a_caller_who_says_no_order_is_taken_as_she_comes(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    put(town, ann, found, 5)
    bidding.withdraw_bid(town.market, ann, found.round_id)
    assert put(town, ann, found, 5).bid_micros == 5


def test_a_withdrawal_of_nothing_that_comes_late_leaves_a_bid_that_came_before_it(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    put(town, ann, found, 5, after=0)
    with pytest.raises(ConflictError) as refused:
        bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    assert refused.value.type is ProblemType.BID_STANDS
    assert stands(town, ann, found)


def test_it_is_one_owners_in_one_round(town: Town) -> None:
    ann, bea = town.add_owners(2)
    found, other = town.open_round(), town.open_round("another-round-of-a-test")
    bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    assert put(town, bea, found, 5, after=0).bid_micros == 5
    assert put(town, ann, other, 5, after=0).bid_micros == 5


def test_only_owners_withdraw_and_only_from_rounds_that_they_can_see_and_that_take_bids(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    for other in (town.consumer, town.operator):
        with pytest.raises(ForbiddenError):
            bidding.withdraw_bid(town.market, other, found.round_id, 0)
    with pytest.raises(NotFoundError) as missing:
        bidding.withdraw_bid(town.market, ann, "r_" + "0" * 24, 0)
    assert missing.value.type is ProblemType.NO_ROUND
    town.clock.advance(found.plan.bid_seconds)
    with pytest.raises(NotFoundError) as none:
        bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    assert none.value.type is ProblemType.NO_BID
    with town.market.store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(withdrawals)) == 0


def test_what_is_kept_of_a_withdrawal_is_in_her_export_and_purged_with_the_round(town: Town) -> None:
    (ann,) = town.add_owners(1)
    town.add_owners(8)
    found = town.open_round()
    gone = bidding.withdraw_bid(town.market, ann, found.round_id, 0)
    assert own_data.export(town.market, ann).withdrawals == [gone]
    town.clock.advance(found.plan.bid_seconds)
    assert round_steps.clear_round(town.market, town.consumer, found.round_id).state == "cancelled"
    town.clock.advance(400 * 86_400)
    assert purge_due(town.market) == [found.round_id]
    assert own_data.export(town.market, ann).withdrawals == []


@contextmanager
def held_at(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Have the transaction that comes through a function of bidding wait there, with all of it done: (there, go on)."""
    there, go_on = threading.Event(), threading.Event()
    plain: Callable[..., Any] = getattr(bidding, name)

    def waiting(*given: Any) -> Any:
        found = plain(*given)
        there.set()
        assert go_on.wait(30)
        return found

    monkeypatch.setattr(bidding, name, waiting)
    try:
        yield there, go_on
    finally:
        go_on.set()
        monkeypatch.setattr(bidding, name, plain)


@pytest.mark.parametrize("first", ["keep_if_open", "keep_withdrawal"])
def test_neither_overlooks_the_other_while_it_is_not_yet_committed(
    first: str, either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two is stopped just before its end, and the other begins: it waits, and then knows."""
    town = either_town
    (ann,) = town.add_owners(1)
    found = town.open_round()

    def bid() -> object:
        return put(town, ann, found, 5, after=0)

    def withdrawal() -> object:
        return bidding.withdraw_bid(town.market, ann, found.round_id)

    acts = (bid, withdrawal) if first == "keep_if_open" else (withdrawal, bid)
    with held_at(monkeypatch, first) as (there, go_on):
        leading, _ = began(acts[0])
        assert there.wait(30)
        following, came = began(acts[1])
        following.join(0.3)
        assert not came, "it did not wait"
        go_on.set()
        leading.join(30)
        following.join(30)
    assert not stands(town, ann, found)
    if first == "keep_withdrawal":
        assert isinstance(came[0], ConflictError)


def test_bids_and_withdrawals_that_start_together_never_leave_a_bid_behind(either_town: Town) -> None:
    town = either_town
    owners = town.add_owners(MEETINGS)
    found = town.open_round()
    gate = threading.Barrier(2 * MEETINGS)

    def bid(owner: User) -> Callable[[], object]:
        return lambda: (gate.wait(30), put(town, owner, found, 5, after=0))

    def withdrawal(owner: User) -> Callable[[], object]:
        return lambda: (gate.wait(30), bidding.withdraw_bid(town.market, owner, found.round_id))

    begun = [began(act(owner)) for owner in owners for act in (bid, withdrawal)]
    for thread, _ in begun:
        thread.join(60)
    faults = [came[0] for _, came in begun if isinstance(came[0], Exception)]
    assert all(getattr(fault, "type", None) is ProblemType.BID_WITHDRAWN for fault in faults), faults
    assert not [owner.name for owner in owners if stands(town, owner, found)]


def test_without_turns_postgresql_would_leave_a_bid_behind(either_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control of the test above it: what makes them wait is the turn (on SQLite, the one writer)."""
    town = either_town
    if town.market.store.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time, turn or no turn")
    (ann,) = town.add_owners(1)
    found = town.open_round()
    monkeypatch.setattr(bidding, "hold_turn", lambda *_: None)
    with held_at(monkeypatch, "keep_if_open") as (there, go_on):
        leading, _ = began(lambda: put(town, ann, found, 5, after=0))
        assert there.wait(30)
        bidding.withdraw_bid(town.market, ann, found.round_id)
        go_on.set()
        leading.join(30)
    assert stands(town, ann, found)


def test_a_market_that_was_made_before_goes_on_with_its_bids(database_url: str) -> None:
    town = found_town(database_url)
    (ann,) = town.add_owners(1)
    found = town.open_round()
    put(town, ann, found, 5)
    store = town.market.store
    migrate.downgrade(store, "0010")
    migrate.upgrade(store)
    first = put(town, ann, found, 5, after=0)
    bidding.withdraw_bid(town.market, ann, found.round_id, first.placed_at_ms)
    with pytest.raises(ConflictError):
        put(town, ann, found, 5, after=0)
    store.close()
