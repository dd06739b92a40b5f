"""A small town for tests: an operator, a consumer with money, owners with prices, and a clock that is told the time."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from sqlalchemy import URL, make_url, select

from pdqs.market import Market, Settings, access, offer_access, reads, round_steps
from pdqs.market.bidding import bid_receipt
from pdqs.market.bids_together import first_bid, keep_together
from pdqs.market.ledger import account_of
from pdqs.market.store import migrate
from pdqs.market.store.database import Store, open_store
from pdqs.market.store.schema import metadata, server_keys, users
from pdqs.market.store.sql import insert_many, insert_missing
from pdqs.model.arrays import Words
from pdqs.privacy.draws import LOTTERY_WORD, committed_words
from pdqs.protocol.device_messages import Bid, BidReceipt, Report
from pdqs.protocol.market_messages import NewUser, QueryMessage, Round, RoundPlan, Transfer, User
from pdqs.rounds.commitments import pseudonym_of

START_MS = 1_800_000_000_000


@dataclass
class FakeClock:
    """Time stands still until it is moved."""

    now_ms: int = START_MS

    def __call__(self) -> int:
        return self.now_ms

    def advance(self, seconds: float) -> None:
        self.now_ms += int(seconds * 1000)


def plan(**changes: Any) -> RoundPlan:
    """A count with a budget of 20, and whatever is to be different."""
    usual: dict[str, Any] = {
        "query": QueryMessage(kind="count", text="Have you been ill this month?"),
        "attribute": "illness",
        "budget_micros": 20_000_000,
        "bid_seconds": 60,
        "report_seconds": 60,
    }
    return RoundPlan(**{**usual, **changes})


@dataclass
class Town:
    """Parties in one market. Owners are made as they are asked for."""

    market: Market
    clock: FakeClock
    operator: User
    consumer: User
    owners: list[User] = field(default_factory=list)

    def add_owners(self, count: int) -> list[User]:
        """So many owners more, in one transaction."""
        start = len(self.owners)
        new = [
            User(user_id=f"u_{i:024x}", role="owner", name=f"owner {i}", created_at_ms=self.clock())
            for i in range(start + 1, start + count + 1)
        ]
        with self.market.store.write() as connection:
            insert_many(connection, users, [owner.model_dump() for owner in new])
        self.owners += new
        return new

    def open_round(self, key: str = "a-round-of-a-test", **changes: Any) -> Round:
        """A round, open for bids."""
        draft = round_steps.draft_round(self.market, self.consumer, plan(**changes), key)
        return round_steps.open_round(self.market, self.consumer, draft.round_id)

    def bid(self, owner: User, found: Round, bid_micros: int) -> None:
        round_steps.place_bid(
            self.market, owner, found.round_id, Bid(terms_hash=found.terms_hash or "", bid_micros=bid_micros)
        )

    def bid_all(self, found: Round) -> None:
        """Everyone bids; prices are spread evenly over the range."""
        low, high = found.plan.bid_low_micros, found.plan.bid_high_micros
        for place, owner in enumerate(self.owners):
            self.bid(owner, found, low + (high - low) * place // max(1, len(self.owners)))

    def cleared_round(self, **changes: Any) -> Round:
        """A round that everyone has bid in, cleared."""
        found = self.open_round(**changes)
        self.bid_all(found)
        self.clock.advance(found.plan.bid_seconds)
        return round_steps.clear_round(self.market, self.consumer, found.round_id)

    def asked(self, found: Round) -> list[User]:
        """The owners who were asked for a report."""
        return [o for o in self.owners if offer_access.offer(self.market, o, found.round_id).q_numerator > 0]

    def draws(self, found: Round, word: int = LOTTERY_WORD) -> Words:
        """Everyone's draw, by the definition, from what the market tells once offers are made."""
        assert found.seed is not None
        assert found.nonce is not None
        names = [pseudonym_of(found.round_id, owner.user_id) for owner in self.owners]
        return committed_words(bytes.fromhex(found.seed), bytes.fromhex(found.nonce), names, word)

    def report(self, owner: User, found: Round, code: int) -> None:
        round_steps.submit_report(
            self.market, owner, found.round_id, Report(terms_hash=found.terms_hash or "", code=code)
        )

    def balance(self, user: User) -> int:
        return reads.me(self.market, user).balance_micros

    def balanced(self) -> bool:
        return reads.trial_balance(self.market, self.operator).balanced


