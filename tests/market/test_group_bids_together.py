"""Bids in a round for some groups are kept with others too, of whoever is in one of them at that moment."""

from __future__ import annotations

import pytest

from market.test_bids_together import first, kept, message, said_to_the_database
from market.town import Town
from pdqs.market import bidding, groups
from pdqs.market.bids_together import first_bid, keep_together
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import NotFoundError, UnprocessableError


def put(town: Town, owner: User, *names: str) -> None:
    groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=list(names)))


def round_for_nurses(town: Town) -> tuple[list[User], Round]:
    """Six nurses, one of whom drives too, five drivers besides, and a round for both groups."""
    owners = town.add_owners(11)
    for owner in owners[:6]:
        put(town, owner, "Nurses")
    put(town, owners[5], "Nurses", "Drivers")
    for owner in owners[6:]:
        put(town, owner, "Drivers")
    return owners, town.open_round("for-some-alone-1", groups=["Nurses", "Drivers"])


def test_a_crowd_of_a_groups_round_is_kept_in_one_transaction(either_town: Town) -> None:
    town = either_town
    owners, found = round_for_nurses(town)
    bidding.place_bid(town.market, owners[0], found.round_id, message(found, 5))  # its terms are known here now
    waiting = [first_bid(town.market, owner, found.round_id, message(found, 5), 0) for owner in owners[1:]]
    assert waiting == [first(owner, found) for owner in owners[1:]], "whoever bids there needs nothing else"
    with said_to_the_database(town) as said:
        placed = keep_together(town.market, [one for one in waiting if one])
    assert all(placed)
    assert kept(town, found) == dict.fromkeys((owner.user_id for owner in owners), 5)
    assert (said.count("COMMIT") if town.market.store.dialect == "sqlite" else len(said)) == 1


def test_in_a_batch_too_nobody_bids_whom_a_round_is_not_for(either_town: Town) -> None:
    town = either_town
    owners, found = round_for_nurses(town)
    (stranger,) = town.add_owners(1)
    (elsewhere,) = town.add_owners(1)
    put(town, elsewhere, "Pilots")
    put(town, owners[0])  # taken out after it opened
    batch = [stranger, owners[0], elsewhere, owners[1]]
    placed = keep_together(town.market, [first(one, found) for one in batch])
    assert [bool(at) for at in placed] == [False, False, False, True]
    assert kept(town, found) == {owners[1].user_id: 5}
    for one in batch[:3]:
        with pytest.raises(NotFoundError, match="that you can see"):
            bidding.place_bid(town.market, one, found.round_id, message(found, 5))
        with pytest.raises(NotFoundError, match="that you can see"):  # whatever else is wrong with it
            bidding.place_bid(town.market, one, found.round_id, message(found, 10**9))
    put(town, stranger, "Drivers")
    assert keep_together(town.market, [first(stranger, found)]) == [town.clock()], "and who comes to be in one may"


def test_who_is_taken_out_keeps_her_bid_and_makes_no_new_one_once_it_is_withdrawn(either_town: Town) -> None:
    town = either_town
    owners, found = round_for_nurses(town)
    ann = owners[0]
    receipt = bidding.place_bid(town.market, ann, found.round_id, message(found, 5))
    put(town, ann)
    assert keep_together(town.market, [first(ann, found)]) == [0], "it is there already"
    assert bidding.place_bid(town.market, ann, found.round_id, message(found, 5)) == receipt
    with pytest.raises(UnprocessableError):
        bidding.place_bid(
            town.market,
            ann,
            found.round_id,
            message(found, 10**9).model_copy(update={"replaces": receipt.placed_at_ms}),
        )
    gone = bidding.withdraw_bid(town.market, ann, found.round_id)
    assert keep_together(town.market, [first(ann, found, after=gone.withdrawn_at_ms)]) == [0]
    with pytest.raises(NotFoundError, match="that you can see"):
        bidding.place_bid(town.market, ann, found.round_id, message(found, 5), gone.withdrawn_at_ms)
