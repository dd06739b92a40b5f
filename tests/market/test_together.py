"""Questions that are asked together: every caller has her own answer, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from pdqs.market.http.together import Together


def test_what_comes_while_a_batch_is_under_way_is_the_next_batch() -> None:
    batches: list[list[int]] = []

    def doubled(many: Sequence[int]) -> list[int]:
        batches.append(list(many))
        time.sleep(0.02)
        return [2 * one for one in many]

    async def crowd() -> list[int]:
        return list(await asyncio.gather(*(together.ask(i) for i in range(500))))

    together = Together(doubled)
    assert asyncio.run(crowd()) == [2 * i for i in range(500)]
    assert [len(batch) for batch in batches] == [200, 200, 100], "never more than so many"
    assert asyncio.run(crowd()) == [2 * i for i in range(500)], "in another event loop too"


def test_a_fault_reaches_everyone_of_its_batch_and_nobody_after_it() -> None:
    faults = [ValueError("once")]

    def answered(many: Sequence[int]) -> Sequence[int]:
        if faults:
            raise faults.pop()
        return many

    async def both() -> list[object]:
        first = await asyncio.gather(together.ask(1), together.ask(2), return_exceptions=True)
        return [*first, await together.ask(3)]

    together = Together(answered)
    one, two, three = asyncio.run(both())
    assert isinstance(one, ValueError)
    assert isinstance(two, ValueError)
    assert three == 3


def test_a_caller_who_goes_away_takes_nobody_along() -> None:
    asked: list[list[int]] = []

    def slowly(many: Sequence[int]) -> Sequence[int]:
        asked.append(list(many))
        time.sleep(0.05)
        return many

    async def three() -> int:
        first = asyncio.create_task(together.ask(1))
        await asyncio.sleep(0.02)  # its batch is under way
        gone = asyncio.create_task(together.ask(2))
        last = asyncio.create_task(together.ask(3))
        await asyncio.sleep(0)
        first.cancel()
        gone.cancel()
        return await last

    together = Together(slowly)
    assert asyncio.run(three()) == 3
    assert asked == [[1], [3]]


def test_event_loops_of_several_threads_do_not_meet() -> None:
    together: Together[int, int] = Together(list)
    found: dict[int, list[int]] = {}

    async def crowd(start: int) -> list[int]:
        return list(await asyncio.gather(*(together.ask(i) for i in range(start, start + 50))))

    def one_loop(start: int) -> None:
        found[start] = asyncio.run(crowd(start))

    threads = [threading.Thread(target=one_loop, args=(100 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == {100 * i: list(range(100 * i, 100 * i + 50)) for i in range(8)}


def test_an_answer_short_of_one_leaves_nobody_waiting() -> None:
    async def two() -> list[object]:
        both = asyncio.gather(together.ask(1), together.ask(2), return_exceptions=True)
        return list(await asyncio.wait_for(both, 30))

    together: Together[int, int] = Together(lambda many: many[:1])
    assert [type(one) for one in asyncio.run(two())] == [ValueError, ValueError]


def test_those_who_hold_all_threads_for_something_else_hold_up_nobody_here() -> None:
    """As late bids do that wait for a round which is just being cleared."""
    release = threading.Event()
    together: Together[int, int] = Together(list)

    async def crowd() -> int:
        held = [asyncio.create_task(run_in_threadpool(release.wait, 60)) for _ in range(100)]
        await asyncio.sleep(0.2)
        try:
            return await asyncio.wait_for(together.ask(7), 30)
        finally:
            release.set()
            await asyncio.gather(*held)

    assert asyncio.run(crowd()) == 7
