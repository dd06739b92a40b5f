"""Dear things are made one at a time: few wait for them, and nobody takes everyone's threads by asking often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from market.town import Town
from pdqs.market import own_data, records, round_steps
from pdqs.market.made_once import MadeOnce
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import TooManyRequestsError

Ask = Callable[[User], object]


def held_up(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> tuple[threading.Event, threading.Event]:
    """Have a function of a module wait to be let go: when it began, and what lets it go."""
    whole: Callable[..., object] = getattr(module, name)
    begun, go = threading.Event(), threading.Event()

    def slow(*given: object) -> object:
        begun.set()
        assert go.wait(30)
        return whole(*given)

    monkeypatch.setattr(module, name, slow)
    return begun, go


def refused_at_once(ask: Ask, who: User) -> bool:
    before = time.monotonic()
    with pytest.raises(TooManyRequestsError, match="ask again in a moment"):
        ask(who)
    return time.monotonic() - before < 5.0  # those who may wait have twenty seconds of patience


def few_have_places(ask: Ask, callers: Sequence[User], begun: threading.Event, go: threading.Event) -> bool:
    """Two of the first caller's are in and no third; two of others, and nobody after them. All of them are told."""
    first, second, third, late = callers
    with ThreadPoolExecutor(4) as pool:
        inside = [pool.submit(ask, first)]
        assert begun.wait(30)
        try:
            inside.append(pool.submit(ask, first))
            time.sleep(0.2)
            no_third = refused_at_once(ask, first)
            inside += [pool.submit(ask, who) for who in (second, third)]
            time.sleep(0.2)
            no_more = refused_at_once(ask, late)
        finally:
            go.set()
        return no_third and no_more and all(one.result() for one in inside) and bool(ask(late))


def test_few_wait_for_what_they_take_away_and_one_caller_has_two_places(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    callers = [*town.add_owners(3), town.consumer]
    held = held_up(monkeypatch, own_data, "export")
    assert few_have_places(lambda who: own_data.export_text(town.market, who), callers, *held)


def test_few_wait_for_a_record_and_one_caller_has_two_places(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add_owners(30)
    found = town.cleared_round()
    for owner in town.asked(found):
        town.report(owner, found, 1)
    round_steps.settle_round(town.market, town.consumer, found.round_id)
    held = held_up(monkeypatch, records, "record")
    callers = [*town.owners[:3], town.consumer]
    assert few_have_places(lambda who: records.record_text(town.market, who, found.round_id), callers, *held)


def test_nobody_in_particular_waits_as_long_as_there_are_places() -> None:
    kept: MadeOnce[int, int] = MadeOnce(most=0, patience=30.0, waiting=3)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda place: kept.get(place, lambda: place + 1), range(4)))
    assert made == [1, 2, 3, 4]


def test_a_place_is_free_again_once_what_was_made_there_failed() -> None:
    kept: MadeOnce[str, int] = MadeOnce(most=0, patience=1.0, waiting=0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            kept.get("broken", lambda: 1 // 0, caller="ann")
    assert kept.get("whole", lambda: 3, caller="ann") == 3


def test_what_is_kept_for_a_while_is_let_go_without_anyone_asking() -> None:
    kept: MadeOnce[str, int] = MadeOnce(most=2, patience=1.0, seconds=0.1)
    for attempt in range(2):  # and so is what is kept after that
        assert kept.get("one", lambda: 1) == 1
        assert kept.get("one", lambda: 2) == 1
        time.sleep(0.4)
        assert not kept._kept, attempt
