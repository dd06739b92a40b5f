"""Fresh codes for many at once: for whom, what they end, and who is told to have made them."""

from __future__ import annotations

import pytest

from market.town import Town
from pdqs.market import access, fresh_codes, groups, invitations, people, restoring
from pdqs.market.deeds import deeds_page
from pdqs.market.fresh_codes import Whom
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.problems import MarketError, UnauthorizedError

ALL, NEVER = Whom(which="all"), Whom(which="never")


def _made(town: Town, whom: Whom) -> dict[str, str]:
    """Codes by user, in as many portions as there are."""
    found: dict[str, str] = {}
    for part in fresh_codes.portions(town.market, town.operator, whom):
        made = fresh_codes.make_codes(town.market, town.operator, whom, part.first, part.last)
        assert len(made.items) == part.people
        found |= {one.user.user_id: one.code for one in made.items}
    return found


def _counts(town: Town, whom: Whom) -> list[tuple[int, int]]:
    return [(part.people, part.signed_in) for part in fresh_codes.portions(town.market, town.operator, whom)]


def _come_in(town: Town, user: User) -> access.Session:
    code = people.renew_code(town.market, town.operator, user.user_id).code
    return access.redeem_for_session(town.market, code)


def _deeds(town: Town) -> list[tuple[str, str]]:
    return [(one.what, one.about) for one in deeds_page(town.market, town.operator).items]


def test_a_fresh_code_for_all_lets_each_in_and_ends_the_sessions_of_those_who_were(either_town: Town) -> None:
    town = either_town
    owners = town.add_owners(3)
    session = _come_in(town, owners[0])
    assert _counts(town, ALL) == [(4, 1)], "three owners and the consumer; no operator"
    made = _made(town, ALL)
    assert set(made) == {town.consumer.user_id, *(owner.user_id for owner in owners)}
    with pytest.raises(UnauthorizedError):
        access.session_of(town.market, session.cookie)
    for owner in owners:
        assert access.redeem(town.market, made[owner.user_id]) == owner
    assert _counts(town, ALL) == [(4, 0)]


def test_who_never_came_in_gets_a_code_and_who_has_stays_signed_in(either_town: Town) -> None:
    town = either_town
    first, second, third = town.add_owners(3)
    session = _come_in(town, first)
    people.disable_user(town.market, town.operator, third.user_id)
    made = _made(town, NEVER)
    assert (second.user_id in made, first.user_id in made, third.user_id in made) == (True, False, False)
    assert access.session_of(town.market, session.cookie).user.user_id == first.user_id
    with town.market.store.read() as connection:
        asked = [first.user_id, second.user_id]
        assert fresh_codes.never_came_in(connection, asked) == {second.user_id}


def test_a_group_gets_codes_and_nobody_else(town: Town) -> None:
    first, second = town.add_owners(2)
    groups.put_in_groups(town.market, town.operator, first.user_id, GroupNames(groups=["North"]))
    made = _made(town, Whom(which="group", group="North"))
    assert (first.user_id in made, second.user_id in made) == (True, False)


def test_more_than_fit_one_file_come_in_portions_that_leave_nobody_out(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_codes, "MOST_AT_ONCE", 3)
    town.add_owners(7)
    assert [people for people, _ in _counts(town, ALL)] == [3, 3, 2]
    assert len(_made(town, ALL)) == 8


def test_nobody_but_an_operator_makes_them(town: Town) -> None:
    (owner,) = town.add_owners(1)
    with pytest.raises(MarketError):
        fresh_codes.portions(town.market, owner, ALL)
    with pytest.raises(MarketError):
        fresh_codes.make_codes(town.market, owner, ALL, "", "z")
    with pytest.raises(MarketError, match="nobody is left"):
        fresh_codes.make_codes(town.market, town.operator, ALL, "x", "y")


def test_who_did_what_tells_of_codes_for_others_and_not_of_ones_own(town: Town) -> None:
    (owner,) = town.add_owners(1)
    town.clock.advance(1)
    people.renew_code(town.market, town.operator, owner.user_id)
    assert _deeds(town)[0] == ("code", owner.user_id)
    before = _deeds(town)
    people.renew_code(town.market, owner, owner.user_id)
    people.renew_code(town.market, town.operator, town.operator.user_id)
    assert _deeds(town) == before
    town.clock.advance(1)
    _made(town, ALL)
    assert _deeds(town)[0] == ("code", "2 people")


def test_who_did_what_tells_of_a_backup_that_was_put_back(town: Town) -> None:
    (owner,) = town.add_owners(1)
    people.renew_code(town.market, town.operator, owner.user_id)
    town.clock.advance(1)
    ended = restoring.end_every_sign_in(town.market)
    (what, about), actor = _deeds(town)[0], deeds_page(town.market, town.operator).items[0].actor_name
    assert (what, about, actor) == ("restored", f"{ended} people", "the server itself")


def test_one_person_let_in_by_a_list_is_told_by_her_name(town: Town) -> None:
    town.clock.advance(1)
    new = NewUsers(role="owner", names=["Single"])
    made = invitations.register_many(town.market, town.operator, new, "one-of-a-list")
    assert _deeds(town)[0] == ("invited", made.items[0].user.user_id)
