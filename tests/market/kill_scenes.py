"""The steps of a round that a market is killed in, each with the market just before it and how the step is done."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from market.town import FakeClock, Town, bid_at_the_door, found_town, new_database, postgres_server
from pdqs.market import Market, offer_access, round_steps
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import bids
from pdqs.market.store.schema import reports as reports_table
from pdqs.protocol.device_messages import Bid, DomainMessage, Report
from pdqs.protocol.market_messages import QueryMessage, Round, Transfer, User

MEDIAN = QueryMessage(kind="median", text="What is your age?", domain=DomainMessage(kind="grid", size=100))
"""Asked in stages: the round that is killed between the first and the second."""

MANY = 24
"""How many bids, reports or payouts are sent one after another in one run."""

Told = Callable[[str], None]
"""Hears of each thing that the market has acknowledged."""


@dataclass(frozen=True)
class Scene:
    """A market at the moment before a step, and how to copy it."""

    step: str
    round: Round
    people: list[User]
    """Who bids, reports or is paid, where the step is a row of requests."""
    operator: User
    now_ms: int
    copy: Callable[[str], str]


def _clear(market: Market, scene: Scene, _told: Told) -> None:
    round_steps.clear_round(market, round_steps.THE_CLOCK, scene.round.round_id)


def _stage(market: Market, scene: Scene, _told: Told) -> None:
    round_steps.open_next_stage(market, round_steps.THE_CLOCK, scene.round.round_id)


def _settle(market: Market, scene: Scene, _told: Told) -> None:
    round_steps.settle_round(market, round_steps.THE_CLOCK, scene.round.round_id)


def _bid(market: Market, scene: Scene, told: Told) -> None:
    for place, owner in enumerate(scene.people):
        asked = Bid(terms_hash=scene.round.terms_hash or "", bid_micros=1000 * place)
        told(bid_at_the_door(market, owner, scene.round.round_id, asked).signature)


def _report(market: Market, scene: Scene, told: Told) -> None:
    for place, owner in enumerate(scene.people):
        asked = Report(terms_hash=scene.round.terms_hash or "", code=place % 2)
        told(round_steps.submit_report(market, owner, scene.round.round_id, asked).signature)


def _payout(market: Market, scene: Scene, told: Told) -> None:
    for place, owner in enumerate(scene.people):
        asked = Transfer(user_id=owner.user_id, amount_micros=1)
        told(round_steps.pay_out(market, scene.operator, asked, f"payout-number-{place}").transaction_id)


STEPS: dict[str, Callable[[Market, Scene, Told], None]] = {
    "bid": _bid,
    "clear": _clear,
    "stage": _stage,
    "report": _report,
    "settle": _settle,
    "payout": _payout,
}
"""Every step that is killed."""

REQUESTS = ("bid", "report", "payout")
"""Steps that are a row of requests, each acknowledged on its own; the others are one command."""


def _prepared(url: str, step: str, owners: int) -> tuple[Town, Round, list[User]]:
    """Fill a database up to the moment before the step."""
    town = found_town(url)
    town.add_owners(owners)
    # So much money that some are asked in the first stage, whatever the draws.
    found = town.open_round(query=MEDIAN, budget_micros=90_000_000) if step == "stage" else town.open_round()
    if step == "bid":
        return town, found, town.owners[:MANY]
    rows = [
        {"round_id": found.round_id, "owner_id": o.user_id, "bid_micros": 1000 * i % 10**6, "placed_at_ms": 1}
        for i, o in enumerate(town.owners)
    ]
    with town.market.store.write() as connection:
        connection.execute(bids.insert(), rows)
    town.clock.advance(60)
    if step == "clear":
        return town, found, []
    found = round_steps.clear_round(town.market, town.operator, found.round_id)
    asked = town.asked(found)
    if step == "report":
        return town, found, asked[:MANY]
    sent = [
        {"round_id": found.round_id, "owner_id": owner.user_id, "code": i % 2, "received_at_ms": 1}
        for i, owner in enumerate(asked)
        if offer_access.offer(town.market, owner, found.round_id).stage == 1
    ]
    with town.market.store.write() as connection:
        connection.execute(reports_table.insert(), sent)
    town.clock.advance(60)
    if step == "payout":
        round_steps.settle_round(town.market, town.operator, found.round_id)
    return town, found, [owner for owner in asked if town.balance(owner) > 0][:MANY]


@contextmanager
def scenes(database: str, owners: int, *, durable: bool = True) -> Iterator[Callable[[str], Scene]]:
    """Makes the scene of a step on the database asked for; ``durable``: PostgreSQL waits for the disk."""
    with tempfile.TemporaryDirectory(prefix="pdqs-kills-") as directory:
        if database == "sqlite":
            yield lambda step: _sqlite_scene(Path(directory), step, owners)
        else:
            os.environ.setdefault("XDG_RUNTIME_DIR", directory)
            with postgres_server(durable=durable) as server:
                yield lambda step: _postgres_scene(server, step, owners)


def _scene(url: str, step: str, owners: int, copy: Callable[[str], str]) -> Scene:
    town, found, people = _prepared(url, step, owners)
    town.market.store.close()
    return Scene(step, found, people, town.operator, town.clock(), copy)


def _sqlite_scene(directory: Path, step: str, owners: int) -> Scene:
    first = directory / f"{step}.db"

    def copy(name: str) -> str:
        for old in directory.glob(f"{name}.db*"):
            old.unlink()
        shutil.copy(first, directory / f"{name}.db")
        return f"sqlite:///{directory}/{name}.db"

    return _scene(f"sqlite:///{first}", step, owners, copy)


def _postgres_scene(server: str, step: str, owners: int) -> Scene:
    return _scene(new_database(server, step), step, owners, lambda name: new_database(server, name, template=step))


def opened(url: str, scene: Scene) -> Market:
    """The market of a scene, its clock standing still."""
    return Market(store=open_store(url, connections=2), clock=FakeClock(scene.now_ms))
