"""The market under load, beside a bare endpoint that does nothing but insert.

    python benchmarks/bench_market.py --database sqlite --out docs/results/market/load_sqlite.json

1. **Bids a second.** Two servers on the same database in the same run: the market, and a FastAPI app whose one route
   parses the same message and inserts one row with the same store. A client keeps connections open and sends one bid
   for every owner, each with her own token. The two take turns, a hundred bids at a time, so that whatever else
   the machine does falls on both; what counts is their ratio. The aim is 0.6. Owners are those of the turn before, as a
   device that bids has asked for the round's notice just before.
2. **Clearing.** Seconds to clear and to settle one round of 100,000 owners. The aim for clearing is 5 s on SQLite.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import uvicorn
from sqlalchemy import text

from market.town import Town, found_town, new_database, postgres_server
from pdqs.market import Settings, round_steps
from pdqs.market.access import issue_token
from pdqs.market.context import system_clock
from pdqs.market.http.app import create_app
from pdqs.market.http.observe import log_to_stderr
from pdqs.market.http.serving import address_of, listening_socket, run_for_good, server_of
from pdqs.market.store.database import Store, open_store
from pdqs.market.store.schema import bids, offers, reports
from pdqs.protocol.device_messages import Bid, BidReceipt
from pdqs.protocol.market_messages import Round

CONNECTIONS = 32
BURST = 100
UNLIMITED = {"caller_rate": 1e9, "caller_burst": 1e9, "address_rate": 1e9, "address_burst": 1e9}


def serve_market(url: str) -> None:
    """The market as ``pdqs serve`` runs it, its log included, with rates that a load test does not reach."""
    log_to_stderr()
    _serve(server_of(create_app(Settings(database_url=url, **UNLIMITED))))  # type: ignore[arg-type]


def serve_bare(url: str) -> None:
    """One route: parse the message, insert a row, commit."""
    from fastapi import FastAPI

    app, store = FastAPI(), open_store(url)

    @app.put("/v1/rounds/{round_id}/bid")
    def put_bid(round_id: str, bid: Bid) -> BidReceipt:
        now = system_clock()
        with store.write() as connection:
            connection.execute(_INSERT, {"round": round_id, "bid": bid.bid_micros, "now": now})
        return BidReceipt(round_id=round_id, terms_hash=bid.terms_hash, bid_micros=bid.bid_micros, placed_at_ms=now)

    _serve(uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning", server_header=False)))


_INSERT = text("INSERT INTO bare (round_id, bid_micros, placed_at_ms) VALUES (:round, :bid, :now)")


def _serve(server: uvicorn.Server) -> None:
    bound = listening_socket("127.0.0.1", 0)
    print(address_of(bound), flush=True)
    run_for_good(server, bound)


@contextmanager
def running(what: str, url: str) -> Iterator[Server]:
    """A server in a process of its own."""
    command = [sys.executable, __file__, "--serve", what, "--url", url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        server = Server(port=int(process.stdout.readline().rsplit(":", 1)[1]), process=process.pid)
        _until_it_listens(server.port)
        yield server
    finally:
        process.terminate()
        process.wait()


def _until_it_listens(port: int) -> None:
    """The address is said when it is bound; connections are taken a little later."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


@dataclasses.dataclass(frozen=True)
class Server:
    """Where a server listens, and its process."""

    port: int
    process: int

    def cpu_seconds(self) -> float:
        """Time its process has spent computing."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Load:
    """What bursts of requests came to."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    latencies: list[float] = dataclasses.field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p99_ms(self) -> float:
        return 1000 * statistics.quantiles(self.latencies, n=100)[98]


def add_burst(load: Load, server: Server, requests: list[bytes]) -> None:
    """Send requests and add what they cost."""
    computed, began = server.cpu_seconds(), time.perf_counter()
    load.latencies += sent(server.port, requests)
    load.seconds += time.perf_counter() - began
    load.cpu_seconds += server.cpu_seconds() - computed


def sent(port: int, requests: list[bytes], connections: int = CONNECTIONS) -> list[float]:
    """Send every request once over so many connections; each must be answered 200. Gives the seconds each took.

    With bare sockets: whoever sends shares the processors with whom it measures, and should take little of them.
    """
    waiting, latencies = iter(requests), list[float]()
    began, came = dict[socket.socket, float](), dict[socket.socket, bytes]()
    with selectors.DefaultSelector() as selector:

        def go_on(line: socket.socket) -> None:
            request = next(waiting, None)
            if request is None:
                selector.unregister(line)
                line.close()
                return
            began[line], came[line] = time.perf_counter(), b""
            line.sendall(request)

        for _ in range(min(connections, len(requests))):
            line = socket.create_connection(("127.0.0.1", port))
            selector.register(line, selectors.EVENT_READ)
            go_on(line)
        while selector.get_map():
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                came[key.fileobj] += key.fileobj.recv(65536)
                if _is_whole(came[key.fileobj]):
                    latencies.append(time.perf_counter() - began[key.fileobj])
                    go_on(key.fileobj)
    return latencies


