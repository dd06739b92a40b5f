"""Payouts that were undone before, in whole or in part: nothing of them is paid twice, and nothing is stranded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from market.owing import (
    batch_of,
    by_hand,
    confirmed,
    earn,
    open_ones,
    owe,
    owed,
    partly_beyond,
    reference_of,
    standing_payouts,
)
from market.town import Town
from pdqs.market import ledger, overpaid, payout_confirmations, payout_undoing, payouts, reversals, transfers
from pdqs.market.store import migrate
from pdqs.protocol.problems import ConflictError


def mirrored_alone(town: Town, reference: str) -> None:
    """Undo what was entered first of a payout and leave the rest, as the ledger once did; then migrate."""
    with town.market.store.write() as connection:
        reversals.mirror(connection, payout_undoing.transaction_of(reference), town.clock())
    migrate.downgrade(town.market.store, "0014")
    migrate.upgrade(town.market.store)


@pytest.mark.parametrize("way", ["by the file", "by its reference"])
def test_of_a_payout_that_was_undone_in_part_before_payouts_remembered_it_the_rest_is_undone_too(
    either_town: Town, way: str
) -> None:
    town = either_town
    _, batch_id, text = partly_beyond(town)
    reference = reference_of(town)
    mirrored_alone(town, reference)
    assert (open_ones(town), owed(town)) == ([("owner 1", 3_000_000, 2_000_000)], [2_000_000])
    if way == "by the file":
        failed = text.replace("paid", "failed")
        (told,) = confirmed(town, batch_id, failed).remarks
        assert (told.why, told.entered_micros, told.over_micros) == ("failed-after-all", 1_000_000, 3_000_000)
        payout_confirmations.confirm_batch(town.market, town.operator, batch_id, failed, came_back=True)
    else:
        overpaid.came_back(town.market, town.operator, reference)
    assert (open_ones(town), owed(town)) == ([], [3_000_000]), "she has earned five and was paid two by hand"
    assert payouts.make_batch(town.market, town.operator, "the-batch-2").waiting_micros == 3_000_000
    assert town.balanced()


def test_of_a_payout_that_was_undone_in_part_and_paid_all_the_same_the_rest_is_taken_off_again(
    either_town: Town,
) -> None:
    town = either_town
    _, batch_id, text = partly_beyond(town)
    reference = reference_of(town)
    mirrored_alone(town, reference)
    assert confirmed(town, batch_id, text).remarks == [], "it is kept apart, and waits for a word, already"
    assert overpaid.enter(town.market, town.operator, reference).over_micros == 1_000_000
    assert (open_ones(town), owed(town)) == ([("owner 1", 1_000_000, 0)], [0]), "as before it was undone"
    assert town.balanced()


def test_a_payout_that_was_undone_in_part_is_seen_though_all_that_was_beyond_had_been_taken_off(
    either_town: Town,
) -> None:
    town = either_town
    owner, *_ = partly_beyond(town)
    reference = reference_of(town)
    earn(town, {owner.user_id: 1_000_000}, "the rest")
    assert overpaid.enter(town.market, town.operator, reference).over_micros == 0
    mirrored_alone(town, reference)
    assert open_ones(town) == [("owner 1", 2_000_000, 2_000_000)]
    with pytest.raises(ConflictError, match="nobody is owed"):
        payouts.make_batch(town.market, town.operator, "too-early-1")
    overpaid.came_back(town.market, town.operator, reference)
    assert (open_ones(town), owed(town), town.balanced()) == ([], [4_000_000], True)


def test_what_was_taken_off_after_a_payout_was_undone_cannot_be_undone_by_itself_either(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    confirmed(town, batch_id, text)
    transfers.reverse(town.market, town.operator, standing_payouts(town)[0])
    by_hand(town, owner, 4_000_000)
    confirmed(town, batch_id, text)  # she has it twice
    earn(town, {owner.user_id: 4_000_000}, "later")
    overpaid.enter(town.market, town.operator, reference_of(town))
    (taken_off,) = [name for name in standing_payouts(town) if payout_undoing.is_taking_off(name)]
    with pytest.raises(ConflictError, match="paid already: it cannot be undone"):
        transfers.reverse(town.market, town.operator, taken_off)
    assert (owed(town), town.balanced()) == ([0], True), "she has earned eight and holds eight"


@contextmanager
def values_sent(town: Town) -> Iterator[list[int]]:
    """How many values each statement was sent with."""
    sent: list[int] = []

    def heard(*told: object) -> None:
        values = told[3]
        sent.append(len(values) if isinstance(values, (tuple, dict)) else 0)

    engine = town.market.store.engine
    event.listen(engine, "before_cursor_execute", heard)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", heard)


def test_a_statement_about_a_payout_is_no_longer_for_all_the_payouts_before_it(either_town: Town) -> None:
    """A database takes only so many values at once, and owners are paid for years."""
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    confirmed(town, batch_id, text)
    account = ledger.account_of("owner", owner.user_id)
    earn(town, {owner.user_id: 200}, "small ones")
    with town.market.store.write() as connection:
        for number in range(200):
            name = payout_undoing.transaction_of(f"p_{number:036x}")
            amounts = {account: -1, ledger.WORLD: 1}
            ledger.post(connection, ledger.Entry(transaction_id=name, kind="payout", at_ms=1, amounts=amounts))
    with values_sent(town) as sent:
        (told,) = confirmed(town, batch_id, text.replace("paid", "failed")).remarks
    assert (told.why, told.entered_micros) == ("failed-after-all", 4_000_000)
    assert 0 < max(sent) < 50


def test_more_entries_than_a_statement_takes_are_looked_at_in_portions(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    entry = by_hand(town, owner, 4_000_000)
    transfers.reverse(town.market, town.operator, entry)
    names = [f"payout:p_{number:036x}" for number in range(70_000)]
    with town.market.store.read() as connection:
        assert reversals.undone_among(connection, [*names, entry]) == {entry}
