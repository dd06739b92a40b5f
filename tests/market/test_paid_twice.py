"""Batches and what happens beside them: paid by hand, undone, called off, erased, told twice. Nothing is lost."""

from __future__ import annotations

import csv
import io
import threading

import pytest

from market.owing import (
    asked_for,
    batch_of,
    by_hand,
    confirmation,
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
from pdqs.market import deeds, overpaid, own_data, payout_confirmations, payouts, people, transfers
from pdqs.market.store import migrate
from pdqs.protocol.market_messages import User
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError, ForbiddenError, NotFoundError


def test_who_was_paid_by_hand_too_is_told_by_name_and_the_others_are_entered(either_town: Town) -> None:
    town = either_town
    owe(town, [4_000_000, 3_000_000, 2_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, town.owners[1], 1_000_000)
    seen = payout_confirmations.preview(town.market, town.operator, batch_id, text)
    assert (seen.paid, seen.paid_micros, seen.failed, seen.known) == (3, 9_000_000, 0, 0)
    assert seen.entered_micros == 8_000_000
    assert owed(town) == [4_000_000, 2_000_000, 2_000_000], "looking moves nothing"
    done = confirmed(town, batch_id, text)
    assert (done.waiting, done.paid, done.paid_micros, done.over_micros) == (0, 3, 9_000_000, 1_000_000)
    assert done.remarks == seen.remarks
    (told,) = done.remarks
    assert (told.row, told.name, told.why) == (3, "owner 2", "beyond")
    assert (told.amount_micros, told.entered_micros) == (3_000_000, 2_000_000)
    assert (told.over_micros, told.by_hand_micros) == (1_000_000, 1_000_000)
    assert owed(town) == [0, 0, 0]
    assert open_ones(town) == [("owner 2", 1_000_000, 0)]
    again = confirmed(town, batch_id, text)
    assert (again.remarks, again.over_micros, owed(town)) == ([], 1_000_000, [0, 0, 0]), "read again: nothing"
    assert payout_confirmations.preview(town.market, town.operator, batch_id, text).known == 3
    assert [one.over_micros for one in own_data.export(town.market, town.owners[1]).payouts] == [1_000_000]
    assert town.balanced()


def test_she_who_was_paid_too_much_is_in_no_batch_until_it_is_taken_off_what_she_earns(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, owner, 4_000_000)
    assert confirmed(town, batch_id, text).remarks[0].entered_micros == 0
    reference = reference_of(town)
    with pytest.raises(ConflictError, match="nothing is owed to owner 1 now"):
        overpaid.enter(town.market, town.operator, reference)
    for turn, (earned, left) in enumerate([(3_000_000, 1_000_000), (1_500_000, 0)]):
        earn(town, {owner.user_id: earned}, f"later-{turn}")
        with pytest.raises(ConflictError, match="nobody is owed"):
            payouts.make_batch(town.market, town.operator, f"another-batch-{turn}")
        assert overpaid.enter(town.market, town.operator, reference).over_micros == left
    assert overpaid.enter(town.market, town.operator, reference).over_micros == 0, "pressed once more: nothing"
    taken_off = [
        one.transaction_id
        for one in transfers.journal(town.market, town.operator).items
        if one.transaction_id.count(":") == 2
    ]
    assert taken_off
    with pytest.raises(ConflictError, match="paid already: it cannot be undone"):  # or she would be paid it again
        transfers.reverse(town.market, town.operator, taken_off[0])
    assert (open_ones(town), owed(town)) == ([], [500_000])
    assert payouts.make_batch(town.market, town.operator, "the-last-batch").waiting_micros == 500_000
    assert town.balanced()


def test_an_entry_by_hand_of_the_very_same_payment_is_undone_and_the_books_are_right(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    mistaken = by_hand(town, owner, 4_000_000)
    earn(town, {owner.user_id: 3_000_000}, "later")
    confirmed(town, batch_id, text)
    assert (open_ones(town), owed(town)) == ([("owner 1", 1_000_000, 0)], [0])
    transfers.reverse(town.market, town.operator, mistaken)
    assert overpaid.enter(town.market, town.operator, reference_of(town)).over_micros == 0
    assert owed(town) == [3_000_000], "she earned seven and was paid four"
    assert town.balanced()


def test_it_is_told_even_where_what_she_earned_since_covers_it(either_town: Town) -> None:
    town = either_town
    first, second = owe(town, [4_000_000, 4_000_000])
    batch_id, text = batch_of(town)
    for owner in (first, second):
        undone = by_hand(town, owner, 4_000_000, f"by-hand-{owner.user_id[-2:]}")
        earn(town, {owner.user_id: 5_000_000}, owner.user_id)
    transfers.reverse(town.market, town.operator, undone)
    (told,) = confirmed(town, batch_id, text).remarks
    assert (told.name, told.why, told.entered_micros, told.by_hand_micros) == (
        "owner 1",
        "by-hand",
        4_000_000,
        4_000_000,
    )
    assert (owed(town), open_ones(town), town.balanced()) == ([1_000_000, 5_000_000], [], True)


def test_what_was_let_be_keeps_its_amount_with_the_batch_and_the_deed_until_it_came_back(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, owner, 3_000_000)
    confirmed(town, batch_id, text)
    reference = reference_of(town)
    for _ in range(2):
        overpaid.let_be(town.market, town.operator, reference)
    (batch,) = payouts.batches_page(town.market, town.operator).items
    assert (batch.over_micros, batch.let_be_micros) == (0, 3_000_000)
    told = [one.amount_micros for one in deeds.deeds_page(town.market, town.operator).items if one.what == "let-be"]
    assert told == [3_000_000]
    overpaid.came_back(town.market, town.operator, reference)
    assert payouts.batches_page(town.market, town.operator).items[0].let_be_micros == 0


def test_what_is_paid_too_much_can_be_let_be_and_both_are_deeds(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, owner, 4_000_000)
    confirmed(town, batch_id, text)
    reference = reference_of(town)
    for _ in range(2):
        assert overpaid.let_be(town.market, town.operator, reference).over_micros == 0
    earn(town, {owner.user_id: 1_000_000}, "later")
    assert payouts.make_batch(town.market, town.operator, "another-batch").waiting == 1
    told = [(one.what, one.about_name) for one in deeds.deeds_page(town.market, town.operator).items]
    assert told.count(("let-be", "owner 1")) == 1
    for act in (overpaid.enter, overpaid.let_be):
        with pytest.raises(NotFoundError):
            act(town.market, town.operator, "p_" + "0" * 36)
        with pytest.raises(ForbiddenError):
            act(town.market, owner, reference)
    assert town.balanced()


def test_a_batch_that_is_called_off_is_owed_again_and_a_payment_that_comes_all_the_same_is_entered_and_told(
    either_town: Town,
) -> None:
    town = either_town
    owe(town, [4_000_000, 3_000_000])
    batch_id, text = batch_of(town)
    paid_one = "\n".join(text.splitlines()[:2])
    assert confirmed(town, batch_id, paid_one).waiting == 1, "a part of it"
    off = payouts.call_off(town.market, town.operator, batch_id)
    assert (off.waiting, off.paid, off.failed) == (0, 1, 1)
    assert payouts.call_off(town.market, town.operator, batch_id) == off
    told = [one.what for one in deeds.deeds_page(town.market, town.operator).items]
    assert told.count("called-off") == 1
    second = payouts.make_batch(town.market, town.operator, "the-batch-2")
    assert second.waiting_micros == 3_000_000
    late = confirmed(town, batch_id, text)
    assert [(one.name, one.why, one.entered_micros) for one in late.remarks] == [
        ("owner 2", "paid-after-all", 3_000_000)
    ]
    assert (late.paid, late.failed, owed(town)) == (2, 0, [0, 0])
    twice = confirmed(town, second.batch_id, confirmation(town, second.batch_id))
    assert [(one.why, one.over_micros) for one in twice.remarks] == [("beyond", 3_000_000)]
    assert (open_ones(town), town.balanced()) == ([("owner 2", 3_000_000, 0)], True)
    with pytest.raises(ForbiddenError):
        payouts.call_off(town.market, town.owners[0], batch_id)
    with pytest.raises(NotFoundError):
        payouts.call_off(town.market, town.operator, "b_none")


def test_a_payment_of_a_batch_that_is_undone_stays_undone_whatever_is_read_again(either_town: Town) -> None:
    town = either_town
    owe(town, [4_000_000, 3_000_000])
    batch_id, text = batch_of(town)
    confirmed(town, batch_id, text)
    failed = confirmed(town, batch_id, text.replace("paid", "failed"))
    assert [one.why for one in failed.remarks] == ["failed-after-all"] * 2, "told, and nothing undone by a file"
    assert (failed.paid, owed(town)) == (2, [0, 0])
    entry = next(
        line for line in transfers.journal(town.market, town.operator).items if line.user_id == town.owners[0].user_id
    )
    undone = transfers.reverse(town.market, town.operator, entry.transaction_id)
    assert transfers.reverse(town.market, town.operator, entry.transaction_id) == undone, "asked again: the same"
    for _ in range(2):  # whichever file that is, she says which, and it asks again the next time
        failed = confirmed(town, batch_id, text.replace("paid", "failed"))
        assert [one.name for one in failed.remarks] == ["owner 2"], "of owner 1 it is known"
        assert (failed.paid, failed.failed) == (1, 1)
        again = confirmed(town, batch_id, text)
        assert [(one.name, one.why, one.entered_micros) for one in again.remarks] == [("owner 1", "paid-again", 0)]
        assert confirmed(town, batch_id, text).remarks == [], "read again: nothing"
        assert (open_ones(town), owed(town)) == ([("owner 1", 4_000_000, 4_000_000)], [4_000_000, 0])
        assert overpaid.came_back(town.market, town.operator, reference_of(town)).over_micros == 0
        assert (open_ones(town), owed(town)) == ([], [4_000_000, 0])
    second, retold = batch_of(town, "the-batch-2")
    assert confirmed(town, second, retold).paid_micros == 4_000_000
    assert (owed(town), open_ones(town), town.balanced()) == ([0, 0], [], True)


@pytest.mark.parametrize("way", ["by the file", "by its reference", "on the ledger"])
def test_what_failed_after_all_and_was_partly_beyond_what_was_owed_is_undone_whole(either_town: Town, way: str) -> None:
    town = either_town
    owner, batch_id, text = partly_beyond(town)
    failed = text.replace("paid", "failed")
    (told,) = confirmed(town, batch_id, failed).remarks
    assert (told.why, told.entered_micros, told.over_micros) == ("failed-after-all", 3_000_000, 1_000_000)
    assert owed(town) == [0], "an old file says the same: nothing is undone unasked"
    entry = f"payout:{told.reference}"
    for _ in range(2):  # pressed once more: nothing
        if way == "by the file":
            done = payout_confirmations.confirm_batch(town.market, town.operator, batch_id, failed, came_back=True)
            assert done.remarks == []
        elif way == "by its reference":
            overpaid.came_back(town.market, town.operator, told.reference)
        else:
            transfers.reverse(town.market, town.operator, entry)
        assert (open_ones(town), owed(town)) == ([], [3_000_000]), "she has earned five and was paid two by hand"
        assert town.balanced()
    batch = payouts.batches_page(town.market, town.operator).items[0]
    assert (batch.paid, batch.failed, batch.over_micros) == (0, 1, 0)
    told_deeds = [one.what for one in deeds.deeds_page(town.market, town.operator).items]
    assert told_deeds.count("came-back") + told_deeds.count("reversal") == 1
    second, retold = batch_of(town, "the-batch-2")
    assert confirmed(town, second, retold).paid_micros == 3_000_000
    assert (owed(town), town.balanced()) == ([0], True)
    assert own_data.export(town.market, owner).balance_micros == 0


def test_of_a_payment_that_was_all_beyond_what_was_owed_nothing_is_owed_when_it_fails(either_town: Town) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    by_hand(town, owner, 4_000_000)
    confirmed(town, batch_id, text)
    failed = text.replace("paid", "failed")
    payout_confirmations.confirm_batch(town.market, town.operator, batch_id, failed, came_back=True)
    assert (open_ones(town), owed(town), town.balanced()) == ([], [0], True)
    assert [one.why for one in confirmed(town, batch_id, text).remarks] == ["paid-again"], "though nothing was entered"


@pytest.mark.parametrize("way", ["by the file", "by its reference"])
def test_what_was_undone_and_then_paid_on_a_later_attempt_is_not_paid_twice(either_town: Town, way: str) -> None:
    town = either_town
    (owner,) = owe(town, [4_000_000])
    batch_id, text = batch_of(town)
    confirmed(town, batch_id, text)
    (entry,) = standing_payouts(town)
    transfers.reverse(town.market, town.operator, entry)
    for attempt in range(2):  # and it may fail after that attempt too, and be paid by a third
        assert owed(town) == [4_000_000]
        assert payout_confirmations.preview(town.market, town.operator, batch_id, text).paid == 1, "it is news"
        assert confirmed(town, batch_id, text).over_micros == 4_000_000
        with pytest.raises(ConflictError, match="nobody is owed"):
            payouts.make_batch(town.market, town.operator, f"another-batch-{attempt}")
        reference = reference_of(town)
        assert overpaid.enter(town.market, town.operator, reference).over_micros == 0
        assert (owed(town), open_ones(town), town.balanced()) == ([0], [], True)
        if attempt == 0 and way == "by the file":
            failed = text.replace("paid", "failed")
            payout_confirmations.confirm_batch(town.market, town.operator, batch_id, failed, came_back=True)
        elif attempt == 0:
            overpaid.came_back(town.market, town.operator, reference)
    earn(town, {owner.user_id: 1_000_000}, "later")
    assert payouts.make_batch(town.market, town.operator, "the-last-batch").waiting_micros == 1_000_000


def test_what_was_undone_before_payouts_remembered_it_is_not_paid_twice_either(either_town: Town) -> None:
    town = either_town
    owe(town, [4_000_000, 3_000_000])
    batch_id, text = batch_of(town)
    confirmed(town, batch_id, text)
    lines = transfers.journal(town.market, town.operator).items
    entry = next(line for line in lines if line.user_id == town.owners[0].user_id)
    transfers.reverse(town.market, town.operator, entry.transaction_id)
    migrate.downgrade(town.market.store, "0014")
    migrate.upgrade(town.market.store)
    again = confirmed(town, batch_id, text)
    assert [(one.name, one.why) for one in again.remarks] == [("owner 1", "paid-again")]
    assert (open_ones(town), town.balanced()) == ([("owner 1", 4_000_000, 4_000_000)], True)


def test_who_is_disabled_is_still_paid_and_who_is_erased_waits_for_nothing(either_town: Town) -> None:
    town = either_town
    disabled, erased, other = owe(town, [4_000_000, 3_000_000, 2_000_000])
    batch_id, text = batch_of(town)
    people.disable_user(town.market, town.operator, disabled.user_id)
    own_data.erase(town.market, erased, Erasure(forgo_balance=True))
    assert [row["user_id"] for row in asked_for(town, batch_id)] == [disabled.user_id, other.user_id]
    with pytest.raises(ConflictError, match="nobody is owed"):
        payouts.make_batch(town.market, town.operator, "the-batch-2")
    done = confirmed(town, batch_id, text)
    assert [(one.name, one.why) for one in done.remarks] == [("erased", "paid-after-all")], "it was on its way"
    assert (done.waiting, done.paid, town.balanced()) == (0, 3, True)
    with town.market.store.read() as connection:
        assert payouts.on_their_way(connection, [one.user_id for one in town.owners]) == {}


def test_batches_made_at_once_hold_nobody_twice(either_town: Town) -> None:
    """Two operators press at the same moment: one makes the batch, the other is told that nobody is left."""
    town = either_town
    owe(town, [1_000_000] * 50)
    ready, made = threading.Barrier(4), []

    def press(number: int) -> None:
        ready.wait(timeout=60)
        try:
            made.append(payouts.make_batch(town.market, town.operator, f"batch-number-{number}").waiting)
        except ConflictError:
            made.append(0)

    pressing = [threading.Thread(target=press, args=(number,)) for number in range(4)]
    for thread in pressing:
        thread.start()
    for thread in pressing:
        thread.join()
    assert sorted(made) == [0, 0, 0, 50]


def test_a_confirmation_and_payments_by_hand_at_once_leave_right_books(either_town: Town) -> None:
    """What is owed is taken off once, whoever comes first, and nobody waits for another for ever."""
    town = either_town
    owners = owe(town, [1_000_000] * 30)
    batch_id, text = batch_of(town)
    ready, faults, paid = threading.Barrier(5), [], []

    def enter() -> None:
        ready.wait(timeout=60)
        confirmed(town, batch_id, text)

    def pay(some: list[User]) -> None:
        ready.wait(timeout=60)
        for owner in some:
            try:
                by_hand(town, owner, 1_000_000, f"hand-{owner.user_id}")
                paid.append(owner.user_id)
            except ConflictError:
                pass  # the confirmation was first
            except Exception as fault:  # whatever it is, it is counted
                faults.append(fault)

    acting = [threading.Thread(target=enter)]
    acting += [threading.Thread(target=pay, args=(owners[::-1][part::4],)) for part in range(4)]
    for thread in acting:
        thread.start()
    for thread in acting:
        thread.join()
    assert (faults, owed(town)) == ([], [0] * 30)
    found = overpaid.overpaid_page(town.market, town.operator).items
    assert {one.user_id for one in found} == set(paid)
    assert town.balanced()


def test_the_file_of_what_is_owed_leaves_out_what_a_provider_was_asked_for_or_has_paid(either_town: Town) -> None:
    town = either_town
    owner, _, _ = partly_beyond(town)  # a provider has paid 1 that was not owed
    second, third, fourth = (one.user_id for one in town.add_owners(3))
    earn(town, {second: 6_509_999, third: 2_000_000}, "before")
    payouts.make_batch(town.market, town.operator, "the-batch-2")
    earn(town, {owner.user_id: 3_000_000, second: 1_000_000, fourth: 5_000_000}, "since")
    rows = list(csv.DictReader(io.StringIO(payouts.payables_file(town.market, town.operator))))
    told = [(row["name"], row["amount"], row["on_its_way"], row["balance_micros"]) for row in rows]
    assert told == [
        ("owner 1", "2.00", "1.00", "3000000"),
        ("owner 2", "1.00", "6.50", "7509999"),
        ("owner 3", "0.00", "2.00", "2000000"),
        ("owner 4", "5.00", "0.00", "5000000"),
    ]
    with pytest.raises(ForbiddenError):
        payouts.payables_file(town.market, town.consumer)
