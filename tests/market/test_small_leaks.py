"""The rest that could be turned against a market: files, figures, deadlocks, health, and what is kept on the way."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import httpx
import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from market.town import Town, found_town, new_database
from pdqs.market import access, ledger, ledger_bulk, looking_up, reads, revocation, round_steps, transfers
from pdqs.market.client import MarketClient
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.ledger import Entry, post
from pdqs.market.pages import plan_form
from pdqs.market.store import database
from pdqs.market.store.database import open_store
from pdqs.market.store.schema import postings
from pdqs.market.store.sql import insert_many
from pdqs.model.errors import FileError
from pdqs.owner.ledger import Ledger
from pdqs.protocol.market_messages import MOST_BUDGET_MICROS, Transfer
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError

PRIVATE = {"market.db": 0o600, "market.db-wal": 0o600, "market.db-shm": 0o600}


def modes_of_a_file_found_open(folder: Path) -> dict[str, int]:
    """Who may read the files of a market that finds its database open to everybody."""
    old = folder / "market.db"
    old.touch(mode=0o644)
    old.chmod(0o644)
    town = found_town(f"sqlite:///{old}")
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    town.market.store.close()
    return modes


def test_the_database_and_its_log_are_for_their_owner_alone(tmp_path: Path) -> None:
    assert modes_of_a_file_found_open(tmp_path) == PRIVATE


def test_a_store_that_leaves_its_files_open_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_make_private", lambda _file: None)
    modes = modes_of_a_file_found_open(tmp_path)
    assert modes == dict.fromkeys(PRIVATE, 0o644)


def test_a_database_that_cannot_be_made_private_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "market.db").mkdir()
    with pytest.raises(FileError, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}/market.db")


OTHERS: dict[str, Callable[[Path], object]] = {
    "letter": lambda path: path.write_text("Dear Bob, ..."),
    "diary": lambda path: database_with(path, "CREATE TABLE entries (day TEXT)"),
    "device": lambda path: Ledger(path).close(),
    "pipe": os.mkfifo,
}


def database_with(path: Path, table: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(table)


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_named_as_the_database_by_mistake_is_left_as_it_is(kind: str, tmp_path: Path) -> None:
    """A market was put into it, beside whatever else it held, and it was closed to everyone else."""
    path = tmp_path / kind
    OTHERS[kind](path)
    path.chmod(0o644)
    before = path.read_bytes() if kind != "pipe" else b""
    with pytest.raises(FileError, match=r"is there and is no market's: it was left as it is"):
        open_store(f"sqlite:///{path}")
    assert path.stat().st_mode & 0o777 == 0o644
    assert (path.read_bytes() if kind != "pipe" else b"") == before


STRANGE = ["1e200000", "-1e200000", "sNaN", "-sNaN", "NaN", "1" * 4000, "1e-200000", "٣", "1_000", "0x10", "1e", "+-1"]


@pytest.mark.parametrize("field", ["budget", "bid_high", "epsilon_max", "owners", "bid_time", "p", "start", "step"])
def test_a_figure_that_is_none_is_named_at_once(field: str) -> None:
    began = time.perf_counter()
    for figure in STRANGE:
        form = plan_form.read({"text": "Q?", "attribute": "a", "kind": "quantile", field: figure})
        assert field in form.faults or (field, figure) in {("start", "1e-200000")}, figure
    assert time.perf_counter() - began < 5


def test_no_number_of_any_length_or_kind_stalls_or_breaks_the_api(town: Town) -> None:
    token = access.issue_token(town.market, town.operator)
    headers = {
        "Authorization": f"Bearer {token}",
        "Idempotency-Key": "strange-figures",
        "Content-Type": "application/json",
    }
    with served(create_app(town.market.settings, town.clock, ticking=False)) as address:
        for figure in ["1e200000", "9" * 200_000, "1e-200000", "NaN", "-0", "1.0", f"{10**12 + 1}", '"sNaN"']:
            body = f'{{"user_id": "{town.consumer.user_id}", "amount_micros": {figure}}}'
            began = time.perf_counter()
            answer = httpx.post(f"{address}/v1/deposits", content=body, headers=headers, timeout=30)
            assert answer.status_code in (400, 422), figure[:20]
            assert time.perf_counter() - began < 2


def test_a_balance_beyond_what_every_program_can_count_is_refused_and_nobody_is_locked_out(either_town: Town) -> None:
    town = either_town
    most = Transfer(user_id=town.consumer.user_id, amount_micros=MOST_BUDGET_MICROS)
    kept = round_steps.deposit(town.market, town.operator, most, "the-first-trillion")
    room = 10**15 - 100_000_000 - MOST_BUDGET_MICROS
    amounts = {f"consumer:{town.consumer.user_id}": room - 5, "world": 5 - room}
    with town.market.store.write() as connection:
        post(connection, Entry(transaction_id="deposit:t_x", kind="deposit", at_ms=1, amounts=amounts))
    with pytest.raises(ConflictError, match=r"at most 1,000,000,000\.00"):
        round_steps.deposit(town.market, town.operator, most, "one-trillion-more")
    assert reads.me(town.market, town.consumer).balance_micros == 10**15 - 5
    assert reads.statement(town.market, town.consumer).balance_micros == 10**15 - 5
    assert round_steps.deposit(town.market, town.operator, most, "the-first-trillion") == kept
    assert town.balanced()


def test_a_search_for_what_is_in_no_name_finds_nobody_and_is_no_fault(either_town: Town) -> None:
    either_town.add_owners(1)
    for text in ("\x00", "o\x00wner", "%", "_x", "\\", "'", "\ud7ff", "\U0010ffff"):
        assert looking_up.people_like(either_town.market, either_town.operator, text).items == []
        assert looking_up.payables_like(either_town.market, either_town.operator, text).items == []


def test_an_entry_that_no_id_could_name_is_not_there_and_is_no_fault(either_town: Town) -> None:
    for text in ("\x00", "o\x00wner", "%", ""):
        with pytest.raises(NotFoundError, match="there is no transaction of that id"):
            transfers.one_transfer(either_town.market, either_town.operator, text)


def moved_at_once(town: Town, *, threads: int, times: int) -> list[Exception]:
    """Every other thread deposits and every other pays out, onto and off one balance; what went wrong."""
    faults: list[Exception] = []
    kinds: list[Callable[..., object]] = [transfers.deposit, transfers.refund]
    transfer = Transfer(user_id=town.consumer.user_id, amount_micros=1)

    def move(thread: int) -> None:
        for n in range(times):
            try:
                kinds[thread % 2](town.market, town.operator, transfer, f"k-{thread}-{n:04d}")
            except Exception as fault:  # whatever it is, it is counted
                faults.append(fault)

    running = [threading.Thread(target=move, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return faults


def test_deposits_and_payouts_at_once_do_not_wait_for_each_other_for_ever(either_town: Town) -> None:
    assert moved_at_once(either_town, threads=8, times=12) == []
    assert either_town.balance(either_town.consumer) == 100_000_000
    assert either_town.balanced()


def test_a_market_that_gives_before_it_takes_is_caught_by_the_same_deposits_and_payouts(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of before: each has locked the row that the other wants next. The barrier makes it certain.

    People's own rows, which deposits and payouts hold before anything else since, would have one wait for the other.
    """
    town = found_town(new_database(postgres, "gives_first"))
    with town.market.store.write() as connection:
        connection.exec_driver_sql("ALTER DATABASE gives_first SET deadlock_timeout = '10ms'")
    town.market.store.close()  # who connects from now on is told sooner
    both = threading.Barrier(2)

    def gives_first(connection: Connection, transaction_id: str, amounts: list[tuple[str, int]]) -> None:
        rows = [{"transaction_id": transaction_id, "account": name, "amount_micros": x} for name, x in amounts]
        insert_many(connection, postings, rows)
        for name, amount in amounts:
            if amount > 0:
                ledger_bulk.take(connection, name, -amount)
        both.wait(timeout=60)
        for name, amount in amounts:
            if amount < 0:
                ledger_bulk.take(connection, name, -amount)

    monkeypatch.setattr(ledger, "_enter", gives_first)
    monkeypatch.setattr(revocation, "hold_people", lambda *_: {})
    (fault,) = moved_at_once(town, threads=2, times=1)
    assert "deadlock" in str(fault)
    town.market.store.close()