def known_ids(store: Store) -> None:
    """Have people's ids repeat from test to test, and with them their draws; a real market's cannot be guessed."""
    with store.write() as connection:
        insert_missing(connection, server_keys, [{"purpose": "ids", "key": "17" * 32}])


def found_town(url: str, *, money_micros: int = 100_000_000, settings: Settings | None = None) -> Town:
    """A new town on an empty database."""
    clock = FakeClock()
    lay_tables(url)
    store = open_store(url)
    secret = np.random.default_rng(20261116).bytes  # draws repeat from test to test; a real market's cannot be guessed
    usual = Settings(database_url=url, least_budget=1e-6, least_report_seconds=1)
    market = Market(store=store, clock=clock, settings=settings or usual, secret=secret)
    known_ids(store)
    operator = access.redeem(market, round_steps.first_operator(market).code)
    consumer = round_steps.register_user(market, operator, NewUser(role="consumer", name="consumer"), "consumer-1").user
    if money_micros:
        gift = Transfer(user_id=consumer.user_id, amount_micros=money_micros)
        round_steps.deposit(market, operator, gift, "first-deposit")
    return Town(market=market, clock=clock, operator=operator, consumer=consumer)


def lay_tables(url: str) -> None:
    """The tables of a new market on an empty database, as the migrations leave them.

    Going through all of them takes a tenth of a second on SQLite and half a second on PostgreSQL, a thousand times a
    run: a process does it once for each kind and copies what came of it. ``test_store`` is about migrations themselves.
    """
    found = make_url(url)
    if found.get_backend_name() == "sqlite":
        file = Path(str(found.database))
        if not file.exists():
            shutil.copyfile(_migrated_file(), file)
            return
    elif not _has_tables(url):
        server = found.set(database="postgres")
        new_database(_told(server), str(found.database), template=_migrated_database(_told(server)))
        return
    _migrate(url)


@cache
def _migrated_file() -> Path:
    """An SQLite file with all tables and nothing in them, for this process."""
    folder = tempfile.TemporaryDirectory(prefix="pdqs-tables-")
    atexit.register(folder.cleanup)
    file = Path(folder.name) / "market.db"
    _migrate(f"sqlite:///{file}")
    return file


@cache
def _migrated_database(server_url: str) -> str:
    """The name of a database with all tables and nothing in them, on that server."""
    _migrate(new_database(server_url, "with_all_tables"))
    return "with_all_tables"


def _migrate(url: str) -> None:
    store = open_store(url)
    migrate.upgrade(store)
    store.close()


def _has_tables(url: str) -> bool:
    with psycopg.connect(url.replace("+psycopg", "", 1)) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1").fetchall())


def _told(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def contents(town_or_market: Town | Market) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in order: two databases with the same contents are the same market."""
    market = town_or_market.market if isinstance(town_or_market, Town) else town_or_market
    found = {}
    with market.store.read() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(select(table).order_by(*table.primary_key.columns)).all()
            found[table.name] = [tuple(row) for row in rows]
    return found


def escrow_of(found: Round) -> str:
    return account_of("escrow", found.round_id)


def bid_at_the_door(market: Market, owner: User, round_id: str, bid: Bid) -> BidReceipt:
    """Bid as a request does: with others who come at the same moment if that will do, and else by oneself."""
    first = first_bid(market, owner, round_id, bid, None)
    placed_at_ms = keep_together(market, [first])[0] if first else 0
    if placed_at_ms:
        return bid_receipt(market, owner.user_id, round_id, bid.bid_micros, placed_at_ms)
    return round_steps.place_bid(market, owner, round_id, bid)


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[str]:
    """A PostgreSQL of our own in a temporary directory; gives the URL of its first database.

    Unless ``durable`` it does not wait for the disk: a test survives its server, but not the machine's power.
    """
    from pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="pdqs-pg-") as directory:
        server = get_server(directory, cleanup_mode="stop")
        try:
            if not durable:
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute("ALTER SYSTEM SET fsync = off")
                    connection.execute("SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.cleanup()


def new_database(server_url: str, name: str, *, template: str = "template1") -> str:
    """A database on that server, empty or a copy of another; gives its URL."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return server_url.replace("/postgres?", f"/{name}?", 1)