def _is_whole(answer: bytes) -> bool:
    """Whether an answer has come, all of it; one that is not 200 ends the measurement."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        assert answer, "the server closed the connection"
        return False
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    assert head.startswith(b"HTTP/1.1 200"), answer
    return len(body) >= length


def request_for(found: Round, token: str, bid_micros: int) -> bytes:
    body = Bid(terms_hash=str(found.terms_hash), bid_micros=bid_micros).model_dump_json().encode()
    head = (
        f"PUT /v1/rounds/{found.round_id}/bid HTTP/1.1\r\nHost: market\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def bids_a_second(url: str, owners: int, turns: int) -> dict[str, Any]:
    """The two servers by turns: one round and one burst each time."""
    town = found_town(url, money_micros=10**12)
    town.clock.now_ms = system_clock()
    town.add_owners(owners)
    tokens = {owner.user_id: issue_token(town.market, owner) for owner in town.owners}
    with town.market.store.write() as connection:
        connection.execute(text(_BARE[town.market.store.dialect]))
    with running("bare", url) as bare, running("market", url) as market:
        pairs = [_turn(town, tokens, turn, bare, market) for turn in range(turns + 1)][1:]  # the first warms both up
    town.market.store.close()
    return {"owners": owners, "turns": turns, "connections": CONNECTIONS, **_figures(pairs)}


def _turn(town: Town, tokens: dict[str, str], turn: int, bare: Server, market: Server) -> tuple[Load, Load]:
    """One round: every owner's bid to both servers, by turns."""
    found = town.open_round(f"round-of-turn-{turn}", bid_seconds=86_400)
    requests = [request_for(found, tokens[owner.user_id], 7 * i) for i, owner in enumerate(town.owners)]
    loads = Load(), Load()
    for start in range(0, len(requests), BURST):
        for load, server in zip(loads, (bare, market), strict=True):
            add_burst(load, server, requests[start : start + BURST])
    return loads


def _figures(pairs: list[tuple[Load, Load]]) -> dict[str, Any]:
    ratios = [mine.rate / other.rate for other, mine in pairs]
    both = {"bare": [pair[0] for pair in pairs], "market": [pair[1] for pair in pairs]}
    figures: dict[str, Any] = {}
    for name, loads in both.items():
        figures[f"{name}_per_second"] = round(statistics.median(load.rate for load in loads), 1)
        figures[f"{name}_p99_ms"] = round(statistics.median(load.p99_ms for load in loads), 1)
        cpu = sum(load.cpu_seconds for load in loads) / sum(len(load.latencies) for load in loads)
        figures[f"{name}_cpu_ms_per_request"] = round(1000 * cpu, 3)
    figures["cpu_ratio"] = round(figures["bare_cpu_ms_per_request"] / figures["market_cpu_ms_per_request"], 3)
    return {**figures, "ratio": round(statistics.median(ratios), 3), "ratios": [round(ratio, 3) for ratio in ratios]}


_BARE = {
    "sqlite": "CREATE TABLE bare (id INTEGER PRIMARY KEY, round_id TEXT, bid_micros INTEGER, placed_at_ms INTEGER)",
    "postgresql": "CREATE TABLE bare (id BIGSERIAL PRIMARY KEY, round_id TEXT, bid_micros BIGINT, placed_at_ms BIGINT)",
}


def large_round(url: str, owners: int) -> dict[str, Any]:
    """Seconds to clear and settle one round of so many."""
    town = found_town(url, money_micros=10**12)
    town.add_owners(owners)
    found = town.open_round(budget_micros=300_000 * owners)
    rows = [
        {"round_id": found.round_id, "owner_id": owner.user_id, "bid_micros": 7919 * i % 10**6, "placed_at_ms": 1}
        for i, owner in enumerate(town.owners)
    ]
    with town.market.store.write() as connection:
        connection.execute(bids.insert(), rows)
    town.clock.advance(60)
    began, computed = time.perf_counter(), time.process_time()
    cleared = round_steps.clear_round(town.market, town.operator, found.round_id)
    clear_seconds, clear_cpu_seconds = time.perf_counter() - began, time.process_time() - computed
    _report_all(town.market.store, cleared)
    began = time.perf_counter()
    round_steps.settle_round(town.market, town.operator, found.round_id)
    settle_seconds = time.perf_counter() - began
    assert town.balanced()
    town.market.store.close()
    return {
        "owners": owners,
        "offers": cleared.offers,
        "clear_seconds": round(clear_seconds, 2),
        "clear_cpu_seconds": round(clear_cpu_seconds, 2),
        "settle_seconds": round(settle_seconds, 2),
    }


def _report_all(store: Store, found: Round) -> None:
    with store.write() as connection:
        asked = connection.execute(
            offers.select().where(offers.c.round_id == found.round_id, offers.c.q_numerator > 0)
        ).all()
        rows = [
            {"round_id": found.round_id, "owner_id": offer.owner_id, "code": i % 2, "received_at_ms": 1}
            for i, offer in enumerate(asked)
        ]
        connection.execute(reports.insert(), rows)


@contextmanager
def databases(kind: str) -> Iterator[Any]:
    """A function from names to empty databases of the kind, as durable as a market's are."""
    with tempfile.TemporaryDirectory(prefix="pdqs-bench-") as directory:
        if kind == "sqlite":
            yield lambda name: f"sqlite:///{directory}/{name}.db"
            return
        with postgres_server(durable=True) as server:
            yield lambda name: new_database(server, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--owners", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3, help="of the large round; other work can only slow it down")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--serve", choices=["market", "bare"], default=None, help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        (serve_market if options.serve == "market" else serve_bare)(options.url)
        return
    with databases(options.database) as made:
        found = {
            "database": options.database,
            "load": bids_a_second(made("load"), options.owners, options.turns),
            "large_round": [large_round(made(f"large_{i}"), options.large) for i in range(options.repeats)],
        }
    written = json.dumps(found, indent=2) + "\n"
    if options.out:
        options.out.write_text(written)
    print(written, end="")


if __name__ == "__main__":
    main()
