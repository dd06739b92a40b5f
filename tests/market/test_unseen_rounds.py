"""A round for a group is to everyone outside it what a round is that there is not, whatever she asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from market.town import Town
from pdqs.market import bidding, groups, offer_access, reads, records, round_steps
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import MarketError

NONE = f"r_{'0' * 24}"


def refusal(step: Callable[[str], object], round_id: str) -> tuple[object, str]:
    """What is said to her, but for the id that she asked about."""
    with pytest.raises(MarketError) as refused:
        step(round_id)
    return refused.value.type, str(refused.value).replace(round_id, "it")


def steps(town: Town, owner: User, terms_hash: str) -> dict[str, Callable[[str], object]]:
    """All that an owner can ask of a round, by its id."""
    market = town.market
    bid = Bid(terms_hash=terms_hash, bid_micros=1)
    again = Bid(terms_hash=terms_hash, bid_micros=1, replaces=5)
    return {
        "its notice": lambda one: reads.notice(market, owner, one),
        "her part in it": lambda one: offer_access.my_round(market, owner, one),
        "her bid": lambda one: offer_access.bid(market, owner, one),
        "her offer": lambda one: offer_access.offer(market, owner, one),
        "her report": lambda one: offer_access.report(market, owner, one),
        "its record": lambda one: records.record(market, owner, one),
        "a bid": lambda one: bidding.place_bid(market, owner, one, bid),
        "another bid": lambda one: bidding.place_bid(market, owner, one, again),
        "a withdrawal": lambda one: bidding.withdraw_bid(market, owner, one, 0),
        "a report": lambda one: bidding.submit_report(market, owner, one, Report(terms_hash=terms_hash, code=0)),
    }


@pytest.mark.parametrize("state", ["open", "reporting"])
def test_whoever_is_outside_cannot_tell_it_from_none(either_town: Town, state: str) -> None:
    town = either_town
    *nurses, outside = town.add_owners(9)
    for owner in nurses:
        groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
    found = town.open_round("for-nurses-01", groups=["Nurses"])
    if state == "reporting":
        for owner in nurses:
            town.bid(owner, found, 1000)
        town.clock.advance(found.plan.bid_seconds)
        found = round_steps.clear_round(town.market, town.consumer, found.round_id)
    assert found.state == state
    for what, step in steps(town, outside, found.terms_hash or "").items():
        assert refusal(step, found.round_id) == refusal(step, NONE), what
