"""Escrow: a round's budget is set aside when it opens, pays the owners when it settles, and what is left goes back.

The account is ``escrow:ROUND``. An entry's id is made from its kind and the round, so that no refund is made twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from pdqs.market import ledger
from pdqs.market.store.sql import Found
from pdqs.model.errors import ensure
from pdqs.protocol.market_messages import EntryKind


def set_aside(connection: Connection, row: Found, now: int, budget_micros: int) -> None:
    """Move the budget from the consumer into escrow; refused when she has less."""
    _post(connection, "escrow", row.round_id, now, {_consumer(row): -budget_micros, _escrow(row): budget_micros})


def shares(row: Found, payments: Mapping[str, int], returned_micros: int, budget_micros: int) -> dict[str, int]:
    """What owners are paid, by their ids, and what is left for the consumer, by account: all out of the escrow."""
    amounts = {ledger.account_of("owner", owner_id): payment for owner_id, payment in payments.items()}
    return amounts | {_consumer(row): returned_micros, _escrow(row): -budget_micros}


def pay_and_return(connection: Connection, row: Found, now: int, amounts: dict[str, int]) -> None:
    """Pay out the shares of a round: together they are the whole budget."""
    _post(connection, "settlement", row.round_id, now, amounts)


def give_back(connection: Connection, row: Found, now: int) -> None:
    """Return all that the round holds: it is called off."""
    held = ledger.balance(connection, _escrow(row))
    if held:
        _post(connection, "return", row.round_id, now, {_escrow(row): -held, _consumer(row): held})


def _consumer(row: Found) -> str:
    return ledger.account_of("consumer", row.consumer_id)


def _escrow(row: Found) -> str:
    return ledger.account_of("escrow", row.round_id)


def _post(connection: Connection, kind: EntryKind, round_id: str, now: int, amounts: dict[str, int]) -> None:
    entry = ledger.Entry(transaction_id=f"{kind}:{round_id}", kind=kind, at_ms=now, amounts=amounts, round_id=round_id)
    before = f"transaction {entry.transaction_id} was entered before, but the round's state says it was not"
    ensure(ledger.post(connection, entry), before)
