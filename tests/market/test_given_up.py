"""Money that somebody gives up when her name is erased is no longer owed, and the books say where it is."""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import text

from market.owing import batch_of, by_hand, confirmed, earn, open_ones, owe, reference_of
from market.town import Town
from pdqs.market import looking_up, overpaid, own_data, payout_confirmations, reads
from pdqs.market.store import migrate
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError


def _given_up(town: Town) -> int:
    """What stands in the trial balance as given up."""
    books = reads.trial_balance(town.market, town.operator)
    assert books.balanced
    return {line.account: line.balance_micros for line in books.lines}["given-up"]


def _owed(town: Town) -> list[int]:
    listed = reads.payables(town.market, town.operator).items
    assert listed == looking_up.payables_like(town.market, town.operator).items
    return [one.balance_micros for one in listed]


def test_what_an_erased_owner_gave_up_is_owed_no_more_and_stands_in_the_trial_balance(either_town: Town) -> None:
    town = either_town
    owner, _other = owe(town, [2_000_000, 3_000_000])
    with pytest.raises(ConflictError, match="still yours"):
        own_data.erase(town.market, owner, Erasure())
    assert (_owed(town), _given_up(town)) == ([2_000_000, 3_000_000], 0)
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    assert (_owed(town), _given_up(town)) == ([3_000_000], 2_000_000)
    kinds = [line.kind for line in looking_up.journal_page(town.market, town.operator).items]
    assert kinds.count("given-up") == 1


def test_what_she_would_give_up_is_said_in_the_money_of_the_market(town: Town) -> None:
    (owner,) = owe(town, [2_345_000])
    settings = dataclasses.replace(town.market.settings, currency="EUR", decimal_mark=",")
    market = dataclasses.replace(town.market, settings=settings)
    with pytest.raises(ConflictError, match=r"^2,345 EUR is still yours"):
        own_data.erase(market, owner, Erasure())


def test_what_a_consumer_gave_up_stands_there_too(town: Town) -> None:
    held = town.balance(town.consumer)
    own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True))
    assert (held > 0, _given_up(town), town.balance(town.consumer)) == (True, held, 0)


def test_what_a_provider_had_been_asked_for_before_and_paid_is_taken_from_what_she_gave_up(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [2_000_001])
    batch_id, told = batch_of(town)
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    confirmed(town, batch_id, told)
    assert (_owed(town), open_ones(town), _given_up(town)) == ([], [], 1)
    confirmed(town, batch_id, told)
    assert _given_up(town) == 1, "read again, it changes nothing"
    overpaid.came_back(town.market, town.operator, told.splitlines()[1].split(",")[0])
    assert (_owed(town), _given_up(town)) == ([], 2_000_001), "it did not stay paid: given up as before"


def test_of_what_she_gave_up_no_more_is_entered_as_paid_than_there_is(town: Town) -> None:
    owner, _other = owe(town, [2_000_000, 5_000_000])
    batch_id, told = batch_of(town)
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    found = payout_confirmations.preview(town.market, town.operator, batch_id, told)
    assert (found.paid_micros, found.entered_micros) == (7_000_000, 7_000_000)
    confirmed(town, batch_id, told)
    assert (_owed(town), _given_up(town)) == ([], 0)


def test_an_erased_owners_payout_is_undone_and_entered_as_often_as_the_provider_changes_its_mind(
    either_town: Town,
) -> None:
    town = either_town
    owner, other = owe(town, [2_000_000, 3_000_000])
    batch_id, told = batch_of(town)
    reference = told.splitlines()[1].split(",")[0]
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    hers_failed = told.replace("paid,2.00", "failed,2.00")
    for _ in range(3):
        confirmed(town, batch_id, told)
        if open_ones(town):  # it was undone before, and so an operator says that she has it
            overpaid.enter(town.market, town.operator, reference)
        assert (_owed(town), open_ones(town), _given_up(town)) == ([], [], 0)
        payout_confirmations.confirm_batch(town.market, town.operator, batch_id, hers_failed, came_back=True)
        assert (_owed(town), open_ones(town), _given_up(town)) == ([], [], 2_000_000)
    confirmed(town, batch_id, told)
    overpaid.came_back(town.market, town.operator, reference)
    assert (open_ones(town), _given_up(town)) == ([], 2_000_000), "told as paid, and never entered: nothing to undo"
    assert town.balance(other) == 0


def test_what_she_gave_up_is_set_against_what_she_was_paid_too_much(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, told = batch_of(town)
    by_hand(town, owner, 4_000_000)
    confirmed(town, batch_id, told)
    earn(town, {owner.user_id: 3_000_000}, "later")
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    reference = reference_of(town)
    assert overpaid.one_overpaid(town.market, town.operator, reference).given_up_micros == 3_000_000
    assert overpaid.enter(town.market, town.operator, reference).over_micros == 1_000_000
    assert (_owed(town), _given_up(town)) == ([], 0)
    overpaid.came_back(town.market, town.operator, reference)
    assert (_owed(town), open_ones(town), _given_up(town)) == ([], [], 3_000_000)


def test_what_was_given_up_before_there_was_such_an_account_is_moved_there(either_town: Town) -> None:
    town = either_town
    owner, other = owe(town, [2_000_000, 3_000_000])
    own_data.erase(town.market, owner, Erasure(forgo_balance=True))
    migrate.downgrade(town.market.store, "0016")
    with town.market.store.read() as connection:
        kept = connection.execute(text("SELECT account, balance_micros FROM accounts WHERE kind = 'owner'")).all()
    assert {row.account: row.balance_micros for row in kept} == {
        f"owner:{owner.user_id}": 2_000_000,
        f"owner:{other.user_id}": 3_000_000,
    }
    migrate.upgrade(town.market.store)
    assert (_owed(town), _given_up(town)) == ([3_000_000], 2_000_000)
