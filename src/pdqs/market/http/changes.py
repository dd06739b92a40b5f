"""Which rounds have changed, for pages that wait: one look a second for all who follow, however many they are.

A page is told that something changed, never what: it then asks for what it may see. Streams are server-sent events.
They end by themselves after a while and browsers come back, so that nobody follows for long after her session ended;
and all at once when the server is told to stop, which would wait for them otherwise.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import final

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from pdqs.market.context import Market
from pdqs.market.store.schema import bids, reports, rounds, stages
from pdqs.protocol.problems import ProblemType, TooManyRequestsError

EVERY_SECONDS = 1.0
LIFE_SECONDS = 45.0
MOST, MOST_EACH = 300, 8
"""So many may follow at once, and so many pages of one person; the others ask now and then instead."""
_REST = 9.0  # after a look that took long, so many times as long without one

Marks = dict[str, tuple[str, str]]
"""Of each round, what changes with its state and stage alone, and what changes with every bid and report too."""


@final
class Changes:
    """Who follows which round in this process. Everything but the look itself happens on the event loop."""

    def __init__(self, market: Market, every_seconds: float = EVERY_SECONDS) -> None:
        self._market, self._every = market, every_seconds
        self._followed: Counter[str] = Counter()
        self._people: Counter[str] = Counter()
        self._marks: Marks = {}
        self._looking: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    @property
    def followers(self) -> int:
        """How many follow now."""
        return self._people.total()

    def let_in(self, user_id: str) -> None:
        """Whether there is room for one more; raises where there is none."""
        if self.followers >= MOST or self._people[user_id] >= MOST_EACH:
            raise TooManyRequestsError(ProblemType.TOO_MANY_REQUESTS, "too many pages follow rounds: ask now and then")

    def end(self) -> None:
        """End every stream, those that come from now on too: the server stops, and browsers ask the next one."""
        self._over.set()

    async def stream(
        self, round_id: str, user_id: str, *, counts: bool, gone: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[str]:
        """Events for one page; ``counts``: of every bid and report, and not of the round's state alone."""
        self._followed[round_id] += 1
        self._people[user_id] += 1
        try:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._keep_looking())
            yield "retry: 2000\n\n"
            end, known = time.monotonic() + LIFE_SECONDS, self._marks.get(round_id)
            while time.monotonic() < end and not self._over.is_set() and not await gone():
                await self._pause(self._every)
                mark = self._marks.get(round_id)
                if mark is not None and known is not None and mark[counts] != known[counts]:
                    yield "data: changed\n\n"
                known = mark or known
            yield ": come back\n\n"
        finally:
            self._followed[round_id] -= 1
            self._people[user_id] -= 1
            self._followed, self._people = +self._followed, +self._people

    async def _keep_looking(self) -> None:
        """Look once for all, as long as anyone follows."""
        while self._followed and not self._over.is_set():
            began = time.monotonic()
            with suppress(DBAPIError):  # out of reach: whoever follows hears when there is something to hear
                self._marks = await run_in_threadpool(marks_of, self._market, list(self._followed))
            await self._pause(max(self._every, _REST * (time.monotonic() - began)))
        self._marks = {}

    async def _pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of all."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)


def marks_of(market: Market, round_ids: list[str]) -> Marks:
    """How some rounds stand, in one statement."""
    so_many = [
        select(func.count()).where(table.c.round_id == rounds.c.round_id).scalar_subquery()
        for table in (stages, bids, reports)
    ]
    standing = (rounds.c.state, rounds.c.bids_root.is_not(None), rounds.c.reports_close_at_ms)
    asked = select(rounds.c.round_id, *standing, *so_many).where(rounds.c.round_id.in_(round_ids))
    with market.store.read() as connection:
        found = connection.execute(asked).all()
    return {row[0]: (str(tuple(row[1:5])), str(tuple(row[1:]))) for row in found}
