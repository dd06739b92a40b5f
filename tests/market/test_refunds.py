"""What a consumer has not spent is paid back to her, up to her balance; what her rounds hold is not on it."""

from __future__ import annotations

import pytest

from market.town import Town
from pdqs.market import looking_up, reads, round_steps, transfers
from pdqs.market.deeds import deeds_page
from pdqs.protocol.market_messages import Transaction, Transfer
from pdqs.protocol.problems import ConflictError, MarketError


def back(town: Town, micros: int, key: str = "refund-key-01") -> Transaction:
    """Enter that so much was paid back to the town's consumer."""
    return transfers.refund(
        town.market, town.operator, Transfer(user_id=town.consumer.user_id, amount_micros=micros), key
    )


def test_all_that_is_free_is_paid_back_and_nothing_of_what_a_round_holds(either_town: Town) -> None:
    town = either_town
    found = town.open_round()
    free = town.balance(town.consumer)
    assert (free, found.escrow_micros > 0) == (100_000_000 - found.escrow_micros, True)
    with pytest.raises(ConflictError, match="does not cover"):
        back(town, free + 1)
    assert back(town, free, "refund-key-02").kind == "refund"
    assert town.balance(town.consumer) == 0
    with pytest.raises(ConflictError, match="does not cover"):
        back(town, 1, "refund-key-03")
    round_steps.cancel_round(town.market, town.consumer, found.round_id)
    assert town.balance(town.consumer) == found.escrow_micros
    assert town.balanced()


def test_a_refund_is_an_entry_of_its_own_kind_made_once_by_its_key_and_undone_like_others(either_town: Town) -> None:
    town = either_town
    before = town.balance(town.consumer)
    town.clock.advance(1)
    first = back(town, 30_000_001)
    assert back(town, 30_000_001) == first
    with pytest.raises(ConflictError, match="used before"):
        back(town, 30_000_002)
    assert town.balance(town.consumer) == before - 30_000_001
    assert looking_up.journal_page(town.market, town.operator).items[0].kind == "refund"
    assert [one.what for one in deeds_page(town.market, town.operator).items].count("refund") == 1
    line = reads.statement(town.market, town.consumer).items[0]
    assert (line.kind, line.amount_micros) == ("refund", -30_000_001)
    town.clock.advance(1)
    transfers.reverse(town.market, town.operator, first.transaction_id)
    assert town.balance(town.consumer) == before
    assert [one.undone for one in transfers.journal(town.market, town.operator).items[:2]] == [False, True]
    assert town.balanced()


def test_owners_are_paid_out_and_consumers_are_paid_back_and_only_by_an_operator(town: Town) -> None:
    (owner,) = town.add_owners(1)
    hers = Transfer(user_id=town.consumer.user_id, amount_micros=5)
    with pytest.raises(MarketError, match="a refund cannot be made for owner"):
        transfers.refund(town.market, town.operator, Transfer(user_id=owner.user_id, amount_micros=5), "refund-key-01")
    with pytest.raises(MarketError, match="a payout cannot be made for consumer"):
        transfers.pay_out(town.market, town.operator, hers, "payout-key-01")
    with pytest.raises(MarketError):
        transfers.refund(town.market, town.consumer, hers, "refund-key-02")
    assert town.balance(town.consumer) == 100_000_000
