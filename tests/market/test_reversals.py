"""A wrong deposit or payout is undone by a second entry that mirrors it; both stay in sight."""

from __future__ import annotations

import pytest

from market.town import Town
from pdqs.market import ledger, transfers
from pdqs.protocol.market_messages import Transfer
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError


def _gift(town: Town, micros: int, key: str = "gift-000001") -> str:
    transfer = Transfer(user_id=town.consumer.user_id, amount_micros=micros)
    return transfers.deposit(town.market, town.operator, transfer, key).transaction_id


def test_a_reversal_mirrors_the_first_entry_and_both_are_listed(either_town: Town) -> None:
    town = either_town
    before = town.balance(town.consumer)
    first = _gift(town, 1_250_000_000)
    town.clock.advance(1)
    undone = transfers.reverse(town.market, town.operator, first)
    assert (undone.kind, undone.transaction_id) == ("reversal", f"reversal:{first}")
    assert town.balance(town.consumer) == before
    assert town.balanced()
    listed = transfers.journal(town.market, town.operator).items[:2]
    assert [(line.kind, line.amount_micros, line.undone) for line in listed] == [
        ("reversal", -1_250_000_000, False),
        ("deposit", 1_250_000_000, True),
    ]
    assert {line.name for line in listed} == {town.consumer.name}


def test_a_reversal_asked_for_twice_is_made_once(town: Town) -> None:
    first = _gift(town, 7)
    assert transfers.reverse(town.market, town.operator, first) == transfers.reverse(town.market, town.operator, first)
    assert town.balanced()


def test_a_reversal_that_would_overdraw_is_refused_and_nothing_moves(town: Town) -> None:
    first = _gift(town, 5_000_000)
    held = town.balance(town.consumer)
    transfer = Transfer(user_id=town.consumer.user_id, amount_micros=held)
    transfers.refund(town.market, town.operator, transfer, "refund-00001")
    with pytest.raises(ConflictError, match=r"does not cover 5\.00"):
        transfers.reverse(town.market, town.operator, first)
    assert town.balance(town.consumer) == 0
    assert not transfers.journal(town.market, town.operator).items[-1].undone


def test_a_refund_that_never_arrived_is_hers_again(town: Town) -> None:
    held = town.balance(town.consumer)
    transfer = Transfer(user_id=town.consumer.user_id, amount_micros=held)
    paid = transfers.refund(town.market, town.operator, transfer, "refund-00001")
    transfers.reverse(town.market, town.operator, paid.transaction_id)
    assert town.balance(town.consumer) == held


def test_only_deposits_and_payouts_are_undone_and_only_by_the_operator(town: Town) -> None:
    first = _gift(town, 7)
    undone = transfers.reverse(town.market, town.operator, first)
    with pytest.raises(ConflictError, match="cannot be undone"):
        transfers.reverse(town.market, town.operator, undone.transaction_id)
    with pytest.raises(NotFoundError, match="no transaction"):
        transfers.reverse(town.market, town.operator, "deposit:t_0")
    with pytest.raises(MarketError):
        transfers.reverse(town.market, town.consumer, first)
    with town.market.store.write() as connection:
        entry = ledger.Entry(transaction_id="escrow:x", kind="escrow", at_ms=1, amounts={"escrow:x": 1, "world": -1})
        ledger.post(connection, entry)
    with pytest.raises(ConflictError, match="cannot be undone"):
        transfers.reverse(town.market, town.operator, "escrow:x")


def test_the_journal_comes_page_by_page(town: Town) -> None:
    for place in range(3):
        town.clock.advance(1)
        _gift(town, place + 1, f"gift-{place:06}")
    first = transfers.journal(town.market, town.operator, limit=2)
    second = transfers.journal(town.market, town.operator, after=first.next, limit=2)
    assert [line.amount_micros for line in [*first.items, *second.items]] == [3, 2, 1, 100_000_000]
    assert second.next is None
