"""What a consumer may hold is bounded, and what rounds hold for her is counted as hers: all of it may come back."""

from __future__ import annotations

import re

import pytest

from market.town import Town
from pdqs.market import round_steps, transfers
from pdqs.protocol.market_messages import Transaction, Transfer
from pdqs.protocol.problems import ConflictError

MOST = 100_000_000
"""As much as the consumer of the town begins with."""


def moved(town: Town, micros: int, key: str) -> Transaction:
    """Money in, or out where it is below zero."""
    move = transfers.deposit if micros > 0 else transfers.refund
    return move(town.market, town.operator, Transfer(user_id=town.consumer.user_id, amount_micros=abs(micros)), key)


def test_nobody_comes_to_hold_more_than_a_balance_may_by_what_a_round_gives_back(
    either_town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = either_town
    monkeypatch.setattr(transfers, "MOST_MICROS", MOST)
    found = town.open_round()
    with pytest.raises(ConflictError, match=r"a balance may hold at most 100\.00"):
        moved(town, 1, "one-too-many")
    paid = moved(town, -30_000_000, "money-out-01")
    moved(town, 30_000_000, "money-in-01")
    with pytest.raises(ConflictError, match=r"a balance may hold at most 100\.00"):
        transfers.reverse(town.market, town.operator, paid.transaction_id)
    round_steps.cancel_round(town.market, town.consumer, found.round_id)
    assert town.balance(town.consumer) == MOST
    assert town.balanced()


def test_every_refusal_of_too_much_names_both_limits_in_one_wording_and_that_of_the_market_its_own(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = "one entry moves at most 1,000,000.00, and a balance may hold at most 100.00"
    monkeypatch.setattr(transfers, "MOST_MICROS", MOST)
    assert limits in transfers.limits_told(town.market.settings.money)
    with pytest.raises(ConflictError, match=re.escape(limits)):
        moved(town, 1, "one-too-many")
    monkeypatch.setattr(transfers, "MOST_MICROS", 2 * MOST)
    monkeypatch.setattr(transfers, "_MOST_IN_ALL", MOST)
    with pytest.raises(ConflictError, match=r"all balances of a market together hold at most 100\.00$"):
        moved(town, 1, "two-too-many")
    assert town.balance(town.consumer) == MOST


def test_what_a_round_has_given_back_or_paid_is_not_counted_twice(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "MOST_MICROS", MOST)
    found = town.open_round()
    round_steps.cancel_round(town.market, town.consumer, found.round_id)
    moved(town, -5, "money-out-01")
    moved(town, 5, "money-in-01")
    assert town.balance(town.consumer) == MOST


def test_who_holds_more_than_that_from_before_can_have_it_paid_out(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    last = moved(town, 7, "money-in-01")
    monkeypatch.setattr(transfers, "MOST_MICROS", MOST // 2)
    moved(town, -1, "money-out-01")
    transfers.reverse(town.market, town.operator, last.transaction_id)
    assert town.balance(town.consumer) == MOST - 1
