"""What is read in several statements is of one moment, though others write between any two of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from market.town import Town
from pdqs.market import own_data, reads, transfers
from pdqs.market.store.schema import users
from pdqs.protocol.market_messages import Transfer

_numbers = itertools.count()


@contextmanager
def deposits_between(town: Town) -> Iterator[list[str]]:
    """Another deposit is made after every statement; gives their names."""
    made: list[str] = []
    at_it: list[bool] = []

    def more(*_told: object) -> None:
        if not at_it:
            at_it.append(True)
            gift = Transfer(user_id=town.consumer.user_id, amount_micros=1)
            key = f"deposit-{next(_numbers):06d}"
            made.append(transfers.deposit(town.market, town.operator, gift, key).transaction_id)
            at_it.clear()

    engine = town.market.store.engine
    event.listen(engine, "after_cursor_execute", more)
    try:
        yield made
    finally:
        event.remove(engine, "after_cursor_execute", more)


def test_books_that_are_right_balance_while_others_write(either_town: Town) -> None:
    town = either_town
    with deposits_between(town) as made:
        assert town.balanced()
    assert len(made) > 3


def test_a_statement_adds_up_while_others_write(either_town: Town) -> None:
    town = either_town
    with deposits_between(town) as made:
        found = reads.statement(town.market, town.consumer, limit=1000)
    assert made
    assert found.balance_micros == sum(line.amount_micros for line in found.items)


def test_an_export_adds_up_while_others_write(either_town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_data, "_PAGE", 2)  # it is read a page at a time
    town = either_town
    for _ in range(3):
        transfers.deposit(
            town.market,
            town.operator,
            Transfer(user_id=town.consumer.user_id, amount_micros=1),
            f"before-{next(_numbers)}",
        )
    with deposits_between(town) as made:
        found = own_data.export(town.market, town.consumer)
    assert made
    assert found.balance_micros == sum(line.amount_micros for line in found.postings)


def test_nothing_is_written_by_who_only_reads(far_town: Town) -> None:
    with pytest.raises(DBAPIError, match="read-only"), far_town.market.store.read() as connection:
        connection.execute(users.update().values(name="nobody"))
