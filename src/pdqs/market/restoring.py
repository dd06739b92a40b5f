"""After a backup was put back: what the copy still knows of, and an end to every sign-in that it brought back.

Who was shut out since the backup is let in again by it, a code that was used works again, and a token that was ended is
good again. Nobody can tell any more which: so all of them end, and the operator lets people in anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sqlalchemy import delete, func, select, union

from pdqs.market import trail
from pdqs.market.clock_state import last_tick
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.people import the_server
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import codes, passkeys, sessions, tokens, transactions

_SIGN_INS = (sessions, tokens, passkeys, codes)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LastKnown:
    """The last moments that a copy knows of (0: of none), and how many payouts wait in batches there."""

    clock_ms: int
    deposit_ms: int
    payout_ms: int
    refund_ms: int
    waiting: int


def last_known(market: Market) -> LastKnown:
    """Where a copy ends: what was entered after that is missing."""
    with market.store.read() as connection:
        moved = select(transactions.c.kind, func.max(transactions.c.at_ms)).group_by(transactions.c.kind)
        last: dict[str, int] = {row[0]: row[1] for row in connection.execute(moved)}
        waiting = select(func.count()).select_from(payout_lines).where(payout_lines.c.state == "waiting")
        return LastKnown(
            clock_ms=max([last_tick(market).at_ms, *last.values()]),
            deposit_ms=last.get("deposit", 0),
            payout_ms=last.get("payout", 0),
            refund_ms=last.get("refund", 0),
            waiting=connection.scalar(waiting) or 0,
        )


def end_every_sign_in(market: Market) -> int:
    """End every session, token, passkey and code, of operators too; gives how many people had any."""
    with market.store.write() as connection:
        whose = union(*(select(table.c.user_id) for table in _SIGN_INS))
        people = list(connection.scalars(whose))
        for table in _SIGN_INS:
            connection.execute(delete(table))
        if people:
            trail.note_of_each(connection, people, "ended", by=trail.THE_SERVER, at_ms=market.clock())
        note_deed(connection, the_server(), "restored", f"{len(people)} people", at_ms=market.clock())
    for user_id in people:
        market.callers.forget(user_id)
    return len(people)
