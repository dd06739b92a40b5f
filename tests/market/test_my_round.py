"""What an owner is told of a round in one answer is what its routes tell one by one, at every moment of its life."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from market.question_rounds import start
from market.town import Town
from pdqs.market import bidding, groups, offer_access, own_data, reads, round_steps
from pdqs.market.retention import purge_due
from pdqs.protocol.device_messages import Bid, Message
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import ForbiddenError, NotFoundError, ProblemType


def told(ask: Callable[[], Message], missing: ProblemType) -> Message | None:
    try:
        return ask()
    except NotFoundError as fault:
        if fault.type is not missing:
            raise
        return None


def same(town: Town, found: Round, owner: User) -> set[str]:
    """Hold the one answer against the many; the parts that there are."""
    market, round_id = town.market, found.round_id
    mine, me = offer_access.my_round(market, owner, round_id), reads.me(market, owner)
    assert (mine.owner_id, mine.reports_made) == (me.user.user_id, me.reports_made)
    assert mine.notice == reads.notice(market, owner, round_id)
    assert mine.bid == told(lambda: offer_access.bid(market, owner, round_id), ProblemType.NO_BID)
    assert mine.offer == told(lambda: offer_access.offer(market, owner, round_id), ProblemType.NO_OFFER)
    assert mine.report == told(lambda: offer_access.report(market, owner, round_id), ProblemType.NO_REPORT)
    return {name for name in ("bid", "offer", "report") if getattr(mine, name) is not None}


def test_of_a_count_from_its_opening_until_it_is_purged(either_town: Town) -> None:
    town = either_town
    ann, gone, *_ = town.add_owners(12)
    (absent,) = town.add_owners(1)
    town.owners.remove(absent)
    found = town.open_round()
    assert same(town, found, ann) == set()
    town.bid_all(found)
    first = offer_access.bid(town.market, ann, found.round_id)
    assert same(town, found, ann) == {"bid"}
    change = Bid(terms_hash=found.terms_hash or "", bid_micros=7, replaces=first.placed_at_ms)
    bidding.place_bid(town.market, ann, found.round_id, change)
    bidding.withdraw_bid(town.market, gone, found.round_id)
    assert (same(town, found, ann), same(town, found, gone)) == ({"bid"}, set())
    left = own_data.export(town.market, gone).withdrawals[0].withdrawn_at_ms
    told_of = [offer_access.my_round(town.market, owner, found.round_id).withdrawn_at_ms for owner in (ann, gone)]
    assert told_of == [0, left]
    town.clock.advance(found.plan.bid_seconds)
    assert same(town, found, ann) == {"bid"}, "closed, and not yet cleared"
    round_steps.clear_round(town.market, town.consumer, found.round_id)
    assert (same(town, found, ann), same(town, found, gone)) == ({"bid", "offer"}, set())
    town.owners.remove(gone)
    asked = town.asked(found)
    for owner in asked[1:]:
        town.report(owner, found, 1)
    assert [same(town, found, owner) for owner in asked[:2]] == [{"bid", "offer"}, {"bid", "offer", "report"}]
    town.clock.advance(found.plan.report_seconds)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    assert same(town, found, asked[1]) == {"bid", "offer", "report"}
    assert same(town, found, absent) == set()
    town.clock.advance(400 * 86_400)
    assert purge_due(town.market) == [found.round_id]
    assert same(town, found, asked[1]) == set()


def test_of_a_round_that_is_cancelled(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.cleared_round()
    assert reads.notice(town.market, ann, found.round_id).state == "cancelled"
    assert same(town, found, ann) == {"bid"}


def test_of_a_median_in_every_stage(town: Town) -> None:
    played = start(town, "median", owners=60, epsilon_max=2.0, bid_high_micros=200_000)
    seen: set[int] = set()
    for _ in range(2 * played.found.asked.stages + 2):
        played.report(silent=1)
        for owner in town.owners:
            assert "offer" in same(town, played.found, owner)
        seen.add(len(played.now().stages))
        town.clock.advance(played.found.plan.report_seconds)
        round_steps.advance_due(town.market)
    assert played.now().state == "settled"
    assert len(seen) > 1


def test_nobody_is_told_of_a_round_that_is_not_for_her_or_of_one_that_is_a_draft(either_town: Town) -> None:
    town = either_town
    *nurses, other = town.add_owners(9)
    for owner in nurses:
        groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
    found = town.open_round(groups=["Nurses"])
    town.bid(nurses[0], found, 5)
    groups.put_in_groups(town.market, town.operator, nurses[0].user_id, GroupNames(groups=[]))
    groups.put_in_groups(town.market, town.operator, nurses[1].user_id, GroupNames(groups=[]))
    assert same(town, found, nurses[0]) == {"bid"}, "whoever has bid stays in"
    draft = round_steps.draft_round(town.market, town.consumer, found.plan, "a-draft-of-a-test")
    for owner, round_id in ((other, found.round_id), (nurses[1], found.round_id), (nurses[2], draft.round_id)):
        with pytest.raises(NotFoundError) as hidden:
            offer_access.my_round(town.market, owner, round_id)
        with pytest.raises(NotFoundError) as missing:
            offer_access.my_round(town.market, owner, "r_" + "0" * 24)
        assert hidden.value.type is missing.value.type is ProblemType.NO_ROUND
        assert str(hidden.value).replace(round_id, "") == str(missing.value).replace("r_" + "0" * 24, "")
    bidding.withdraw_bid(town.market, nurses[0], found.round_id)
    with pytest.raises(NotFoundError):
        offer_access.my_round(town.market, nurses[0], found.round_id)
    for actor in (town.consumer, town.operator):
        with pytest.raises(ForbiddenError):
            offer_access.my_round(town.market, actor, found.round_id)
