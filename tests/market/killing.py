"""kill -9 at random moments of every step of a round: after a restart the market must be as if nothing had happened.

    python tests/market/killing.py --kills 200 --work build/kills --out docs/results/attacks/kills.json

For every kill: a copy of one and the same market, a process that takes a step (bids, clearing, reports, settling,
payouts), a SIGKILL at a moment drawn uniformly from the time that an uninterrupted run takes (and a tenth more), a
restart, and a comparison of every row of every table with those of the uninterrupted run. The clock is fixed, so the
comparison is exact. *Lost*: the market acknowledged it and a row is missing. *Doubled*: asked again after the restart,
as a device or an operator would, something is there twice. On PostgreSQL, which waits for the disk, every tenth kill
also takes the database server itself.

What is done is written down in the work directory, kill by kill; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psycopg
from sqlalchemy import Connection

from market.campaign import Journal, Line, Pace, write_summary
from market.kill_scenes import REQUESTS, STEPS, Scene, Told, opened, scenes
from market.town import contents
from pdqs.market import Market, round_steps
from pdqs.market.store.database import open_store

DATABASES = ("sqlite", "postgresql")
SERVER_TOO = 10
"""Of so many kills on PostgreSQL, one takes the database server too."""


def break_in_two() -> None:
    """Make a step two transactions with a pause between, as no market should: the comparison must see it."""
    change = round_steps._change

    def halfway(connection: Connection, round_id: str, **values: object) -> None:
        connection.exec_driver_sql("COMMIT")
        time.sleep(1.0)
        connection.exec_driver_sql("BEGIN")
        change(connection, round_id, **values)

    round_steps._change = halfway


def break_promises() -> None:
    """Have the market acknowledge bids before it keeps them: what it said last is lost with it."""
    kept = STEPS["bid"]

    def eager(market: Market, scene: Scene, told: Told) -> None:
        told("acknowledged")
        told("acknowledged")
        time.sleep(0.5)
        kept(market, scene, told)

    STEPS["bid"] = eager


def perform(url: str, scene: Scene, acknowledged: int = -1) -> None:
    """The step, as a server does it; each acknowledgement is one byte written to that file."""
    market = opened(url, scene)

    def told(_what: str) -> None:
        if acknowledged >= 0:
            os.write(acknowledged, b".")

    STEPS[scene.step](market, scene, told)
    market.store.close()


def started(url: str, scene: Scene, acknowledged: int = -1) -> int:
    """The step in a process of its own; gives its id."""
    process = os.fork()
    if process == 0:
        perform(url, scene, acknowledged)
        os._exit(0)
    return process


def restarted(url: str, scene: Scene) -> str:
    """The market after a restart: what may not have come through is asked for again, and deadlines are kept, twice."""
    if scene.step in REQUESTS:
        perform(url, scene)
    market = opened(url, scene)
    round_steps.advance_due(market)
    round_steps.advance_due(market)
    assert market.stuck == {}
    market.store.close()
    return state_of(url)


def _comparable(found: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """Deeds are kept under ids of chance, one each: all else of them is compared, in an order that is not chance's."""
    return {**found, "deeds": sorted(deed[1:] for deed in found["deeds"])}


def state_of(url: str) -> str:
    """A digest of every row as it lies, before anything is advanced."""
    store = open_store(url, connections=2)
    try:
        return hashlib.sha256(repr(_comparable(contents(Market(store=store)))).encode()).hexdigest()
    finally:
        store.close()


@dataclass(frozen=True)
class Expected:
    """What may be found after a kill: the state after each acknowledgement, those on the way, and the end."""

    after: list[str]
    between: list[str]
    end: str


def expected_of(scene: Scene) -> Expected:
    """Run a scene to its end, once, writing down each state."""
    url = scene.copy("whole")
    after = [state_of(url)]
    market = opened(url, scene)
    STEPS[scene.step](market, scene, lambda _: after.append(state_of(url)))
    market.store.close()
    if scene.step not in REQUESTS:
        after = [after[0], state_of(url)]
    between = [state_of(published_only(scene))] if scene.step == "clear" else []
    return Expected(after, between, restarted(url, scene))


def published_only(scene: Scene) -> str:
    """A copy in which clearing has come as far as the root over the bids, which is published on its own."""
    url = scene.copy("published")
    market = opened(url, scene)
    round_steps.close_bids(market, round_steps.THE_CLOCK, scene.round.round_id)
    market.store.close()
    return url


def timed(scene: Scene) -> float:
    """Seconds that the step takes when nobody interrupts it."""
    url = scene.copy("timed")
    began = time.monotonic()
    os.waitpid(started(url, scene), 0)
    return time.monotonic() - began


