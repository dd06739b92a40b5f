"""Millions of requests to every route, as everyone, on both databases: none faults, and nothing that is wrong is taken.

    python tests/market/fuzz/running.py --requests 5000000 --work build/fuzz --out docs/results/attacks/fuzz.json

A batch is a fresh copy of one small market and so many requests to it, one after another, made from the seed and the
batch's number. Each is judged beforehand by an oracle that knows the rules and none of the market's code. After a batch
the tables themselves are compared with what was acknowledged: every bid, every report and every amount, and the books.
What is done is written down batch by batch; the same command goes on from there. On another machine it goes on from the
summary of an earlier run with the same seed and batch, if that is where ``--out`` points.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import gc
import logging
import math
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import anyio.to_thread
from fastapi.routing import APIRoute
from sqlalchemy import text

from market.campaign import Journal, Line, Pace, write_summary
from market.fuzz import weakened
from market.fuzz.asking import Answer, ask
from market.fuzz.making import Maker
from market.fuzz.noting import note
from market.fuzz.rules import add_unknown, fault_in, rule_for, who
from market.fuzz.summing import MOST_SHOWN, SHARES, carried, summary
from market.fuzz.telling import told_wrong
from market.fuzz.world import World, settle_in
from market.town import new_database, postgres_server
from pdqs.market import Settings, pages
from pdqs.market.http.app import create_app

BATCH = 10_000
_MEMORY = Path("/dev/shm")
"""Where there are files in memory: what is fuzzed here is what the market says, not what survives a fall of power."""


async def _at_once(function: Callable[..., Any], *given: Any, **_options: Any) -> Any:
    """Do in this thread what would be done in another: requests come one by one here; races have their own campaign."""
    return function(*given)


@dataclass(frozen=True)
class Stage:
    """A market that is set up, what is known of it, and how to copy it."""

    world: World
    now_ms: int
    copy: Callable[[], str]


@contextmanager
def stage(database: str) -> Iterator[Stage]:
    """A market that is set up on the database asked for."""
    with tempfile.TemporaryDirectory(prefix="pdqs-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        if database == "sqlite":
            first = Path(directory) / "first.db"
            town, world = settle_in(f"sqlite:///{first}")
            town.market.store.close()
            yield Stage(world, town.clock(), lambda: _copied(first))
        else:
            os.environ["XDG_RUNTIME_DIR"] = directory
            with postgres_server() as server:
                town, world = settle_in(new_database(server, "first"))
                town.market.store.close()
                yield Stage(world, town.clock(), lambda: new_database(server, "batch", template="first"))


def _copied(first: Path) -> str:
    second = first.with_name("batch.db")
    for old in first.parent.glob("batch.db*"):
        old.unlink()
    shutil.copy(first, second)
    return f"sqlite:///{second}"


def settings_for(url: str) -> Settings:
    """A market that does not tire of one caller, and takes little time for forecasts."""
    limits = {"caller_rate": 1e9, "caller_burst": 1e9, "address_rate": 1e9, "address_burst": 1e9}
    return Settings(database_url=url, forecast_seconds=0.02, **limits)  # type: ignore[arg-type]


def routes_of(app: Any) -> set[tuple[str, str]]:
    """Every route of the API and of the pages, as method and path."""
    described = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    shown = [route for part in pages.PARTS for route in part.router.routes if isinstance(route, APIRoute)]
    return described | {(method, one.path) for one in shown for method in one.methods or () if method != "HEAD"}


def know_every_route(set_up: Stage) -> None:
    """Have the routes asked too that the rules have no line for yet."""
    app = create_app(settings_for(set_up.copy()), ticking=False)
    add_unknown(sorted(routes_of(app)))
    app.state.market.store.close()


def run_batch(set_up: Stage, requests: int, seed: str, only: str = "") -> Line:
    """One batch; what was found. ``only``: a pattern of the routes to be asked; all unless given."""
    world, url = copy.deepcopy(set_up.world), set_up.copy()
    app = create_app(settings_for(url), lambda: set_up.now_ms, ticking=False)
    maker = Maker(world, random.Random(seed), only)
    try:
        found = asyncio.run(_ask_all(app, world, requests, maker))
        found["wrong"] = _differences(app.state.market, world) + found["wrong"]
    finally:
        app.state.market.store.close()
    found["wrong"] = found["wrong"][:MOST_SHOWN]
    return found


async def _ask_all(app: Any, world: World, requests: int, maker: Maker) -> Line:
    wrong = list[str]()
    counts: Counter[str] = Counter()
    routes: Counter[str] = Counter()
    for _ in range(requests):
        asked = maker.make()
        found = rule_for(asked)
        fault = fault_in(asked, world, found)
        person = who(asked, found[0], world) if found else None
        answer = await ask(app, asked)
        taken = was_taken(answer)
        counts[f"{'wrong' if fault else 'right'} {'taken' if taken else 'refused'}"] += 1
        where = f"{asked.method} {found[0].path}" if found else "no such route"
        routes[f"{where} {'taken' if taken else 'refused'}"] += 1
        if answer.status >= 500:
            counts["faults"] += 1
            wrong.append(f"answered {answer.status}: {asked}")
        if fault and taken:
            wrong.append(f"taken ({answer.status}) in spite of {fault!r}: {asked}")
        if found and found[0].judged:
            if taken and not fault:
                note(asked, answer, *found, person, world)
            slip = told_wrong(asked, answer, *found, person, world)
            if slip:
                counts["told wrong"] += 1
                wrong.append(f"{slip} ({answer.status}): {asked}")
    return {"requests": requests, "counts": dict(counts), "routes": dict(routes), "wrong": wrong}


def was_taken(answer: Answer) -> bool:
    """Whether the market did what it was asked: a page that leads to the door has not, unless it was asked to leave.

    Nor has one that only says how the address is spelled (307).
    """
    if answer.status >= 400 or answer.status == 307:
        return False
    if answer.headers.get(b"location", b"").startswith(b"/enter") or answer.headers.get(b"location") == b"/":
        return b"set-cookie" in answer.headers
    return True


def _differences(market: Any, world: World) -> list[str]:
    """Where the tables differ from what was acknowledged, and where the books do not add up."""
    with market.store.read() as connection:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in connection.execute(text(statement))]

        bids = {(r, o): b for r, o, b in rows("SELECT round_id, owner_id, bid_micros FROM bids")}
        reports = {(r, o): c for r, o, c in rows("SELECT round_id, owner_id, code FROM reports")}
        summed = "SELECT account, SUM(amount_micros) FROM postings GROUP BY account"
        sums = {account: int(amount) for account, amount in rows(summed)}
        balances = dict(rows("SELECT account, balance_micros FROM accounts WHERE balance_micros <> 0"))
        lopsided = rows("SELECT transaction_id FROM postings GROUP BY transaction_id HAVING SUM(amount_micros) <> 0")
    outside = -sum(world.moved.values())
    checks = {
        "bids": bids == world.bids,
        "reports": reports == world.reports,
        "balances": balances == {account: amount for account, amount in sums.items() if amount},
        "nobody overdrawn": all(amount >= 0 for account, amount in balances.items() if account != "world"),
        "every transaction is balanced": not lopsided,
        f"money from outside ({balances.get('world', 0)}, acknowledged {outside})": balances.get("world", 0) == outside,
    }
    return [f"after the batch, this does not hold: {name}" for name, holds in checks.items() if not holds]


def worker(database: str, numbers: list[int], options: argparse.Namespace, results: Any) -> None:
    """Run batches on one database, and hand each over."""
    logging.disable(logging.CRITICAL)
    anyio.to_thread.run_sync = _at_once  # type: ignore[assignment]
    if options.weakened:
        weakened.WAYS[options.weakened].weaken(setattr)
    try:
        with stage(database) as set_up:
            know_every_route(set_up)
            gc.freeze()  # what is there by now stays: it need not be looked through again and again
            gc.disable()
            began = time.monotonic()
            for number in numbers:
                if time.monotonic() - began > options.seconds:
                    break
                found = run_batch(set_up, options.batch, f"{options.seed} {database} {number}")
                gc.collect()
                results.put({"database": database, "number": number, **found})
    finally:
        results.put(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5_000_000, help="in all, a tenth of them on PostgreSQL")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--workers", type=int, default=2, help="processes, an even number: half on each database")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append", help="both unless given")
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--work", type=Path, default=Path("build/fuzz"), help="where the journal of batches is kept")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further batch after so long")
    parser.add_argument(
        "--weakened", choices=list(weakened.WAYS), help="ask a market that forgot a check, to see it caught"
    )
    options = parser.parse_args()
    databases = options.database or ["sqlite", "postgresql"]
    journal = Journal(options.work / f"fuzz-{options.weakened or options.seed}-{options.batch}.jsonl")
    batches = _batches(options.requests // options.batch, databases)
    before = [] if options.weakened or journal.lines else carried(options)
    for line in before:
        journal.add(line)
    first = {line["database"]: line["batches"] for line in journal.lines if "batches" in line}
    every = ({"database": d, "number": n} for d, count in batches.items() for n in range(first.get(d, 0), count))
    done = sum(line["requests"] for line in journal.lines)
    todo = journal.left(every) if options.seconds > 0 else []
    _share_out(todo, databases, options, journal, Pace("fuzz", options.requests, done))
    found = summary(journal.lines, options)
    write_summary(options.out, found)
    return 1 if found["wrong"] else 0


def _batches(count: int, databases: list[str]) -> dict[str, int]:
    """How many batches each database is asked."""
    whole = sum(SHARES[database] for database in databases)
    return {database: max(1, count * SHARES[database] // whole) for database in databases}


def _share_out(
    todo: list[Line], databases: list[str], options: argparse.Namespace, journal: Journal, pace: Pace
) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    each = max(1, options.workers // len(databases))
    shares = [
        (d, [part["number"] for part in todo if part["database"] == d][n::each]) for d in databases for n in range(each)
    ]
    processes = [context.Process(target=worker, args=(d, n, options, results)) for d, n in shares if n]
    for process in processes:
        process.start()
    ended = 0
    while ended < len(processes):
        line = results.get()
        if line is None:
            ended += 1
            continue
        journal.add(line)
        pace.step(line["requests"])
        for wrong in line["wrong"]:
            print(wrong[:2000], file=sys.stderr, flush=True)
    for process in processes:
        process.join()


if __name__ == "__main__":
    sys.exit(main())