def test_health_is_503_when_nothing_can_be_written_and_says_no_version(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(town.market.settings, town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        town.clock.advance(10)

        def full() -> NoReturn:
            raise OperationalError("UPDATE", {}, OSError("database or disk is full"))

        monkeypatch.setattr(app.state.market.store, "try_write", full)
        monkeypatch.setattr(app.state.market.store, "write", full)
        sick = client.get("/healthz")
        assert (sick.status_code, sick.json()["type"]) == (503, "unavailable")
        headers = {
            "Authorization": f"Bearer {access.issue_token(town.market, town.operator)}",
            "Idempotency-Key": "a-deposit-now",
        }
        transfer = {"user_id": town.consumer.user_id, "amount_micros": 5}
        refused = client.post("/v1/deposits", json=transfer, headers=headers)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "disk" not in refused.text


def test_the_operators_first_page_says_what_the_health_really_is(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(town.market.settings, town.clock, ticking=False)
    cookie = f"pdqs_session={access.start_session(town.market, town.operator).cookie}"
    with served(app) as address, httpx.Client(base_url=address, timeout=60, headers={"cookie": cookie}) as browser:
        well = browser.get("/operator").text
        assert re.search(r'class="value good" data-figure="health">all is well<', well)
        assert "cannot be used" not in well
        town.clock.advance(10)

        def full() -> NoReturn:
            raise OperationalError("UPDATE", {}, OSError("database or disk is full"))

        monkeypatch.setattr(app.state.market.store, "try_write", full)
        ill = browser.get("/operator")
    assert ill.status_code == 200
    assert re.search(r'class="value bad" data-figure="health">cannot write<', ill.text)
    assert "The database cannot be used: its disk is full or has a fault." in ill.text


def test_nothing_private_or_secret_may_be_kept_on_the_way(town: Town) -> None:
    (owner,) = town.add_owners(1)
    found = town.open_round()
    tokens = {user.role: access.issue_token(town.market, user) for user in (town.operator, town.consumer, owner)}
    with (
        served(create_app(town.market.settings, town.clock, ticking=False)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        described = client.get("/openapi.json").json()["paths"]
        paths = [path.replace("{round_id}", found.round_id) for path, by in described.items() if "get" in by]
        assert len(paths) > 15
        for path in [*paths, "/", "/operator", "/nowhere"]:
            for token in tokens.values():
                answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
                assert answer.headers["cache-control"] == "no-store", path
        code = round_steps.renew_code(town.market, town.operator, owner.user_id).code
        assert client.post("/v1/tokens", json={"code": code}).headers["cache-control"] == "no-store"
        assert client.get("/static/style.css").headers["cache-control"] == "no-cache"


def test_the_client_follows_no_list_without_an_end_and_takes_nothing_that_is_no_message() -> None:
    answers = iter(range(10**6))

    def endless(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"items": [], "next": f"1.r_{next(answers):024x}"})

    with (
        MarketClient("http://market", transport=httpx.MockTransport(endless)) as client,
        pytest.raises(MarketError, match="no end"),
    ):
        list(client.all_rounds())
    for body in (b"", b"<html>", b"\xff", b"[" * 100_000, b"null", b'{"items": 5, "next": null}'):
        answering = httpx.MockTransport(lambda _, body=body: httpx.Response(200, content=body))
        with (
            MarketClient("http://market", transport=answering) as client,
            pytest.raises(MarketError, match="is not one"),
        ):
            client.rounds()
