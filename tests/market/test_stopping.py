"""A server that is told to stop while pages follow rounds: they hear the end at once, and only the log is printed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from market.test_commands_of_the_shell import PDQS
from market.test_deployment import _until as until
from market.town import Town, new_database
from pdqs.market import access
from pdqs.market.context import system_clock
from pdqs.market.http.changes import Changes

FOLLOWERS = 6


@contextmanager
def _serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a group of processes of its own, as a terminal has it; gives it and its address."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PDQS_")}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*PDQS, "serve", "--port", "0", "--no-link", *words],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        address = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert address is not None
        yield process, address.group()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _events(folder: Path) -> list[str]:
    """What the log tells of, a word to each line; a line that is none of the log's is a fault."""
    return [str(json.loads(line)["event"]) for line in (folder / "log").read_text().splitlines()]


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_whoever_follows_a_round_hears_the_end_at_once_and_nothing_but_the_log_is_printed(
    either_town: Town, tmp_path: Path, told: signal.Signals
) -> None:
    town = either_town
    town.clock.now_ms = system_clock()
    found = town.open_round(bid_seconds=3600)
    cookie = access.start_session(town.market, town.consumer).cookie
    url, many = town.market.settings.database_url, town.market.store.dialect != "sqlite"
    town.market.store.close()
    words = ["--workers", "2"] if many else []
    with _serving(tmp_path, "--database", url, *words) as (process, address), ExitStack() as open_streams:
        following = []
        for _ in range(FOLLOWERS):  # each by a connection of its own, so that every worker has some
            line = httpx.Client(base_url=address, timeout=120, transport=httpx.HTTPTransport(retries=8))
            events = f"/consumer/rounds/{found.round_id}/events"
            headers = {"cookie": f"pdqs_session={cookie}"}
            answer = open_streams.enter_context(open_streams.enter_context(line).stream("GET", events, headers=headers))
            heard = answer.iter_text()
            assert next(heard).startswith("retry:"), answer.status_code
            following.append(heard)
        until(lambda: _events(tmp_path).count("started") == (2 if many else 1))
        if told == signal.SIGINT:
            os.killpg(process.pid, told)  # as a terminal does: to every process of the server
        else:
            process.send_signal(told)
        ends = ["".join(heard) for heard in following]  # a stream that is cut off is a fault here
        ended = process.wait(timeout=120)
    assert ends == [": come back\n\n"] * FOLLOWERS
    assert ended in ((0,) if many or told == signal.SIGINT else (0, -told))
    said = _events(tmp_path)
    assert said.count("stopped") == (2 if many else 1)
    assert not {"server", "fault", "worker-died"} & set(said)


def test_a_stream_that_is_asked_for_while_the_server_stops_ends_at_once(town: Town) -> None:
    found = town.open_round()

    async def gone() -> bool:
        return False

    async def play() -> list[str]:
        watcher = Changes(town.market, every_seconds=3600)
        early = watcher.stream(found.round_id, "c", counts=True, gone=gone)
        assert (await anext(early)).startswith("retry:")
        waiting = asyncio.ensure_future(anext(early))
        await asyncio.sleep(0)
        watcher.end()
        late = watcher.stream(found.round_id, "c", counts=True, gone=gone)
        heard = [await waiting, *[event async for event in early], *[event async for event in late]]
        assert watcher.followers == 0
        return heard

    heard = asyncio.run(asyncio.wait_for(play(), 120))
    assert [event.strip() for event in heard] == [": come back", "retry: 2000", ": come back"]


def test_what_the_server_below_has_to_say_is_a_line_of_the_log_which_quotes_nobody(tmp_path: Path) -> None:
    with _serving(tmp_path) as (process, address):
        host, _, port = address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as line:
            line.sendall(b"no request of mine\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 400")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["said"] for line in log if line["event"] == "server"] == ["Invalid HTTP request received."]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes as Linux shows them")
def test_workers_do_not_hear_ctrl_c_themselves_also_while_they_start(postgres: str, tmp_path: Path) -> None:
    """They would end in the middle of an import, with a traceback; whoever started them tells them to stop."""
    url = new_database(postgres, "stopped_early")
    with _serving(tmp_path, "--database", url, "--workers", "2") as (process, _):
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")

        def importing() -> list[int]:
            children = [int(each) for each in listed.read_text().split()]
            return [each for each in children if "numpy" in Path(f"/proc/{each}/maps").read_text()]

        until(lambda: len(importing()) == 2)
        for worker in importing():
            os.kill(worker, signal.SIGINT)
        until(lambda: _events(tmp_path).count("started") == 2)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=120) == 0
    said = _events(tmp_path)
    assert (said[-1], said.count("stopped"), "worker-died" in said) == ("clock-stopped", 2, False)
