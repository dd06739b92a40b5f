"""Simulated owners: whoever comes too late is left out, and any other fault is one."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from market.town import Town, found_town
from pdqs.market import simulated_crowd
from pdqs.market.context import system_clock
from pdqs.market.simulated_crowd import SimulatedOwner, bid_all, drawer
from pdqs.model.errors import InputError
from pdqs.protocol.market_messages import Round
from pdqs.protocol.problems import MarketError


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return found_town(f"sqlite:///{tmp_path / 'market.db'}", money_micros=50_000_000)


def _refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked, the market says that bids are closed."""
    said = {"type": "bids-closed", "title": "", "status": 409, "detail": "bids in this round are closed"}
    wire = httpx.MockTransport(lambda _request: httpx.Response(409, json=said))
    monkeypatch.setattr(simulated_crowd, "_Shared", lambda: _Wire(wire))


class _Wire(httpx.BaseTransport):
    def __init__(self, wire: httpx.MockTransport) -> None:
        self._wire = wire

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._wire.handle_request(request)

    def hang_up(self) -> None:
        """Nothing to let go of."""


def _bids(opened: Round, directory: Path) -> tuple[list[SimulatedOwner], list[str]]:
    said: list[str] = []
    crowd = [
        SimulatedOwner(
            address="http://market.test",
            file=directory / f"{i}.sqlite",
            value=1.0,
            bid_micros=5,
            code="",
            token="t" * 43,
        )
        for i in range(3)
    ]
    with ThreadPoolExecutor(1) as pool:
        return bid_all(pool, crowd, opened, said.append), said


def test_whoever_comes_after_bids_closed_is_left_out_and_counted(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refusing(monkeypatch)
    opened = town.open_round("late", bid_seconds=60).model_copy(update={"bids_close_at_ms": system_clock() - 1})
    taken, said = _bids(opened, tmp_path)
    assert taken == []
    assert said[-1] == "3 of 3 came too late to bid: give them more time (--bid-seconds)"


def test_a_market_that_refuses_bids_in_time_is_not_taken_for_lateness(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refusing(monkeypatch)
    opened = town.open_round("early", bid_seconds=60).model_copy(update={"bids_close_at_ms": system_clock() + 10**9})
    with pytest.raises(MarketError, match="bids in this round are closed"):
        _bids(opened, tmp_path)


def test_a_player_that_is_ended_from_outside_is_said_in_a_sentence(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_given: object) -> None:
        raise BrokenProcessPool("a process in the pool was terminated abruptly")

    monkeypatch.setattr(simulated_crowd, "_group", ended)
    with pytest.raises(InputError, match="was ended from outside"):
        _bids(town.open_round("ended"), tmp_path)


def test_one_that_is_ended_while_others_are_still_invited_is_said_so_too() -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, *_given: object, **_named: object) -> NoReturn:
            raise BrokenProcessPool("a child process terminated abruptly")

    someone = SimulatedOwner(address="http://market.test", file=Path("d"), value=1.0, bid_micros=5, code="c")
    with Broken(1) as pool, pytest.raises(InputError, match="was ended from outside"):
        simulated_crowd.enter_all(pool, [[someone]], print)


def test_devices_are_kept_in_memory_only_where_there_is_room_for_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container often has 64 MB of it, and 2,000 devices would have filled that."""
    container = shutil.disk_usage(tmp_path)._replace(free=64 * 2**20)
    monkeypatch.setattr(simulated_crowd, "_MEMORY", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: container)
    with drawer(500) as few, drawer(5_000) as many:
        assert (few.parent == tmp_path, many.parent == tmp_path) == (True, False)
    monkeypatch.setattr(simulated_crowd, "_MEMORY", tmp_path / "nowhere")
    with drawer(1) as elsewhere:
        assert elsewhere.parent != tmp_path
