"""Several processes on one PostgreSQL: who answers, who keeps the clock, and what happens when the database is away."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from market.test_commands_of_the_shell import PDQS
from market.town import Town, new_database, plan
from pdqs.market import Settings, round_steps
from pdqs.market.client import MarketClient
from pdqs.market.clock_state import ClockState, last_tick, note_tick
from pdqs.market.http.app import create_app
from pdqs.market.http.clock import keep_deadlines, ticking
from pdqs.market.http.readiness import Readiness
from pdqs.market.http.serving import listening_socket, served
from pdqs.market.store.database import open_store
from pdqs.market.store.leader import Leader


def _until(true: Callable[[], bool], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


@contextmanager
def _workers(directory: Path, url: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PDQS_")}
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [*PDQS, "serve", "--port", "0", *words],
            cwd=directory,
            env={**environment, "PDQS_DATABASE_URL": url, "PDQS_TICK_SECONDS": "0.2"},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    try:
        address = re.search(r"http://[\d.:]+", process.stdout.readline())
        code = process.stdout.readline().strip().partition("/enter#")[2]
        assert address is not None
        yield process, address.group(), code
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=300)


def _log(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / "log").read_text().splitlines()]


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=10).status_code == 200
    except httpx.HTTPError:
        return False


def _alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may still be listed where nobody asks after it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _metrics(address: str) -> str:
    return httpx.get(f"{address}/metrics", timeout=60).text


def test_two_workers_serve_one_market_whose_rounds_go_on_by_themselves_and_a_dead_worker_is_replaced(
    postgres: str, tmp_path: Path
) -> None:
    url = new_database(postgres, "two_workers")
    with _workers(tmp_path, url, "--workers", "2") as (process, address, code):
        _until(lambda: _answers(address))
        with MarketClient.enter(address, code) as operator:
            invited = operator.invite("consumer", "Clara")
            operator.deposit(invited.user.user_id, 50_000_000)
            with MarketClient.enter(address, invited.code) as consumer:
                opened = consumer.open(consumer.draft(plan(bid_seconds=1)).round_id)
                _until(lambda: consumer.round(opened.round_id).state == "cancelled")  # nobody bid: the clock saw to it
        _until(lambda: sum(line["event"] == "started" for line in _log(tmp_path)) == 2)
        assert re.search(r'^pdqs_request_seconds_count\{worker="[12]"\} ', _metrics(address), re.MULTILINE)
        first = next(int(str(line["pid"])) for line in _log(tmp_path) if line["event"] == "started")
        os.kill(first, signal.SIGKILL)
        _until(lambda: sum(line["event"] == "started" for line in _log(tmp_path)) == 3)
        assert _answers(address)
        process.terminate()
        process.wait(timeout=300)
    events = [str(line["event"]) for line in _log(tmp_path)]
    assert events.count("worker-died") == 1
    assert events.count("stopped") == 2
    assert {"clock-started", "clock-leads", "advanced", "clock-stopped"} <= set(events)
    pids = {int(str(line["pid"])) for line in _log(tmp_path) if "pid" in line}
    assert not any(map(_alive, pids))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
def test_the_clock_gives_way_to_requests_where_other_processes_answer_them(town: Town) -> None:
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    for apart, gives_way in ((True, True), (False, False)):
        with ticking(town.market, Readiness(town.market.store), apart=apart):
            clock = next(thread for thread in threading.enumerate() if thread.name == "pdqs-clock")
            postman = next(thread for thread in threading.enumerate() if thread.name == "pdqs-postman")
            _until(lambda: last_tick(town.market).at_ms > 0)
            ranks = [os.getpriority(os.PRIO_PROCESS, thread.native_id or 0) for thread in (clock, postman)]
            assert [rank > mine for rank in ranks] == [gives_way, False]
        town.clock.advance(60)
    assert os.getpriority(os.PRIO_PROCESS, 0) == mine


def test_workers_do_not_outlive_the_process_that_started_them(postgres: str, tmp_path: Path) -> None:
    with _workers(tmp_path, new_database(postgres, "orphans")) as (process, address, _):
        _until(lambda: _answers(address))
        worker = next(int(str(line["pid"])) for line in _log(tmp_path) if line["event"] == "started")
        process.kill()
        process.wait()
        _until(lambda: not _alive(worker))


def test_more_than_one_worker_on_sqlite_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run([*PDQS, "serve", "--workers", "2"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.startswith("pdqs: 2 workers need PostgreSQL")


def test_one_process_leads_and_another_takes_over_when_it_is_gone(postgres: str) -> None:
    url = new_database(postgres, "leaders")
    stores = [open_store(url), open_store(url)]
    first, second = map(Leader, stores)
    assert (first.leads(), second.leads(), first.leads(), second.leads()) == (True, False, True, False)
    first.resign()
    assert second.leads()
    assert not first.leads()
    with stores[1].write() as connection:  # the line of the leader dies, as in a restart of the database
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_locks"
            " WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
    assert not second.leads()
    assert first.leads() or second.leads()
    for leader, store in zip((first, second), stores, strict=True):
        leader.resign()
        store.close()


def test_a_market_on_sqlite_has_one_process_and_that_leads(town: Town) -> None:
    assert Leader(town.market.store).leads()


def test_every_process_can_tell_when_deadlines_were_last_looked_at_and_what_is_stuck(either_town: Town) -> None:
    town = either_town
    assert last_tick(town.market) == ClockState()
    keep_deadlines(town.market)
    assert last_tick(town.market) == ClockState(at_ms=town.clock())
    town.clock.advance(1)
    note_tick(town.market)
    assert last_tick(town.market).at_ms == town.clock() - 1000, "nothing changed, and not every second needs a write"
    assert not last_tick(town.market).is_late(town.clock())
    town.clock.advance(120)
    assert last_tick(town.market).is_late(town.clock())


def test_a_market_starts_without_its_database_says_so_and_goes_on_when_it_comes(postgres: str, town: Town) -> None:
    url = postgres.replace("/postgres?", "/late?", 1)
    app = create_app(Settings(database_url=url, tick_seconds=0.1), town.clock)
    with served(app) as address, httpx.Client(base_url=address) as client:
        for path in ("/healthz", "/v1/me", "/metrics"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["type"], answer.headers["retry-after"]) == (
                503,
                "unavailable",
                "1",
            )
        page = client.get("/", headers={"accept": "text/html"})
        assert page.status_code == 503
        assert "database cannot be reached just now" in page.text
        new_database(postgres, "late")
        _until(lambda: client.get("/healthz").status_code == 200)
        assert client.get("/").status_code == 200


def test_a_database_that_goes_away_later_is_503_and_all_is_well_when_it_is_back(postgres: str, town: Town) -> None:
    url = new_database(postgres, "away")
    app = create_app(Settings(database_url=url), town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address) as client:
        code = round_steps.first_operator(app.state.market).code
        token = client.post("/v1/tokens", json={"code": code}).json()["token"]
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("ALTER DATABASE away ALLOW_CONNECTIONS false")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'away'")
        asked = {"authorization": f"Bearer {token}"}
        assert client.get("/v1/rounds", headers=asked).status_code == 503
        assert client.get("/", headers={"accept": "text/html", "cookie": "pdqs_session=" + "a" * 43}).status_code == 503
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("ALTER DATABASE away ALLOW_CONNECTIONS true")
        assert client.get("/v1/rounds", headers=asked).status_code == 200


def test_more_callers_than_connections_wait_for_their_turn(postgres: str, town: Town) -> None:
    url = new_database(postgres, "crowd")
    app = create_app(Settings(database_url=url, database_connections=16), town.clock, ticking=False)
    with served(app) as address:
        with ThreadPoolExecutor(60) as callers:
            found = list(callers.map(lambda _: httpx.get(f"{address}/metrics", timeout=300).status_code, range(150)))
        assert found == [200] * 150
        with psycopg.connect(postgres) as connection:
            held = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = 'crowd'").fetchone()
        assert held is not None
        assert held[0] <= 16


@pytest.mark.parametrize("shared", [False, True])
def test_whoever_calls_before_the_market_is_served_waits_and_is_not_turned_away(shared: bool) -> None:
    """A link that was printed can be followed at once. One of several sockets listens only when it is served."""
    with listening_socket("127.0.0.1", 0, shared=shared) as bound, socket.socket() as caller:
        assert caller.connect_ex(bound.getsockname()) == (errno.ECONNREFUSED if shared else 0)


def _plain_socket(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.bind((host, port))
    return bound


@pytest.mark.parametrize(("made", "at_once"), [(listening_socket, True), (_plain_socket, False)])
def test_answers_are_sent_without_waiting_for_word_of_their_first_part(
    made: Callable[[str, int], socket.socket], at_once: bool
) -> None:
    """A server that waits is forty milliseconds late with every answer; a socket made carelessly is such a one."""

    async def waits_not() -> bool:
        seen = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(lambda _, writer: seen.set_result(writer), sock=made("127.0.0.1", 0))
        async with server:
            _, caller = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer = await asyncio.wait_for(seen, 60)
            found = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for end in (caller, writer):
                end.close()
                await end.wait_closed()
            return bool(found)

    assert asyncio.run(waits_not()) is at_once
