"""A cluster whose scheduler and workers stand in network namespaces of their own, one of them cut off at work.

A killed worker closes its connections; one whose cable is pulled just falls silent. Namespaces with a bridge between
them are as near to machines of their own as one machine gets. ``test_apart.py`` runs this where nobody else is.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pdqs.scale import Run
from pdqs.scale.cluster import connected
from pdqs.scale.worker_retry import ClusterError

from .markets import assert_same_answer, assert_same_round, in_memory, lottery_for, market, save

SOON = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "15s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
}
"""How soon silence is taken for death: a connection without an answer by TCP, a worker without a heartbeat."""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


@dataclass(frozen=True)
class Rooms:
    """Three namespaces on one bridge: for the scheduler and two workers."""

    tag: str
    net: str

    def name(self, room: int) -> str:
        return f"pdqs-{self.tag}-{room}"

    def link(self, room: int) -> str:
        return f"pq{self.tag}{room}"

    def build(self, undo: ExitStack) -> None:
        bridge = f"pq{self.tag}b"
        ip("link", "set", "lo", "up")
        ip("link", "add", bridge, "type", "bridge")
        undo.callback(ip, "link", "del", bridge)
        ip("addr", "add", f"{self.net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for room in (2, 3, 4):
            ip("netns", "add", self.name(room))
            undo.callback(ip, "netns", "del", self.name(room))
            ip("link", "add", self.link(room), "type", "veth", "peer", "name", "eth0", "netns", self.name(room))
            ip("link", "set", self.link(room), "master", bridge, "up")
            ip("-n", self.name(room), "addr", "add", f"{self.net}.{room}/24", "dev", "eth0")
            ip("-n", self.name(room), "link", "set", "eth0", "up")
            ip("-n", self.name(room), "link", "set", "lo", "up")

    def cut_off(self, room: int) -> None:
        """Pull the cable."""
        ip("link", "set", self.link(room), "down")

    def started(self, room: int, words: list[str], undo: ExitStack) -> None:
        """A command of Dask's, in a room."""
        there = ["ip", "netns", "exec", self.name(room), sys.executable, "-m", f"distributed.cli.{words[0]}"]
        silent = subprocess.DEVNULL
        process = subprocess.Popen([*there, *words[1:]], env={**os.environ, **SOON}, stdout=silent, stderr=silent)
        undo.callback(process.wait, 30)
        undo.callback(process.kill)


@pytest.fixture
def rooms() -> Iterator[tuple[Rooms, str]]:
    """The rooms with a scheduler and two workers at work in them, and the scheduler's address."""
    apart = Rooms(secrets.token_hex(3), f"10.213.{os.getpid() % 250}")
    with ExitStack() as undo:
        apart.build(undo)
        address = f"tcp://{apart.net}.2:8786"
        own = ["--no-dashboard"]
        apart.started(2, ["dask_scheduler", "--host", f"{apart.net}.2", "--port", "8786", *own], undo)
        for room in (3, 4):
            place = ["--host", f"{apart.net}.{room}", "--nworkers", "1", "--nthreads", "1", "--no-nanny"]
            apart.started(room, ["dask_worker", address, *place, *own], undo)
        yield apart, address


def ready(address: str) -> str:
    """The address, once the scheduler and a worker answer there."""
    until = time.monotonic() + 120.0
    while True:
        try:
            with connected(address):
                return address
        except ClusterError:
            assert time.monotonic() < until, "the cluster has not come up"
            time.sleep(0.5)


def test_a_worker_cut_off_from_the_network_changes_nothing(rooms: tuple[Rooms, str], tmp_path: Path) -> None:
    """The link falls when the first of 30 pieces is priced: the worker holds results and is at work on others."""
    apart, address = rooms
    table, terms = market(3_000, np.random.default_rng(2)), lottery_for(3_000)
    many = save(table, tmp_path / "many", groups=[[100] * 30])
    cut: list[int] = []

    def cut_one_off(stage: str, done: int, rows: int) -> None:
        if stage == "trading" and 0 < done < rows and not cut:
            apart.cut_off(4)
            cut.append(done)

    with connected(ready(address)) as engine:
        engine.client.wait_for_workers(2, timeout=120)
        done = Run(engine=engine, piece_rows=100, progress=cut_one_off).trade(many, terms, tmp_path / "round", seed=8)
        left = engine.client.scheduler_info(n_workers=-1)["workers"]
    assert cut, "the link fell while there was work left"
    assert [worker.partition("//")[2].partition(":")[0] for worker in left] == [f"{apart.net}.3"], "one worker is left"
    expected = in_memory(table, terms, 8)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)
