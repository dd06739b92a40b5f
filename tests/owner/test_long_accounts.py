"""One market cannot slow the account for all: an entry is hashed and read once, and tampering is noticed still."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pdqs.owner import chain
from pdqs.owner.account import Account, Fields, chained
from pdqs.owner.errors import LedgerError
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.settling import look_over
from pdqs.owner.statement import Money
from pdqs.protocol.market_messages import Posting

from .hostile.market import BID, ROUND, Lie, canonical, honest_document, hostile
from .node import mutant, run_node

LONG = 12
TERMS = canonical({**honest_document(), "seed_hash": "a" * 64, "nonce_hash": "b" * 64, "purpose": "x" * 50_000})
WAYS = ["an entry rewritten", "a hash rewritten", "an entry gone", "two entries changed about", "an entry twice"]
COUNTED = (
    "const chained = (before, text) => sha256(",
    "const chained = (before, text) => (globalThis.hashed += text.length) && sha256(",
)
REMEMBERED = "if (known?.before === before && known.entry === entry) return known.fields;"


def in_browser(directory: Path, was: str = "", becomes: str = "") -> Any:
    """What the browser's device hashes and reads, told by a copy that counts; with one mistake, if one is named."""
    modules = mutant(directory, "account.mjs", *COUNTED)
    if was:
        text = (modules / "account.mjs").read_text(encoding="utf-8")
        assert text.count(was) == 1
        (modules / "account.mjs").write_text(text.replace(was, becomes), encoding="utf-8")
    with hostile({"honest": Lie(goal="nothing")}) as address:
        asked = {"address": f"{address}/honest", "round": ROUND, "bid": BID, "long": LONG, "terms": TERMS, "ways": WAYS}
        return run_node(str(Path(__file__).with_name("long_twin.mjs")), str(modules), asked=asked)


def test_the_browser_hashes_and_reads_an_entry_once_whoever_looks(tmp_path: Path) -> None:
    found = in_browser(tmp_path)
    assert found["filling"]["hashed"] < 2.2 * LONG * len(TERMS)  # when it is made, and when it is met first
    assert found["looking"] == {"hashed": 0, "read": 0}
    for count in ("hashed", "read"):
        extra = found["visiting"][count] - found["alone"][count]
        assert extra <= (LONG + 1) * len(TERMS) * (count == "read"), "the terms are read once for their secrets"


def test_a_browser_that_remembers_nothing_hashes_all_of_it_at_every_step(tmp_path: Path) -> None:
    found = in_browser(tmp_path, REMEMBERED, "")
    assert found["looking"]["hashed"] > 9 * LONG * len(TERMS)
    assert found["visiting"]["hashed"] - found["alone"]["hashed"] > 9 * LONG * len(TERMS)


def test_the_browser_notices_what_is_changed_after_it_was_checked(tmp_path: Path) -> None:
    noticed = in_browser(tmp_path)["noticed"]
    assert list(noticed) == WAYS
    assert all("damaged or was tampered with" in said for said in noticed.values())
    trusting = tmp_path / "trusting"
    trusting.mkdir()
    careless = in_browser(trusting, REMEMBERED, "if (known) return known.fields;")["noticed"]
    assert set(careless.values()) == {"nothing"}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []

    def counting(before: str, text: str) -> str:
        found.append(len(text))
        return chained(before, text)

    monkeypatch.setattr(chain, "chained", counting)
    return found


def filled(path: Path) -> Ledger:
    ledger = Ledger(path)
    for place in range(LONG):
        plain = {"market": "http://evil.example", "round_id": f"r{place}", "bid_micros": 1, "terms_hash": f"h{place}"}
        ledger.keep_bid({**plain, "question": "{}", "terms": TERMS, "body": "{}", "owner_id": "u"})
    return ledger


def test_pythons_device_hashes_an_entry_once_too(tmp_path: Path, counted: list[int]) -> None:
    ledger = filled(tmp_path / "device.sqlite")
    for _ in range(10):
        assert len(ledger.account().entries) == LONG
    assert len(counted) == LONG
    ledger.close()


