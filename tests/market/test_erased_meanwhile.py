"""Whose name is erased while a batch is made or told of: it comes out as if one had been after the other."""

from __future__ import annotations

from contextlib import suppress

import pytest

from market.meanwhile import Held, meanwhile
from market.owing import batch_of, confirmed, open_ones, owe, standing_payouts
from market.town import Town
from pdqs.market import access, groups, own_data, payout_confirmations, payout_undoing, payouts, reads
from pdqs.market.store.sql import insert_many
from pdqs.protocol.groups import GroupNames
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError


@pytest.mark.parametrize("first", ["batch", "erasure"])
def test_who_is_erased_while_a_batch_is_made_does_not_wait_in_it(
    far_town: Town, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = far_town
    owner, other = owe(town, [4_000_000, 3_000_000])

    def make() -> object:
        return payouts.make_batch(town.market, town.operator, "the-batch-1")

    def erase() -> object:
        return own_data.erase(town.market, owner, Erasure(forgo_balance=True))

    if first == "batch":  # it has looked whom it holds, and has not written it yet
        held = Held(insert_many)
        monkeypatch.setattr(payouts, "insert_many", held)
        meanwhile(held, make, erase)
    else:  # her name is gone, but not for others to see
        held = Held(access.end_all)
        monkeypatch.setattr(access, "end_all", held)
        meanwhile(held, erase, make)
    with town.market.store.read() as connection:
        waiting = payouts.on_their_way(connection, [owner.user_id, other.user_id])
    assert waiting == {other.user_id: payouts.OnItsWay(waiting_micros=3_000_000)}
    assert town.balanced()


@pytest.mark.parametrize("first", ["confirmation", "erasure"])
@pytest.mark.parametrize("is_called_off", [False, True], ids=["waiting", "called off"])
def test_who_is_erased_while_her_payment_is_told_of_was_paid_what_she_was_owed(
    far_town: Town, first: str, is_called_off: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = far_town
    (owner,) = owe(town, [2_000_000])
    batch_id, told = batch_of(town)
    if is_called_off:
        payouts.call_off(town.market, town.operator, batch_id)

    def confirm() -> object:
        return confirmed(town, batch_id, told)

    def erase() -> object:
        return own_data.erase(town.market, owner, Erasure(forgo_balance=True))

    if first == "confirmation":  # it holds what it judges by
        held = Held(payout_undoing.standing)
        monkeypatch.setattr(payout_confirmations, "standing", held)
        meanwhile(held, confirm, erase)
    else:  # what is owed to her is given up, but not for others to see
        held = Held(access.end_all)
        monkeypatch.setattr(access, "end_all", held)
        meanwhile(held, erase, confirm)
    books = reads.trial_balance(town.market, town.operator)
    assert books.balanced
    assert {line.account: line.balance_micros for line in books.lines}["given-up"] == 0
    assert open_ones(town) == []
    assert len(standing_payouts(town)) == 1


@pytest.mark.parametrize("first", ["group", "erasure"])
def test_who_is_erased_while_she_is_put_into_a_group_is_in_none(
    far_town: Town, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = far_town
    (owner,) = town.add_owners(1)
    groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Drivers"]))

    def put() -> object:
        with suppress(ConflictError):  # she is gone by then
            groups.put_in_groups(town.market, town.operator, owner.user_id, GroupNames(groups=["Nurses"]))
        return None

    def erase() -> object:
        return own_data.erase(town.market, owner, Erasure())

    if first == "group":  # she is out of the one, and not yet in the other
        held = Held(groups.add_members)
        monkeypatch.setattr(groups, "add_members", held)
        meanwhile(held, put, erase)
    else:  # her name is gone, but not for others to see
        held = Held(access.end_all)
        monkeypatch.setattr(access, "end_all", held)
        meanwhile(held, erase, put)
    assert groups.groups_of(town.market, town.operator, owner.user_id).groups == []
