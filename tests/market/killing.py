"""kill -9 at random moments of clearing, opening a stage or settling: after a restart it is as if nothing happened.

    python tests/market/killing.py --kills 100 --database sqlite --out docs/results/market/kills_sqlite.json

For every kill: a copy of one and the same market, a process that takes its round a step further, a SIGKILL at a moment
drawn uniformly from the time that an uninterrupted run takes (and a tenth more), a restart that keeps the deadlines as
``pdqs serve`` does, and a comparison of every row of every table with those of the uninterrupted run. The clock is
fixed, so the comparison is exact.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import Connection

from market.town import FakeClock, contents, found_town, new_database, postgres_server
from pdqs.market import Market, reads, round_steps, staging
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import bids
from pdqs.market.store.schema import reports as reports_table
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage

STEPS = ("clear", "stage", "settle")
MEDIAN = QueryMessage(kind="median", text="What is your age?", domain=DomainMessage(kind="grid", size=100))
"""Asked in stages: the round that is killed between the first and the second."""


@dataclass(frozen=True)
class Scene:
    """A market at the moment before a step, and how to copy it."""

    step: str
    round_id: str
    now_ms: int
    copy: Callable[[str], str]


def prepared(url: str, step: str, owners: int) -> tuple[str, int]:
    """Fill a database up to the moment before the step; gives the round and the hour."""
    town = found_town(url)
    town.add_owners(owners)
    found = town.open_round(query=MEDIAN) if step == "stage" else town.open_round()
    rows = [
        {"round_id": found.round_id, "owner_id": o.user_id, "bid_micros": 1000 * i % 10**6, "placed_at_ms": 1}
        for i, o in enumerate(town.owners)
    ]
    with town.market.store.write() as connection:
        connection.execute(bids.insert(), rows)
    town.clock.advance(60)
    if step != "clear":
        cleared = round_steps.clear_round(town.market, town.operator, found.round_id)
        sent = [
            {"round_id": found.round_id, "owner_id": owner.user_id, "code": i % 2, "received_at_ms": 1}
            for i, owner in enumerate(town.asked(cleared))
            if reads.offer(town.market, owner, found.round_id).stage == 1
        ]
        with town.market.store.write() as connection:
            connection.execute(reports_table.insert(), sent)
        town.clock.advance(60)
    town.market.store.close()
    return found.round_id, town.clock()


@contextmanager
def scenes(database: str, owners: int) -> Iterator[list[Scene]]:
    """One scene for each step, on the database asked for."""
    with tempfile.TemporaryDirectory(prefix="pdqs-kills-") as directory:
        if database == "sqlite":
            yield [_sqlite_scene(Path(directory), step, owners) for step in STEPS]
        else:
            os.environ.setdefault("XDG_RUNTIME_DIR", directory)
            with postgres_server() as server:
                yield [_postgres_scene(server, step, owners) for step in STEPS]


def _sqlite_scene(directory: Path, step: str, owners: int) -> Scene:
    first = directory / f"{step}.db"
    round_id, now_ms = prepared(f"sqlite:///{first}", step, owners)

    def copy(name: str) -> str:
        for old in directory.glob(f"{name}.db*"):
            old.unlink()
        shutil.copy(first, directory / f"{name}.db")
        return f"sqlite:///{directory}/{name}.db"

    return Scene(step, round_id, now_ms, copy)


def _postgres_scene(server: str, step: str, owners: int) -> Scene:
    round_id, now_ms = prepared(new_database(server, step), step, owners)
    return Scene(step, round_id, now_ms, lambda name: new_database(server, name, template=step))


def break_in_two() -> None:
    """Make a step two transactions with a pause between, as no market should: the comparison must see it."""
    change, ask = round_steps._change, staging._ask

    def pause(connection: Connection) -> None:
        connection.exec_driver_sql("COMMIT")
        time.sleep(1.0)
        connection.exec_driver_sql("BEGIN")

    def halfway(connection: Connection, round_id: str, **values: object) -> None:
        pause(connection)
        change(connection, round_id, **values)

    def asked_halfway(connection: Connection, row: Any, opened: Any, owner_ids: Any, made: Any) -> dict[str, int]:
        found = ask(connection, row, opened, owner_ids, made)
        pause(connection)
        return found

    round_steps._change, staging._ask = halfway, asked_halfway


def perform(url: str, scene: Scene) -> None:
    """The step, as a server does it."""
    market = Market(store=open_store(url), clock=FakeClock(scene.now_ms))
    steps = (round_steps.clear_round, round_steps.open_next_stage, round_steps.settle_round)
    do = dict(zip(STEPS, steps, strict=True))[scene.step]
    do(market, round_steps.THE_CLOCK, scene.round_id)
    market.store.close()


def started(url: str, scene: Scene) -> int:
    """The step in a process of its own; gives its id."""
    process = os.fork()
    if process == 0:
        perform(url, scene)
        os._exit(0)
    return process


def restarted(url: str, scene: Scene) -> dict[str, list[tuple[object, ...]]]:
    """The market after a restart: deadlines are kept, twice for good measure, and every row is read."""
    market = Market(store=open_store(url), clock=FakeClock(scene.now_ms))
    round_steps.advance_due(market)
    round_steps.advance_due(market)
    assert market.stuck == {}
    found = contents(market)
    market.store.close()
    return found


def kill_runs(scene: Scene, kills: int, rng: random.Random) -> Counter[str]:
    """Kill so often, and compare each time; counts how far the killed had come."""
    took = timed(scene)
    expected = restarted(scene.copy("whole"), scene)
    untouched, published = state_of(scene.copy("untouched")), state_of(published_only(scene))
    seen: Counter[str] = Counter()
    for number in range(kills):
        if number % 10 == 9:
            took = timed(scene)  # other work on the machine comes and goes
        url = scene.copy("killed")
        process = started(url, scene)
        time.sleep(rng.uniform(0, 1.1 * took))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        left = state_of(url)
        how_far = "before" if left == untouched else "after" if left == expected else "between"
        seen["finished" if os.WIFEXITED(status) else f"killed {how_far}"] += 1
        assert left in (untouched, published, expected), "a half-done step was left behind"
        assert restarted(url, scene) == expected, "the outcome differs from that of an uninterrupted run"
    return seen


def published_only(scene: Scene) -> str:
    """A copy in which clearing has come as far as the root over the bids, which is published on its own."""
    url = scene.copy("published")
    if scene.step == "clear":
        market = Market(store=open_store(url), clock=FakeClock(scene.now_ms))
        round_steps.close_bids(market, round_steps.THE_CLOCK, scene.round_id)
        market.store.close()
    return url


def timed(scene: Scene) -> float:
    """Seconds that the step takes when nobody interrupts it."""
    url = scene.copy("timed")
    began = time.monotonic()
    os.waitpid(started(url, scene), 0)
    return time.monotonic() - began


def state_of(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row as it lies, before anything is advanced."""
    market = Market(store=open_store(url))
    found = contents(market)
    market.store.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="for each step")
    parser.add_argument("--owners", type=int, default=2000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int, default=20261115)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--broken", action="store_true", help="kill a market that is wrong, to see it caught")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    found: dict[str, object] = {"database": options.database, "owners": options.owners, "kills": {}}
    with scenes(options.database, options.owners) as made:
        if options.broken:
            break_in_two()
        found["kills"] = {scene.step: dict(kill_runs(scene, options.kills, rng)) for scene in made}
    found["outcome"] = "every restart ended in exactly the rows of the uninterrupted run"
    text = json.dumps(found, indent=2, sort_keys=True) + "\n"
    if options.out:
        options.out.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
