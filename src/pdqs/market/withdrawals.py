"""What a withdrawal leaves behind: its time, so that a bid which was made before it and comes after it is refused.

A device says with each bid after which withdrawal of hers it was made (``after``: the time of the last one that it
knows, or 0), so that the order in which she acted counts and not the order in which her requests arrive, whichever of
her devices sent them. A caller who says nothing is taken as she comes.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Exists, exists, select

from pdqs.market.store.sql import insert_new
from pdqs.market.store.withdrawal_table import withdrawals
from pdqs.protocol.device_messages import MOST_MILLIS, Withdrawal

ANY_TIME = MOST_MILLIS
"""The ``after`` of a bid that does not say after which withdrawal it was made."""

_TURN = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def hold_turn(connection: Connection, round_id: str, owner_id: str) -> None:
    """Let one request of an owner about her bid in a round go at a time, until the transaction ends.

    A statement of PostgreSQL sees what was there when it began. So the turn is taken by a statement of its own, before
    those that look for bids and withdrawals: a withdrawal then waits for a bid that is being kept, and finds it, or the
    bid waits for the withdrawal, and sees it. SQLite has one writer at a time.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_TURN, (f"{round_id} {owner_id}",))  # for every bid: past SQLAlchemy's own work


def withdrawn_after(round_id: ColumnElement[str], owner_id: ColumnElement[str], after_ms: ColumnElement[int]) -> Exists:
    """Whether she withdrew from the round later than that, as a part of a statement."""
    return exists().where(
        withdrawals.c.round_id == round_id,
        withdrawals.c.owner_id == owner_id,
        withdrawals.c.withdrawn_at_ms > after_ms,
    )


def last_withdrawal(connection: Connection, round_id: str, owner_id: str) -> int:
    """When she last withdrew from a round; 0 where she never did."""
    return int(connection.scalar(select(withdrawals.c.withdrawn_at_ms).where(*_hers(round_id, owner_id))) or 0)


def keep_withdrawal(connection: Connection, round_id: str, owner_id: str, now_ms: int) -> int:
    """Note that she withdraws now; the time that names this withdrawal, later than that of any before."""
    at = max(now_ms, last_withdrawal(connection, round_id, owner_id) + 1)
    row = {"round_id": round_id, "owner_id": owner_id, "withdrawn_at_ms": at}
    if not insert_new(connection, withdrawals, row):
        connection.execute(withdrawals.update().where(*_hers(round_id, owner_id)).values(withdrawn_at_ms=at))
    return at


def withdrawals_of(connection: Connection, owner_id: str) -> list[Withdrawal]:
    """All that are kept of an owner's, for herself."""
    hers = select(withdrawals).where(withdrawals.c.owner_id == owner_id).order_by(withdrawals.c.withdrawn_at_ms)
    return [Withdrawal(round_id=row.round_id, withdrawn_at_ms=row.withdrawn_at_ms) for row in connection.execute(hers)]


def _hers(round_id: str, owner_id: str) -> tuple[ColumnElement[bool], ...]:
    return withdrawals.c.round_id == round_id, withdrawals.c.owner_id == owner_id
