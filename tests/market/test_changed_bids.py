"""A bid can be changed and withdrawn until bids close, and a request that comes late undoes nothing."""

from __future__ import annotations

import pytest

from market.town import Town
from pdqs.market import offer_access, round_steps
from pdqs.market.bidding import withdraw_bid
from pdqs.protocol.device_messages import Bid, BidReceipt
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType, UnprocessableError


def put(town: Town, owner: User, found: Round, price: int, replaces: int | None = None) -> BidReceipt:
    bid = Bid(terms_hash=found.terms_hash or "", bid_micros=price, replaces=replaces)
    return round_steps.place_bid(town.market, owner, found.round_id, bid)


def kept(town: Town, owner: User, found: Round) -> int:
    return offer_access.bid(town.market, owner, found.round_id).bid_micros


def test_a_bid_changes_and_the_changed_one_is_cleared_and_shown_in_the_tree(either_town: Town) -> None:
    town = either_town
    ann, bea, _ = town.add_owners(3)
    found = town.open_round()
    town.bid_all(found)
    first = offer_access.bid(town.market, ann, found.round_id)
    changed = put(town, ann, found, 700_000, replaces=first.placed_at_ms)
    assert (changed.bid_micros, kept(town, ann, found)) == (700_000, 700_000)
    assert changed.placed_at_ms > first.placed_at_ms, "a receipt's time names one bid, though the clock stood still"
    withdraw_bid(town.market, bea, found.round_id)
    town.clock.advance(found.plan.bid_seconds)
    cleared = round_steps.clear_round(town.market, town.consumer, found.round_id)
    assert cleared.bids == 2
    assert cleared.bids_root is not None
    assert cleared.bids_root.bids == 2
    offer = offer_access.offer(town.market, ann, found.round_id)  # whose proof is made over the bids as they stand
    assert offer.lots is not None
    with pytest.raises(NotFoundError):
        offer_access.offer(town.market, bea, found.round_id)


def test_a_change_that_is_sent_twice_changes_once(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    first = put(town, ann, found, 1)
    once, twice = (put(town, ann, found, 2, replaces=first.placed_at_ms) for _ in range(2))
    assert once == twice


def test_a_request_that_comes_late_does_not_undo_what_came_after_it(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    first = put(town, ann, found, 1)
    second = put(town, ann, found, 2, replaces=first.placed_at_ms)
    third = put(town, ann, found, 1, replaces=second.placed_at_ms)
    for late in (None, first.placed_at_ms):
        with pytest.raises(ConflictError) as refused:
            put(town, ann, found, 2, replaces=late)
        assert refused.value.type is ProblemType.BID_STANDS
    with pytest.raises(ConflictError):
        withdraw_bid(town.market, ann, found.round_id, first.placed_at_ms)
    assert offer_access.bid(town.market, ann, found.round_id) == third


def test_nothing_changes_once_bids_are_closed(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    first = put(town, ann, found, 1)
    town.clock.advance(found.plan.bid_seconds)
    with pytest.raises(ConflictError, match="yours stands"):
        put(town, ann, found, 2, replaces=first.placed_at_ms)
    with pytest.raises(ConflictError, match="yours stands"):
        withdraw_bid(town.market, ann, found.round_id)
    assert kept(town, ann, found) == 1


def test_only_her_own_bid_and_only_within_the_range(town: Town) -> None:
    ann, bea = town.add_owners(2)
    found = town.open_round()
    first = put(town, ann, found, 1)
    with pytest.raises(NotFoundError):
        put(town, bea, found, 2, replaces=first.placed_at_ms)
    withdraw_bid(town.market, bea, found.round_id, first.placed_at_ms)
    with pytest.raises(UnprocessableError):
        put(town, ann, found, 2_000_000, replaces=first.placed_at_ms)
    assert kept(town, ann, found) == 1


def test_who_withdrew_may_bid_again(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    put(town, ann, found, 1)
    withdraw_bid(town.market, ann, found.round_id)
    assert put(town, ann, found, 5).bid_micros == 5
