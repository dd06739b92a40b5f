"""Requests that wait for the same kind of answer get theirs together: while one batch is asked for, the next gathers.

A request that comes alone is asked about at once, and waits no longer than it would by itself. Under load a batch is
as large as what came while the one before it was under way, and the threads, trips and transactions are so many fewer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, final
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread

from pdqs.market.api_tokens import users_of_tokens
from pdqs.market.bids_together import FirstBid, keep_together
from pdqs.market.context import Market
from pdqs.protocol.market_messages import User

_MOST = 200
"""In a batch: nobody should wait for very many others."""

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


@final
@dataclass(eq=False)
class _Line(Generic[Asked, Answered]):
    """Who waits in one event loop, and the task that sees to them while there is anybody."""

    waiting: deque[tuple[Asked, asyncio.Future[Answered]]] = field(default_factory=deque)
    seen_to: asyncio.Task[None] | None = None
    thread: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    """Its own: requests that wait for something else may hold all threads that there are for requests."""


@final
class Together(Generic[Asked, Answered]):
    """One kind of question. ``answer_all`` answers several, in their order, in a thread of its own."""

    def __init__(self, answer_all: Callable[[Sequence[Asked]], Sequence[Answered]]) -> None:
        self._answer_all = answer_all
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line[Asked, Answered]] = WeakKeyDictionary()

    async def ask(self, one: Asked) -> Answered:
        """The answer to one; what is raised for a batch is raised to all of it."""
        loop = asyncio.get_running_loop()
        line = self._lines.setdefault(loop, _Line())
        answer: asyncio.Future[Answered] = loop.create_future()
        line.waiting.append((one, answer))
        if line.seen_to is None:
            line.seen_to = loop.create_task(self._see_to(line))
        return await answer

    async def _see_to(self, line: _Line[Asked, Answered]) -> None:
        try:
            while line.waiting:
                batch = [line.waiting.popleft() for _ in range(min(_MOST, len(line.waiting)))]
                await self._answer([(one, answer) for one, answer in batch if not answer.done()], line.thread)
        finally:
            line.seen_to = None

    async def _answer(self, batch: list[tuple[Asked, asyncio.Future[Answered]]], thread: CapacityLimiter) -> None:
        try:
            found = await to_thread.run_sync(self._answer_all, [one for one, _ in batch], limiter=thread)
            answered = list(zip(batch, found, strict=True))
        except Exception as fault:
            for _, answer in batch:
                if not answer.done():  # by a caller who has gone
                    answer.set_exception(fault)
            return
        for (_, answer), mine in answered:
            if not answer.done():
                answer.set_result(mine)


@final
class Gathered:
    """What is asked together of a market."""

    def __init__(self, market: Market) -> None:
        self.users: Together[str, User | None] = Together(lambda digests: users_of_tokens(market, digests))
        self.bids: Together[FirstBid, int] = Together(lambda bids: keep_together(market, bids))
