"""People of one name have a mark each, people of their own name have none, and a mark finds its person."""

from __future__ import annotations

from market.town import Town
from pdqs.market import own_data
from pdqs.market.invitations import register_many
from pdqs.market.looking_up import people_like
from pdqs.market.namesakes import called, mark_of, marks, named
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.own_data import Erasure


def test_only_people_of_one_name_are_marked_whoever_else_is_on_the_list(either_town: Town) -> None:
    town = either_town
    new = NewUsers(role="owner", names=["Ann", "Bo", "Ann", "ann"])
    first, bo, second, small = (one.user for one in register_many(town.market, town.operator, new, "the-list-01").items)
    with town.market.store.read() as connection:
        assert marks(connection, named([first, bo, second, small], [town.operator])) == {
            first.user_id: mark_of(first.user_id),
            second.user_id: mark_of(second.user_id),
        }
        assert marks(connection, []) == {}
        assert called(connection, first.user_id, first.name) == f"Ann ({first.user_id[-6:]})", "though alone on a list"
        assert called(connection, bo.user_id, bo.name) == "Bo"
    assert [one.user_id for one in people_like(town.market, town.operator, mark_of(second.user_id)).items] == [
        second.user_id
    ]
    assert people_like(town.market, town.operator, mark_of(second.user_id)[1:]).items == [], "the whole mark"


def test_people_who_were_erased_are_told_apart_too(either_town: Town) -> None:
    town = either_town
    gone = [own_data.erase(town.market, owner, Erasure()) for owner in town.add_owners(2)]
    with town.market.store.read() as connection:
        assert set(marks(connection, named(gone))) == {one.user_id for one in gone}
