"""Pages that wait are told that something changed, by one look for all; they are bounded, and each to its own round."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from market.town import Town, found_town
from owner.node import run_node
from pdqs.market import pages
from pdqs.market.http import changes
from pdqs.market.http.changes import Changes, marks_of
from pdqs.protocol.problems import TooManyRequestsError


@pytest.fixture
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return found_town(f"sqlite:///{tmp_path_factory.mktemp('events')}/market.db")


async def _never() -> bool:
    return False


async def _listen(events: AsyncIterator[str], heard: list[str]) -> None:
    async for event in events:
        said = event.strip()
        heard.append(said)  # one by one: others look at it meanwhile


async def _until(so: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until it is so, or for as long as the busiest machine may take."""
    for _ in range(int(seconds / 0.02)):
        if so():
            return
        await asyncio.sleep(0.02)


def test_a_bid_is_heard_of_by_the_consumer_and_not_by_other_owners(town: Town) -> None:
    (ann,) = town.add_owners(1)
    found = town.open_round()
    heard: dict[str, list[str]] = {"c": [], "o": []}

    async def play() -> int:
        watcher = Changes(town.market, every_seconds=0.02)
        pages = {name: watcher.stream(found.round_id, name, counts=name == "c", gone=_never) for name in heard}
        listening = [asyncio.create_task(_listen(pages[name], heard[name])) for name in heard]
        await _until(lambda: watcher.followers == 2 and all(heard.values()))
        followers = watcher.followers
        await asyncio.to_thread(town.bid, ann, found, 1)
        await _until(lambda: len(heard["c"]) > 1)
        await asyncio.sleep(0.4)  # twenty looks, in which nobody may hear of anything more
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        return followers

    followers = asyncio.run(play())
    assert heard["c"][1:] == ["data: changed"], "told once, and nothing but that"
    assert heard["o"][1:] == []
    assert followers == 2
    town.market.store.close()


def test_a_page_that_is_left_makes_room_and_nobody_looks_for_it(town: Town) -> None:
    found = town.open_round()

    async def play() -> int:
        watcher = Changes(town.market, every_seconds=0.01)
        gone = iter([False, False, True])

        async def leaving() -> bool:
            return next(gone, True)

        events = [event async for event in watcher.stream(found.round_id, "c", counts=True, gone=leaving)]
        assert events[-1].startswith(": come back")
        return watcher.followers

    assert asyncio.run(play()) == 0
    town.market.store.close()


def test_one_person_and_all_together_are_bounded(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    found = town.open_round()
    monkeypatch.setattr(changes, "MOST_EACH", 1)

    async def play() -> None:
        watcher = Changes(town.market, every_seconds=0.01)
        watcher.let_in("c")
        page = watcher.stream(found.round_id, "c", counts=True, gone=_never)
        await anext(page)
        with pytest.raises(TooManyRequestsError):
            watcher.let_in("c")
        watcher.let_in("another")

    asyncio.run(play())
    town.market.store.close()


def test_a_look_is_one_statement_for_any_number_of_rounds(town: Town) -> None:
    town.add_owners(3)
    ids = [town.open_round(f"a-round-of-{place:02d}", budget_micros=1_000_000).round_id for place in range(5)]
    found = marks_of(town.market, ids)
    assert set(found) == set(ids)
    assert len(set(found.values())) == 1, "they stand alike"
    town.market.store.close()


def test_a_page_whose_stream_was_refused_by_a_proxy_asks_for_another_when_the_market_may_be_back() -> None:
    module = Path(str(pages.__file__)).parent / "static" / "events.mjs"
    played = run_node(str(Path(__file__).with_name("following.mjs")), str(module))
    assert played == {"seen": [1, 1, 2, 2], "nets": 1}