def one_kill(scene: Scene, expected: Expected, seconds: float, *, server_too: bool) -> Line:
    """Kill once and compare; says how far the killed had come."""
    url = scene.copy("killed")
    heard, told = os.pipe()
    process = started(url, scene, told)
    os.close(told)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    with os.fdopen(heard, "rb") as pipe:
        acknowledged = len(pipe.read())
    if server_too:
        kill_server(url)
    left = state_of(url)
    if scene.step in REQUESTS:
        come = next((n for n, state in enumerate(expected.after) if state == left), -1)
        assert come >= 0, "a half-done step was left behind"
        assert come >= acknowledged, f"lost: {acknowledged} were acknowledged and {come} are there"
        assert come <= acknowledged + 1, "more is there than was asked for"
    else:
        assert left in (*expected.after, *expected.between), "a half-done step was left behind"
    assert restarted(url, scene) == expected.end, "the outcome differs from that of an uninterrupted run"
    how_far = "before" if left == expected.after[0] else "after" if left == expected.after[-1] else "between"
    return {"outcome": "finished" if os.WIFEXITED(status) else f"killed {how_far}", "server_too": server_too}


def kill_server(url: str) -> None:
    """kill -9 the database server, and start it again on what it left on the disk."""
    from pgserver.postgres_server import get_server

    plain = url.replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(plain) as connection:
        (directory,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    logging.getLogger("pgserver").setLevel(logging.CRITICAL)  # a slow start is told at length; we ask again
    server = get_server(directory)
    process: Any = server.get_postmaster_info().process
    process.kill()
    process.wait(30)
    for _ in range(100):
        try:
            server.ensure_postgres_running()
            return
        except Exception:  # its children have not all noticed yet, and hold the memory they shared
            time.sleep(0.3)
    raise AssertionError("the database server did not come up again")


def kill_runs(todo: list[Line], scene: Scene, options: argparse.Namespace, journal: Journal, pace: Pace) -> None:
    """Kill one step so often, and write each down."""
    expected, took = expected_of(scene), timed(scene)
    for part in todo:
        database, step = part["database"], part["step"]
        if part["number"] % 10 == 9:
            took = timed(scene)  # other work on the machine comes and goes
        share = random.Random(f"{options.seed} {database} {step} {part['number']}").uniform(0, 1.1)
        server_too = database == "postgresql" and part["number"] % SERVER_TOO == SERVER_TOO - 1
        journal.add({**part, **one_kill(scene, expected, share * took, server_too=server_too)})
        pace.step()


def summary(lines: list[Line], options: argparse.Namespace) -> Line:
    """Counts by database and step. That there is a summary means that nothing was lost and nothing doubled."""
    kills: dict[str, dict[str, Counter[str]]] = {}
    for line in lines:
        kills.setdefault(line["database"], {}).setdefault(line["step"], Counter())[line["outcome"]] += 1
    return {
        "command": f"tests/market/killing.py --kills {options.kills} --owners {options.owners} --seed {options.seed}",
        "kills": {database: {step: dict(n) for step, n in steps.items()} for database, steps in kills.items()},
        "kills_in_all": len(lines),
        "of_which_the_database_server_too": sum(line["server_too"] for line in lines),
        "lost": 0,
        "doubled": 0,
        "outcome": "every restart ended in exactly the rows of the uninterrupted run",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="for each step on each database")
    parser.add_argument("--owners", type=int, default=600)
    parser.add_argument("--database", choices=DATABASES, action="append", help="both unless given")
    parser.add_argument("--step", choices=list(STEPS), action="append", help="all unless given")
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--work", type=Path, default=None, help="where the journal of kills is kept")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument(
        "--no-fsync", action="store_true", help="PostgreSQL does not wait for the disk, which a kill -9 leaves alone"
    )
    parser.add_argument(
        "--broken", choices=["halves", "promises"], help="kill a market that is wrong, to see it caught"
    )
    options = parser.parse_args()
    databases, steps = options.database or list(DATABASES), options.step or list(STEPS)
    work = options.work or Path("build/kills")
    journal = Journal(work / f"kills-{options.seed}-{options.owners}.jsonl")
    if options.broken:
        journal = Journal(work / "broken.jsonl")
        {"halves": break_in_two, "promises": break_promises}[options.broken]()
    pace = Pace("kills", options.kills * len(databases) * len(steps), len(journal.lines))
    for database in databases:
        parts = ({"database": database, "step": s, "number": n} for s in steps for n in range(options.kills))
        todo = journal.left(parts)
        if todo:
            with scenes(database, options.owners, durable=not options.no_fsync) as made:
                for step in dict.fromkeys(part["step"] for part in todo):
                    mine = [part for part in todo if part["step"] == step]
                    kill_runs(mine, made(step), options, journal, pace)
    write_summary(options.out, summary(journal.lines, options))


if __name__ == "__main__":
    main()
