"""Sixty-four of the same at once have one effect."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from market.town import Town
from pdqs.market import reads, round_steps
from pdqs.market.store.schema import bids, reports, transactions
from pdqs.protocol.device_messages import Bid, Report
from pdqs.protocol.market_messages import Transfer

TWINS = 64


def _at_once(act: Callable[[], Any]) -> list[Any]:
    """What came of doing the same from so many threads that start together."""
    gate, found, faults = threading.Barrier(TWINS), [], []

    def one() -> None:
        gate.wait()
        try:
            found.append(act())
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=one) for _ in range(TWINS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    return found


def _rows(town: Town, table: Any) -> int:
    with town.market.store.read() as connection:
        return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def test_concurrent_duplicates_of_a_bid_are_one_bid(either_town: Town) -> None:
    (owner,) = either_town.add_owners(1)
    found = either_town.open_round()
    bid = Bid(terms_hash=str(found.terms_hash), bid_micros=5)
    receipts = _at_once(lambda: round_steps.place_bid(either_town.market, owner, found.round_id, bid))
    assert receipts == [receipts[0]] * TWINS
    assert _rows(either_town, bids) == 1


def test_concurrent_duplicates_of_a_report_are_one_report_and_one_payment(either_town: Town) -> None:
    town = either_town
    town.add_owners(8)
    found = town.cleared_round()
    owner = town.asked(found)[0]
    report = Report(terms_hash=str(found.terms_hash), code=1)
    receipts = _at_once(lambda: round_steps.submit_report(town.market, owner, found.round_id, report))
    assert receipts == [receipts[0]] * TWINS
    assert _rows(town, reports) == 1
    town.clock.advance(60)
    ends = _at_once(lambda: round_steps.settle_round(town.market, town.consumer, found.round_id))
    assert ends == [ends[0]] * TWINS
    assert town.balance(owner) == receipts[0].payment_micros == ends[0].paid_micros
    assert town.balanced()


def test_concurrent_duplicates_of_a_deposit_are_one_deposit(either_town: Town) -> None:
    before = _rows(either_town, transactions)
    gift = Transfer(user_id=either_town.consumer.user_id, amount_micros=7)
    _at_once(lambda: round_steps.deposit(either_town.market, either_town.operator, gift, "the-same-key"))
    assert _rows(either_town, transactions) == before + 1
    assert reads.me(either_town.market, either_town.consumer).balance_micros == 100_000_007


def test_concurrent_clearing_makes_one_set_of_offers(either_town: Town) -> None:
    town = either_town
    town.add_owners(8)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(60)
    ends = _at_once(lambda: round_steps.clear_round(town.market, town.operator, found.round_id))
    assert ends == [ends[0]] * TWINS
    assert ends[0].state == "reporting"
