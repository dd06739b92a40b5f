"""An operator who does two things at once, in two tabs or by two programs: neither waits for the other in a circle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from market.meanwhile import Held, meanwhile
from market.owing import batch_of, by_hand, confirmation, confirmed, earn, owe, partly_beyond, reference_of
from market.town import Town
from pdqs.market import (
    deeds,
    fresh_codes,
    overpaid,
    own_data,
    payout_confirmations,
    payouts,
    people,
    round_steps,
    transfers,
)
from pdqs.market.revocation import hold_people, require_signed_in
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import accounts
from pdqs.protocol.market_messages import Transfer
from pdqs.protocol.own_data import Erasure
from pdqs.protocol.problems import ConflictError

Act = Callable[[], object]


def entered(town: Town, key: str = "money-in-01") -> str:
    """A deposit of three for the consumer; gives the id of the entry."""
    transfer = Transfer(user_id=town.consumer.user_id, amount_micros=3_000_000)
    return transfers.deposit(town.market, town.operator, transfer, key).transaction_id


def _deposit(town: Town) -> Act:
    return lambda: entered(town)


def _reversal(town: Town) -> Act:
    name = entered(town, "money-in-00")
    return lambda: transfers.reverse(town.market, town.operator, name)


def _payout(town: Town) -> Act:
    (owner,) = owe(town, [2_000_000])
    return lambda: by_hand(town, owner, 1_000_000)


def _batch(town: Town) -> Act:
    owe(town, [2_000_000])
    return lambda: payouts.make_batch(town.market, town.operator, "the-batch-1")


def _calling_off(town: Town) -> Act:
    owe(town, [2_000_000])
    batch_id, _ = batch_of(town)
    return lambda: payouts.call_off(town.market, town.operator, batch_id)


def _confirmation(town: Town) -> Act:
    owe(town, [2_000_000])
    batch_id, told = batch_of(town)
    return lambda: confirmed(town, batch_id, told)


def _coming_back_by_file(town: Town) -> Act:
    owe(town, [2_000_000])
    batch_id, told = batch_of(town)
    failed = confirmation(town, batch_id, status="failed")
    confirmed(town, batch_id, told)
    return lambda: payout_confirmations.confirm_batch(town.market, town.operator, batch_id, failed, came_back=True)


def _seeing_to(step: Callable[..., object]) -> Callable[[Town], Act]:
    def ready(town: Town) -> Act:
        owner, _, _ = partly_beyond(town)
        reference = reference_of(town)
        earn(town, {owner.user_id: 500_000}, "still later")
        return lambda: step(town.market, town.operator, reference)

    return ready


DEEDS: dict[str, tuple[object, Callable[[Town], Act]]] = {
    "deposit": (transfers, _deposit),
    "reversal": (transfers, _reversal),
    "payout": (transfers, _payout),
    "batch": (payouts, _batch),
    "calling off": (payouts, _calling_off),
    "confirmation": (payout_confirmations, _confirmation),
    "coming back by file": (payout_confirmations, _coming_back_by_file),
    "taking off": (overpaid, _seeing_to(overpaid.enter)),
    "letting be": (overpaid, _seeing_to(overpaid.let_be)),
    "coming back": (overpaid, _seeing_to(overpaid.came_back)),
}
"""Every deed that moves money: where it is noted, and how the town is made ready for it."""


def everything(town: Town) -> None:
    """Hold the operator's row and then all that money is kept in, as anything that she does may."""
    with town.market.store.write() as connection:
        require_signed_in(connection, town.operator)
        payouts._alone(connection)
        connection.execute(select(payout_lines).order_by(payout_lines.c.reference).with_for_update())
        connection.execute(select(accounts).order_by(accounts.c.account).with_for_update())


@pytest.mark.parametrize("deed", DEEDS)
def test_a_deed_and_whatever_else_she_does_never_wait_for_each_other_in_a_circle(
    far_town: Town, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, ready = DEEDS[deed]
    act = ready(far_town)
    held = Held(deeds.note_deed)  # all is done but for the note of it
    monkeypatch.setattr(where, "note_deed", held)
    meanwhile(held, act, lambda: everything(far_town))
    assert far_town.balanced()


def test_a_deposit_while_she_calls_off_a_round_of_the_same_consumer(
    far_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = far_town
    found, before = town.open_round(), town.balance(town.consumer)
    held = Held(deeds.note_deed)
    monkeypatch.setattr(transfers, "note_deed", held)
    meanwhile(held, lambda: entered(town), lambda: round_steps.cancel_round(town.market, town.operator, found.round_id))
    assert town.balance(town.consumer) == before + 3_000_000 + 20_000_000
    assert town.balanced()


def test_fresh_codes_for_many_while_one_of_them_is_shut_out(far_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is in hand is held in one go, by id: the operator's own row too, wherever it comes."""
    town = far_town
    owners = [town.operator.user_id]
    while min(owners) == town.operator.user_id:  # ids are random: one that comes before the operator's
        owners += [owner.user_id for owner in town.add_owners(1)]
    first = min(owners)
    held = Held(hold_people)
    monkeypatch.setattr(fresh_codes, "hold_people", held)
    meanwhile(
        held,
        lambda: fresh_codes.make_codes(town.market, town.operator, fresh_codes.Whom(which="all"), first, max(owners)),
        lambda: people.disable_user(town.market, town.operator, first),
    )


def test_no_money_is_taken_for_an_account_that_nobody_can_use(either_town: Town) -> None:
    town = either_town
    first = entered(town)
    own_data.erase(town.market, town.consumer, Erasure(forgo_balance=True))
    with pytest.raises(ConflictError, match="erased at its owner's wish"):
        entered(town, "money-in-02")
    assert entered(town) == first, "what was entered before is told as it was"
    assert town.balance(town.consumer) == 0
    assert town.balanced()
