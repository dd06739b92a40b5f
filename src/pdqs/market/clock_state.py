"""What the clock of a market last did, kept in the database: whichever process keeps the deadlines, all can tell."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import final

from sqlalchemy import select

from pdqs.market.context import Market, Stuck
from pdqs.market.store.schema import server_keys
from pdqs.market.store.sql import put

_PURPOSE = "clock"
_EVERY_MS = 5_000  # each write waits for the disk, and nobody needs to know it to the second


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """When deadlines were last looked at (0: never), the rounds that could not go on then, and how often one was found
    that could not, since there is this market."""

    at_ms: int = 0
    stuck: tuple[Stuck, ...] = ()
    failures: int = 0

    def is_late(self, now_ms: int) -> bool:
        """Whether deadlines have not been looked at for so long that something is wrong."""
        return now_ms - self.at_ms > 12 * _EVERY_MS


def note_tick(market: Market) -> None:
    """Keep that the deadlines were looked at, and what is stuck; at once when that changed, else every few seconds."""
    now, stuck = market.clock(), tuple(market.stuck.values())
    before = last_tick(market)
    if stuck == before.stuck and 0 <= now - before.at_ms < _EVERY_MS:
        return
    kept = ClockState(at_ms=now, stuck=stuck, failures=before.failures + market.missed.total())
    with market.store.write() as connection:
        text = json.dumps(dataclasses.asdict(kept))
        put(connection, server_keys, {"purpose": _PURPOSE, "key": text}, key="purpose")
    market.missed.clear()


def last_tick(market: Market) -> ClockState:
    """What the clock last did."""
    with market.store.look() as connection:
        text = connection.scalar(select(server_keys.c.key).where(server_keys.c.purpose == _PURPOSE))
    if text is None:
        return ClockState()
    kept = json.loads(text)
    stuck = tuple(Stuck(**one) for one in kept["stuck"])
    return ClockState(at_ms=kept["at_ms"], stuck=stuck, failures=kept.get("failures", 0))
