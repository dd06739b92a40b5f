r"""A market with very many bids while others go on bidding, and with several workers.

    python benchmarks/market_scale.py crowd --bids 1000000 --out docs/results/market/crowd_postgresql.json
    python benchmarks/market_scale.py crowd --bids 100000 --database sqlite \
        --out docs/results/market/crowd_sqlite.json
    python benchmarks/market_scale.py workers --owners 8000 --turns 5 --out docs/results/market/workers.json
    python benchmarks/market_scale.py simulate --owners 20000 --out docs/results/market/simulate.json

**crowd**: one round of very many bids, inserted in bulk, is cleared and settled by the market's own clock (``pdqs
serve``), while a few owners bid in other rounds at a steady rate. What counts is the p99 of their bids then, beside the
p99 before, on the same server in the same run; and the longest wait. Disks of rented machines stand still now and then,
for tenths of a second and for reasons of their own: a page that is written and waited for beside it all, by nobody's
market, tells when. Bids that were under way then, idle or not, are counted apart; ratios are given with and without
them. The aims: p99 at most 5 times idle; clearing of a
million on PostgreSQL under 40 s and settling under 90 s; of 100,000 on SQLite clearing under 5 s, no bid over 1 s.

**workers**: bids a second of ``pdqs serve --workers 2`` beside ``--workers 1``, on one database, by turns. Aim: 1.6.
Bids that come together share a transaction, and so over few connections two workers share less each than one does: what
counts is the figure over as many as keep both busy. On two cores the database and whoever sends take from the second
worker what they need, so two things are measured beside it: how much more two processes do than one when they share
nothing at all (what the machine itself has to give), and the same comparison with each worker held to half a core, so
that there are processors enough for all.

**simulate**: ``pdqs market simulate`` on a server of two workers: seconds, and the most memory of its processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import psycopg
from bench_market import databases, request_for, sent
from sqlalchemy import func, select, update

from market.town import Town, found_town
from pdqs.market import access, round_steps
from pdqs.market.context import system_clock
from pdqs.market.store.schema import bids, offers, reports, rounds
from pdqs.market.store.sql import insert_many
from pdqs.protocol.market_messages import Round, Transfer

PDQS = [sys.executable, "-c", "from pdqs.cli import main; main()"]
UNLIMITED = {f"PDQS_{name}": "1e9" for name in ("CALLER_RATE", "CALLER_BURST", "ADDRESS_RATE", "ADDRESS_BURST")}
BIDDERS = 400
EVERY_SECONDS = 0.02
HALF_SECONDS = 0.005
REST_SECONDS = 10.0
STANDSTILL_SECONDS = 0.05
BETWEEN_SECONDS = 2.0
ENOUGH = 256
AT_A_TIME = (32, 64, 128, ENOUGH)
"""Connections that bids come over. Bids that come together share a transaction, so two workers need twice as many in
hand as one to be as busy: with few, what is measured is who has too little to do."""


@dataclass(frozen=True)
class Serving:
    """A server: where it listens, a fresh link for its operator, and the process that started its workers."""

    port: int
    link: str
    process: int

    def workers(self) -> list[int]:
        """The processes of its workers."""
        found = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return [int(one) for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


@contextmanager
def serving(url: str, workers: int = 1) -> Iterator[Serving]:
    """``pdqs serve`` on a database."""
    environment = {**os.environ, **UNLIMITED, "PDQS_DATABASE_URL": url}
    command = [*PDQS, "serve", "--port", "0", "--workers", str(workers), "--link"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/"
    )
    assert process.stdout is not None
    try:
        port = int(re.findall(r":(\d+)", process.stdout.readline())[0])
        link = process.stdout.readline().split(": ", 1)[1].strip()
        _until_it_answers(port)
        yield Serving(port, link, process.pid)
    finally:
        process.terminate()
        process.wait()


def _until_it_answers(port: int) -> None:
    import httpx

    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server did not start")


Span = tuple[float, float]
"""From when to when."""


class Steady:
    """Bids at a steady rate, one each 20 ms, whatever became of those before; when each began and ended."""

    def __init__(self, port: int, requests: list[bytes]) -> None:
        self._port, self._requests = port, requests
        self.times: list[Span] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    def __enter__(self) -> Steady:
        self._thread.start()
        return self

    def __exit__(self, *_fault: object) -> None:
        self._stop.set()
        self._thread.join()

    async def _run(self) -> None:
        lines: asyncio.LifoQueue[Any] = asyncio.LifoQueue()
        tasks, sent_so_far = set(), 0
        began = time.perf_counter()
        while not self._stop.is_set():
            request = self._requests[sent_so_far % len(self._requests)]
            task = asyncio.create_task(self._one(lines, request))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent_so_far += 1
            await asyncio.sleep(max(0.0, began + sent_so_far * EVERY_SECONDS - time.perf_counter()))
        await asyncio.gather(*tasks)

    async def _one(self, lines: asyncio.LifoQueue[Any], request: bytes) -> None:
        began, head = time.time(), b""
        while not head:
            kept = not lines.empty()
            line = lines.get_nowait() if kept else await asyncio.open_connection("127.0.0.1", self._port)
            try:
                head = await self._asked(*line, request)
            except (asyncio.IncompleteReadError, ConnectionError):
                assert kept, "a fresh connection was closed"  # one that had idled may be, and another is taken
        assert head.startswith(b"HTTP/1.1 200"), head
        self.times.append((began, time.time()))
        lines.put_nowait(line)

    @staticmethod
    async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
        return head


class Disk:
    """The control: a page written and waited for (fdatasync) each 20 ms, beside everything else, by nobody's market."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "page"
        self.times: list[Span] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Disk:
        self._thread.start()
        return self

    def __exit__(self, *_fault: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with self._file.open("wb", buffering=0) as page:
            while not self._stop.wait(EVERY_SECONDS):
                began = time.time()
                page.seek(0)
                page.write(os.urandom(8192))
                os.fdatasync(page.fileno())
                self.times.append((began, time.time()))

    def standstills(self) -> list[Span]:
        """When the disk did not write even this page for so long, and a little after, until the line was served."""
        long = [(began, ended) for began, ended in self.times if ended - began > STANDSTILL_SECONDS]
        return [(began, ended + STANDSTILL_SECONDS) for began, ended in long]


def figures(times: list[Span], spans: list[Span], without: list[Span]) -> dict[str, float]:
    """What those took that were under way in these spans, and in none of the others, whose number is told apart.

    Ask when all have ended, or the slowest are missed.
    """

    def under_way(some: list[Span], one: Span) -> bool:
        return any(one[0] <= end and one[1] >= start for start, end in some)

    found = [one for one in times if under_way(spans, one)]
    rest = [ended - began for began, ended in found if not under_way(without, (began, ended))]
    if len(rest) < 2:
        return {"count": len(rest)}
    p99 = statistics.quantiles(rest, n=100)[98]
    shown = {"count": len(rest), "p99_ms": round(1000 * p99, 1), "longest_ms": round(1000 * max(rest), 1)}
    return {**shown, "left_out": len(found) - len(rest)} if without else shown


def crowd(url: str, count: int, idle_seconds: float, turns: int) -> dict[str, Any]:
    """Clear and settle rounds of so many bids, one after the other, beside others who bid."""
    town = found_town(url, money_micros=10**12)
    town.clock.now_ms = system_clock()
    town.add_owners(count)
    small = [town.open_round(f"a-small-one-{i}", budget_micros=10**6, bid_seconds=86_400) for i in range(20)]
    tokens = [access.issue_token(town.market, owner) for owner in town.owners[:BIDDERS]]
    requests = [request_for(found, token, 7) for found in small for token in tokens]
    _as_if_it_had_come_by_and_by(url)
    with (
        tempfile.TemporaryDirectory(prefix="pdqs-disk-") as beside,
        Disk(Path(beside)) as disk,
        serving(url) as server,
        Steady(server.port, requests) as steady,
    ):
        time.sleep(2)
        spans = [_one_crowd(town, count, idle_seconds, f"the-large-one-{turn}") for turn in range(turns)]
    assert town.balanced()
    town.market.store.close()
    together = {name: [one[name] for one in spans] for name in spans[0]}
    return {
        "bids": count,
        **_crowd_figures(steady, disk, together),
        "turns": [_crowd_figures(steady, disk, {name: [one[name]] for name in one}) for one in spans],
    }


def _one_crowd(town: Town, count: int, idle_seconds: float, name: str) -> dict[str, Span]:
    """When nothing but the others' bids went on, when a large round was cleared and when it was settled."""
    pocket = Transfer(user_id=town.consumer.user_id, amount_micros=10**12)
    round_steps.deposit(town.market, town.operator, pocket, f"pocket-{name}")
    began = time.time()
    time.sleep(idle_seconds)
    idle = began, time.time()
    large = _with_bids(town, count, name)
    time.sleep(max(0.0, (large.bids_close_at_ms or 0) / 1000 - time.time()))
    cleared = _timed(town, large, "open")
    _report_all(town, large)
    time.sleep(2)
    with town.market.store.write() as connection:
        mine = rounds.c.round_id == large.round_id
        connection.execute(update(rounds).where(mine).values(reports_close_at_ms=system_clock()))
    return {"idle": idle, "clearing": cleared, "settling": _timed(town, large, "reporting")}


def _crowd_figures(steady: Steady, disk: Disk, spans: dict[str, list[Span]]) -> dict[str, Any]:
    """Of one turn or of several together: the longest of each step, and what others' bids took meanwhile."""
    seconds = {name: round(max(end - start for start, end in some), 1) for name, some in spans.items()}
    stood = disk.standstills()
    others = {name: figures(steady.times, some, stood) for name, some in spans.items()}
    whole = {name: figures(steady.times, some, []) for name, some in spans.items()}
    return {
        "clear_seconds": seconds["clearing"],
        "settle_seconds": seconds["settling"],
        "p99_ratio": _p99_ratio(others),
        "p99_ratio_with_standstills": _p99_ratio(whole),
        "others": others,
        "others_with_standstills": whole,
        "disk": {name: figures(disk.times, some, []) for name, some in spans.items()},
    }


def _p99_ratio(others: dict[str, dict[str, float]]) -> float:
    return round(max(others[name]["p99_ms"] for name in ("clearing", "settling")) / others["idle"]["p99_ms"], 2)


def _with_bids(town: Town, count: int, name: str) -> Round:
    """A round with so many bids, inserted in bulk before they close: its terms say when that is."""
    town.clock.now_ms = system_clock()
    window = 20 + count // 14_000 + int(REST_SECONDS)
    found = town.open_round(name, budget_micros=min(300_000 * count, 9 * 10**11), bid_seconds=window)
    rows = [
        {"round_id": found.round_id, "owner_id": owner.user_id, "bid_micros": 7919 * i % 10**6, "placed_at_ms": 1}
        for i, owner in enumerate(town.owners)
    ]
    with town.market.store.write() as connection:
        insert_many(connection, bids, rows)
    _as_if_it_had_come_by_and_by(town.market.settings.database_url)
    assert system_clock() < (found.bids_close_at_ms or 0), "the bids were not in before they closed"
    return found


def _as_if_it_had_come_by_and_by(url: str) -> None:
    """What PostgreSQL does by and by with rows that come over days it has not done with a million that came at once: it
    would be at it while others are timed, idle ones too, and would have to make the files of its log anew.
    """
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
    time.sleep(REST_SECONDS)  # disks too go on with what was written at once


def _timed(town: Town, found: Round, state: str) -> tuple[float, float]:
    """From now until the market's clock is done with a round whose time has come."""
    began = time.time()
    while True:
        with town.market.store.look() as connection:
            if connection.scalar(select(rounds.c.state).where(rounds.c.round_id == found.round_id)) != state:
                return began, time.time()
        time.sleep(0.05)


def _report_all(town: Town, found: Round) -> None:
    with town.market.store.read() as connection:
        mine = offers.c.round_id == found.round_id
        asked = connection.scalars(select(offers.c.owner_id).where(mine, offers.c.q_numerator > 0)).all()
    rows = [
        {"round_id": found.round_id, "owner_id": owner, "code": i % 2, "received_at_ms": 1, "ordinal": 1}
        for i, owner in enumerate(asked[1:])  # one is missing, so that it waits for the deadline
    ]
    with town.market.store.write() as connection:
        insert_many(connection, reports, rows)
        counted = select(func.count()).select_from(reports).where(reports.c.round_id == found.round_id)
        assert connection.scalar(counted) == len(rows)
    _as_if_it_had_come_by_and_by(town.market.settings.database_url)


def several_workers(url: str, owners: int, turns: int) -> dict[str, Any]:
    """Bids a second with one worker and with two, by turns; and again with half a core for each worker."""
    town = found_town(url, money_micros=10**12)
    town.clock.now_ms = system_clock()
    town.add_owners(owners)
    tokens = [access.issue_token(town.market, owner) for owner in town.owners]

    def rate(server: Serving, name: str, connections: int) -> float:
        found = town.open_round(f"{name}-{connections}-{server.port}", bid_seconds=86_400)
        requests = [request_for(found, token, 7 * i % 10**6) for i, token in enumerate(tokens)]
        time.sleep(BETWEEN_SECONDS)  # what the turn before left to be written is not this one's
        began = time.perf_counter()
        sent(server.port, requests, connections)
        return owners / (time.perf_counter() - began)

    def by_turns(name: str, connections: int) -> dict[str, Any]:
        pairs = [[rate(server, f"{name}-{turn}", connections) for server in (one, two)] for turn in range(turns + 1)]
        return _compared(pairs[1:])  # the first warms both up

    with serving(url, 1) as one, serving(url, 2) as two:
        whole = {connections: by_turns("turn", connections) for connections in AT_A_TIME}
        with held_to_half_a_core(one.workers()), held_to_half_a_core(two.workers()):
            half = by_turns("half-turn", ENOUGH)
    town.market.store.close()
    machine = [two_beside_one() for _ in range(turns)]
    return {
        "owners": owners,
        "connections": ENOUGH,
        **whole[ENOUGH],
        "with_other_connections": {str(some): found for some, found in whole.items() if some != ENOUGH},
        "half_a_core_each": half,
        "machine": {"ratio": round(statistics.median(machine), 2), "ratios": [round(ratio, 2) for ratio in machine]},
    }


def _compared(pairs: list[list[float]]) -> dict[str, Any]:
    ratios = [two / one for one, two in pairs]
    return {
        "one_worker_per_second": round(statistics.median(pair[0] for pair in pairs), 1),
        "two_workers_per_second": round(statistics.median(pair[1] for pair in pairs), 1),
        "ratio": round(statistics.median(ratios), 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
    }


@contextmanager
def held_to_half_a_core(processes: list[int]) -> Iterator[None]:
    """Let each process run half of the time, two of them by turns."""
    over = threading.Event()

    def hold() -> None:
        running, resting = processes[0::2], processes[1::2]
        while not over.wait(HALF_SECONDS):
            running, resting = resting, running
            for process in resting:
                os.kill(process, signal.SIGSTOP)
            for process in running:
                os.kill(process, signal.SIGCONT)
        for process in processes:
            os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def two_beside_one() -> float:
    """How many times as much two processes do as one, where they share nothing but the machine."""
    seconds = []
    for count in (1, 2):
        with multiprocessing.get_context("spawn").Pool(count) as pool:
            pool.map(_toil, [1000] * count, chunksize=1)
            began = time.perf_counter()
            pool.map(_toil, [10_000_000] * count, chunksize=1)
            seconds.append(time.perf_counter() - began)
    return 2 * seconds[0] / seconds[1]


def _toil(steps: int) -> int:
    kept: dict[int, str] = {}
    for step in range(steps):
        kept[step % 1000] = f"{step}"
    return len(kept)


def simulated(url: str, owners: int, bid_seconds: int) -> dict[str, Any]:
    """A simulated round of so many owners on two workers."""
    with serving(url, 2) as server:
        began = time.perf_counter()
        command = [*PDQS, "market", "simulate", "--owners", str(owners), "--link", server.link, "--json"]
        command += ["--yes", "--leave"]
        command += ["--bid-seconds", str(bid_seconds)] if bid_seconds else []
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd="/")
        seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    found = json.loads(done.stdout)
    return {
        "owners": owners,
        "seconds": round(seconds, 1),
        "largest_process_mb": round(most / 1024),
        "bids": found["owners"],
        "reports": found["reports"],
        "covered": found["covered"],
        "books_balance": found["books_balance"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["crowd", "workers", "simulate"])
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--bids", type=int, default=20_000)
    parser.add_argument("--owners", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--idle-seconds", type=float, default=15.0)
    parser.add_argument("--bid-seconds", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    load = os.getloadavg()[0]  # what else the machine was busy with: on two idle cores it is near nothing
    with databases(options.database) as made:
        url = made("market")
        if options.what == "crowd":
            found = crowd(url, options.bids, options.idle_seconds, options.turns)
        elif options.what == "workers":
            found = several_workers(url, options.owners, options.turns)
        else:
            found = simulated(url, options.owners, options.bid_seconds)
    said = {"database": options.database, "what": options.what, "load_before": round(load, 1)}
    written = json.dumps({**said, **found}, indent=2) + "\n"
    if options.out:
        options.out.write_text(written)
    print(written, end="")


if __name__ == "__main__":
    main()
