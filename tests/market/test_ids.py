"""Ids of people: nobody can tell them from what made them, and what made them still stands for the same people."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.owing import owe
from market.town import Town
from pdqs.market import Market, invitations, payouts, people
from pdqs.market.idempotency import derived_id
from pdqs.market.store import migrate
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import users
from pdqs.market.store.sql import insert_many
from pdqs.protocol.market_messages import NewUser, User
from pdqs.protocol.operator_messages import NewUsers
from pdqs.protocol.problems import ConflictError

KEY = "staff-list-2026"
STAFF = NewUsers(role="owner", names=["Ann", "Bob", "Cleo"])


def new_market(path: Path) -> Market:
    store = open_store(f"sqlite:///{path}")
    migrate.upgrade(store)
    return Market(store=store)


def test_whoever_guesses_the_key_of_a_list_does_not_know_who_is_who_in_a_record(tmp_path: Path) -> None:
    markets = [new_market(tmp_path / name) for name in ("one.db", "other.db")]
    operators = [people.first_operator(market).user for market in markets]
    assert operators[0].user_id != operators[1].user_id
    for market, operator in zip(markets, operators, strict=True):
        single = people.register_user(market, operator, NewUser(role="owner", name="Dora"), KEY).user.user_id
        listed = [one.user.user_id for one in invitations.register_many(market, operator, STAFF, KEY).items]
        guessed = [derived_id("u", operator, key) for key in (KEY, *(f"{KEY}|{place}" for place in range(3)))]
        assert len({single, *listed, *guessed}) == 8
        assert all(len(user_id) == len(guessed[0]) for user_id in (single, *listed))
    for market in markets:
        market.store.close()


def test_the_same_key_stands_for_the_same_people(town: Town) -> None:
    one = [people.register_user(town.market, town.operator, NewUser(role="owner", name="Dora"), KEY) for _ in "12"]
    assert one[0].user == one[1].user
    many = [invitations.register_many(town.market, town.operator, STAFF, KEY).items for _ in "12"]
    assert [each.user for each in many[0]] == [each.user for each in many[1]]
    elsewhere = Market(store=town.market.store)  # another process, which reads the secret that there is
    again = invitations.register_many(elsewhere, town.operator, STAFF, KEY).items
    assert [each.user.user_id for each in again] == [each.user.user_id for each in many[0]]


def test_a_market_from_before_there_was_a_secret_keeps_its_people(tmp_path: Path) -> None:
    market = new_market(tmp_path / "before.db")
    server = people.the_server()
    first = User(user_id=derived_id("u", server, "first-operator"), role="operator", name="operator", created_at_ms=1)
    staff = [
        User(user_id=derived_id("u", first, f"{KEY}|{place}"), role="owner", name=name, created_at_ms=1)
        for place, name in enumerate(STAFF.names)
    ]
    with market.store.write() as connection:
        insert_many(connection, users, [user.model_dump() for user in (first, *staff)])
    assert people.first_operator(market).user == first
    assert people.is_first_operator(market, first.user_id)
    again = invitations.register_many(market, first, STAFF, KEY).items
    assert [each.user for each in again] == staff
    with pytest.raises(ConflictError, match="used before"):
        invitations.register_many(market, first, NewUsers(role="owner", names=[*STAFF.names, "Dan"]), KEY)
    market.store.close()


def test_a_payout_is_called_by_nothing_that_tells_whom_it_is_for(town: Town) -> None:
    """A provider, or whoever sees a bank's lines, who has a record too would know name, bid and report."""
    owe(town, [4_000_000, 3_000_000])
    batch_id = payouts.make_batch(town.market, town.operator, "the-batch-1").batch_id
    assert payouts.make_batch(town.market, town.operator, "the-batch-1").batch_id == batch_id
    with town.market.store.read() as connection:
        lines = payouts.lines_of(connection, batch_id, held=False)
    assert len(lines) == 2
    for owner in town.owners:
        assert not [reference for reference in lines if owner.user_id[2:] in reference]