CHANGES = {
    "an entry rewritten": "UPDATE entries SET entry = replace(entry, 'evil.example', 'good.example') WHERE place = 2",
    "a hash rewritten": "UPDATE entries SET hash = (SELECT hash FROM entries WHERE place = 3) WHERE place = 2",
    "an entry gone": "DELETE FROM entries WHERE place = 2",
    "the last entry gone": f"DELETE FROM entries WHERE place = {LONG}",
    "two entries changed about": "UPDATE entries SET place = CASE place WHEN 2 THEN 99 ELSE place END",
}


@pytest.mark.parametrize("way", CHANGES)
def test_pythons_device_notices_what_is_changed_while_it_is_open(way: str, tmp_path: Path) -> None:
    ledger = filled(tmp_path / "device.sqlite")
    with sqlite3.connect(tmp_path / "device.sqlite") as other:
        for trigger in ("forgotten", "rewritten", "replaced"):
            other.execute(f"DROP TRIGGER entries_are_not_{trigger}")
        other.execute(CHANGES[way])
    other.close()
    with pytest.raises(LedgerError, match="damaged or was tampered with"):
        ledger.account()
    ledger.close()


def test_the_browser_looks_over_many_rounds_without_going_through_all_for_each(tmp_path: Path) -> None:
    found = in_browser(tmp_path)["over"]
    assert found["told"] == 0
    assert found["accounts"] <= 3, "the account is read for what is at fault, and not for each report of years"
    assert found["counted"] <= 6 * 5 * LONG, (
        "of each entry the round is read a few times, however many rounds there are"
    )
    scattered = tmp_path / "scattered"
    scattered.mkdir()
    careless = in_browser(scattered, "if (!this.#rounds) {", "{")["over"]
    assert careless["counted"] > 9 * 5 * LONG


class Counted(list[Fields]):
    """Entries that count how many of them were looked at."""

    looked_at = 0

    def __iter__(self) -> Iterator[Fields]:
        self.looked_at += len(self)
        return super().__iter__()


def reported(round_id: str) -> list[Fields]:
    """All that there is of a round that was paid."""
    charge = {"attribute": "a", "text": "", "terms_hash": "h", "epsilon_nanos": 1, "payment_micros": 1}
    bid = {"bid_micros": 1, "terms_hash": "h", "question": "{}", "terms": "{}", "body": "{}"}
    entries: list[Fields] = [
        {"kind": "bid", **bid},
        {"kind": "bid-accepted", "receipt": '{"bid_micros":1}'},
        {"kind": "drawn", **charge, "drawn_at_ms": 1, "body": "{}"},
        {"kind": "accepted", "at_ms": 1, "receipt": "{}"},
        {"kind": "paid", "paid_micros": 1},
    ]
    return [{"market": "http://m.example", "round_id": round_id, **entry} for entry in entries]


def test_pythons_device_looks_over_many_rounds_without_going_through_all_for_each() -> None:
    rounds, accounts = [f"rnd_{place:024x}" for place in range(10 * LONG)], []
    entries = Counted(entry for each in rounds for entry in reported(each))

    def account() -> Account:
        accounts.append(Account(entries))
        return accounts[-1]

    line = {"kind": "settlement", "account": "o", "amount_micros": 1, "at_ms": 1}
    lines = [Posting.model_validate({"transaction_id": each, "round_id": each, **line}) for each in rounds]
    device = Device(market="http://m.example", ledger=cast(Any, SimpleNamespace(account=account)))
    client = SimpleNamespace(money=lambda: Money(balance_micros=len(rounds), lines=lines))
    notices: list[Any] = [SimpleNamespace(round_id=each, state="settled") for each in rounds]
    looked = look_over(device, cast(Any, client), notices, 7)
    assert (looked.faults, looked.notes, looked.unseen) == ([], [], [])
    assert len(accounts) <= 3
    assert entries.looked_at <= 4 * 3 * len(entries)
