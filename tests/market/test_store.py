"""The store: both databases hold the same tables, and keep what they are told to keep."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, select, text
from sqlalchemy.exc import IntegrityError

from market.town import Town
from pdqs.market import Settings
from pdqs.market.http.app import create_app
from pdqs.market.http.readiness import Readiness
from pdqs.market.store import migrate, sql
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import accounts, metadata, users
from pdqs.model.errors import FileError


def differences(connection: Connection) -> Any:
    """Between the tables of a database and those that the code speaks of, but for one: on PostgreSQL the key from
    offers to bids is no key of the database's (``test_offer_rows.py`` has what holds it there).
    """

    def compared(thing: Any, _name: str | None, kind: str, *_more: Any) -> bool:
        to_bids = kind == "foreign_key_constraint" and thing.parent.name == "offers"
        return not (to_bids and connection.dialect.name == "postgresql")

    return compare_metadata(MigrationContext.configure(connection, opts={"include_object": compared}), metadata)


def test_migrations_make_exactly_the_tables_that_the_code_speaks_of(database_url: str) -> None:
    store = open_store(database_url)
    migrate.upgrade(store)
    with store.read() as connection:
        assert differences(connection) == []
    store.close()


def test_a_migration_that_is_undone_and_done_again_leaves_the_same_tables(database_url: str) -> None:
    store = open_store(database_url)
    first = migrate.upgrade(store)
    migrate.downgrade(store, "base")
    with store.read() as connection:
        assert migrate.current(connection) == "none"
    assert migrate.upgrade(store) == first
    store.close()


def test_a_round_planned_before_there_were_other_questions_goes_on_asking_for_whole_values(database_url: str) -> None:
    store = open_store(database_url)
    migrate.upgrade(store)
    migrate.downgrade(store, "0007")
    plan = {"query": {"kind": "mean", "text": "?"}, "attribute": "age", "budget_micros": 5}
    with store.write() as connection:
        connection.execute(
            text("INSERT INTO users (user_id, role, name, created_at_ms) VALUES ('u_c', 'consumer', 'c', 1)")
        )
        connection.execute(
            text(
                "INSERT INTO rounds (round_id, consumer_id, state, plan, created_at_ms)"
                " VALUES ('r_x', 'u_c', 'draft', :plan, 1)"
            ),
            {"plan": json.dumps(plan)},
        )
    migrate.upgrade(store)
    with store.read() as connection:
        assert json.loads(str(connection.scalar(text("SELECT plan FROM rounds")))) == {**plan, "question": "value"}
    migrate.downgrade(store, "0007")
    with store.read() as connection:
        assert json.loads(str(connection.scalar(text("SELECT plan FROM rounds")))) == plan
    store.close()


def test_letters_of_rounds_that_were_purged_before_letters_were_go_too(database_url: str) -> None:
    store = open_store(database_url)
    migrate.upgrade(store)
    migrate.downgrade(store, "0020")
    with store.write() as connection:
        connection.execute(
            text("INSERT INTO users (user_id, role, name, created_at_ms) VALUES ('u_c', 'consumer', 'c', 1)")
        )
        for name, purged in (("r_old", "7"), ("r_new", "NULL")):
            connection.execute(
                text(
                    "INSERT INTO rounds (round_id, consumer_id, state, plan, created_at_ms, purged_at_ms)"
                    f" VALUES ('{name}', 'u_c', 'settled', '{{}}', 1, {purged})"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO outbox (letter_id, user_id, channel, kind, round_id, at_ms, state, due_at_ms)"
                    f" VALUES ('l_{name}', 'u_c', 'email', 'offer', '{name}', 1, 'dead', 1)"
                )
            )
    migrate.upgrade(store)
    with store.read() as connection:
        assert connection.scalars(text("SELECT round_id FROM outbox")).all() == ["r_new"]
    store.close()


def test_the_comparison_of_tables_would_see_a_missing_column(database_url: str) -> None:
    store = open_store(database_url)
    migrate.upgrade(store)
    with store.write() as connection:
        connection.execute(text("ALTER TABLE rounds DROP COLUMN reason"))
    with store.read() as connection:
        assert differences(connection) != []
    store.close()


def test_a_transaction_that_fails_leaves_nothing(either_town: Town) -> None:
    row = {"user_id": "u_x", "role": "owner", "name": "x", "created_at_ms": 1}

    def fail_halfway() -> None:
        with either_town.market.store.write() as connection:
            connection.execute(users.insert(), row)
            raise RuntimeError("the power goes")

    with pytest.raises(RuntimeError):
        fail_halfway()
    with either_town.market.store.read() as connection:
        assert connection.execute(users.select().where(users.c.user_id == "u_x")).one_or_none() is None


def test_the_database_itself_refuses_a_negative_balance(either_town: Town) -> None:
    row = {"account": "escrow:r_x", "kind": "escrow", "balance_micros": -1}
    with pytest.raises(IntegrityError), either_town.market.store.write() as connection:
        connection.execute(accounts.insert(), row)


def test_a_sqlite_column_holds_its_type_or_nothing(town: Town) -> None:
    with pytest.raises(IntegrityError), town.market.store.write() as connection:
        connection.execute(
            text("INSERT INTO users (user_id, role, name, created_at_ms) VALUES ('u_x', 'owner', 'x', 'yesterday')")
        )


def test_sqlite_is_durable_and_keeps_foreign_keys(town: Town) -> None:
    with town.market.store.read() as connection:
        pragma = {name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")}
        assert pragma == {"journal_mode": "wal", "synchronous": 2}
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1


def test_writers_wait_for_each_other_and_lose_nothing(either_town: Town) -> None:
    def write(first: int) -> None:
        for i in range(first, first + 10):
            with either_town.market.store.write() as connection:
                row = {"user_id": f"u_{i}", "role": "owner", "name": "x", "created_at_ms": 1}
                connection.execute(users.insert(), row)

    threads = [threading.Thread(target=write, args=(100 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with either_town.market.store.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM users WHERE created_at_ms = 1")) == 80


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/x", "sqlite://", "sqlite:///no/such/directory/market.db"])
def test_a_database_that_cannot_be_is_refused_in_a_sentence(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError):
        open_store(url)


def test_rows_that_do_not_fit_into_one_statement_are_all_inserted(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_CELLS_AT_ONCE", 9)  # two rows of four cells at a time
    rows = [(f"u_{i}", "owner", f"owner {i}", i) for i in range(7)]
    with town.market.store.write() as connection:
        sql.insert_cells(connection, users, ["user_id", "role", "name", "created_at_ms"], rows)
        kept = select(users.c.user_id, users.c.role, users.c.name, users.c.created_at_ms).where(users.c.role == "owner")
        assert sql.cells_found(connection, kept.order_by(users.c.user_id)) == rows


@pytest.mark.parametrize(
    "others",
    [
        ["CREATE TABLE diary (entry INTEGER)"],
        ["CREATE TABLE users (number INTEGER)"],
        [
            "CREATE TABLE alembic_version (version_num VARCHAR(32))",
            "INSERT INTO alembic_version VALUES ('3f2a')",
            "CREATE TABLE diary (entry INTEGER)",
        ],
    ],
    ids=["a diary", "one with users", "one that is migrated too"],
)
def test_a_database_of_another_program_is_refused_and_left_as_it_is(database_url: str, others: list[str]) -> None:
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for statement in others:
            connection.execute(text(statement))
        before = set(inspect(connection).get_table_names())
    with pytest.raises(FileError, match=r"no market's: it was left as it is"):
        create_app(Settings(database_url=database_url), ticking=False)
    with engine.begin() as connection:
        assert set(inspect(connection).get_table_names()) == before
    engine.dispose()


def test_a_market_of_a_newer_version_is_refused_in_a_sentence(either_town: Town) -> None:
    store = either_town.market.store
    with store.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(FileError, match=r"a newer version of pdqs \(revision 9999\): install that one"):
        migrate.upgrade(store)


def test_a_database_that_turns_out_to_be_anothers_while_requests_come_is_not_ready(database_url: str) -> None:
    store = open_store(database_url)
    readiness = Readiness(store)
    with store.write() as connection:
        connection.execute(text("CREATE TABLE diary (entry INTEGER)"))
    assert not readiness.prepare()
    assert readiness.refusal is not None
    store.close()
