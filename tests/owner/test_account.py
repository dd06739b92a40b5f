"""The account outlives renaming, rollback, other hands and rot: what was spent stays spent, or nothing is drawn."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.owner import ledger as ledger_file
from pdqs.owner.account import FIRST_HASH, Account, Charge, chained, entry_text
from pdqs.owner.checks import CHECKS
from pdqs.owner.errors import CapReached, LedgerError, OfferRefused, OwnerMustAgree
from pdqs.owner.ledger import Ledger
from pdqs.owner.lifetime_cap import OVERALL
from pdqs.owner.review import Device
from pdqs.privacy.loss import NANOS_PER_EPSILON
from pdqs.protocol.device_messages import RoundNotice

from .node import twin
from .rounds import bid_fields, notice, offer, report_receipt

MARKET = "http://market.example"


@pytest.fixture
def device(tmp_path: Path) -> Any:
    ledger = Ledger(tmp_path / "device.sqlite")
    yield Device(market=MARKET, ledger=ledger)
    ledger.close()


def asked(place: int, *, attribute: str, text: str = "Do you smoke?") -> RoundNotice:
    """The round that is asked in the ``place``-th place, under a name of its own."""
    about = notice(pdqs.Count(text), attribute=attribute)
    name = f"rnd_{place:024x}"
    terms = about.terms.replace(about.round_id, name)
    return about.model_copy(
        update={"round_id": name, "terms": terms, "terms_hash": hashlib.sha256(terms.encode()).hexdigest()}
    )


def ask(device: Device, about: RoundNotice, agreed: set[str] | None = None, *, counted: int = 0) -> None:
    device.ledger.keep_bid(bid_fields(about, 0, device.market))
    review = device.review(about, offer(about, bid_micros=0), counted=counted)
    device.report(review, 1, fresh=review.offer, now_ms=1, agreed=review.asks if agreed is None else agreed)


def test_renaming_the_attribute_a_hundred_times_spends_no_more_than_the_overall_cap(device: Device) -> None:
    for place in range(10):
        ask(device, asked(place, attribute=f"fact{place}", text=f"Question {place}?"))
    for place in range(10, 100):
        with pytest.raises(CapReached, match="all attributes together"):
            ask(device, asked(place, attribute=f"fact{place}", text=f"Question {place}?"))
    spent = device.ledger.account().spending(OVERALL)
    assert spent.reports == 10
    assert spent.spent_nanos <= spent.cap_nanos == 12 * NANOS_PER_EPSILON
    assert device.ledger.account().spending("fact0").cap_nanos == 4 * NANOS_PER_EPSILON


def test_the_browsers_overall_cap_counts_every_name_and_every_user_that_the_market_made_up() -> None:
    about, before = asked(99, attribute="another"), []
    for place in range(10):
        charge: dict[str, Any] = {
            "market": f"{MARKET} u_{place}",
            "round_id": f"r{place}",
            "attribute": f"fact{place}",
            "text": "",
        }
        charge |= {"terms_hash": "", "payment_micros": 1, "drawn_at_ms": 1, "body": "{}"}
        before.append({"kind": "drawn", "epsilon_nanos": 11 * NANOS_PER_EPSILON // 10, **charge})
    case: dict[str, Any] = {"notice": about.model_dump(), "offer": offer(about, bid_micros=0).model_dump(), "code": 1}
    case["bid"] = bid_fields(about, 0, f"{MARKET} u_new")
    fewer, more = twin(consents=[case | {"entries": before[:9]}, case | {"entries": before}])["consents"]
    assert "refused" not in fewer
    assert (more["refused"], more["words"]) == ("CapReached", 0)


def test_a_new_name_is_asked_about_once_and_old_words_under_a_new_name_are_pointed_out(device: Device) -> None:
    first, again = asked(1, attribute="smoker"), asked(2, attribute="smoker", text="Still?")
    with pytest.raises(OwnerMustAgree, match="'smoker' is a new fact, and not one asked about before"):
        ask(device, first, set())
    assert device.ledger.account().reports() == []
    ask(device, first, {"new fact"})
    ask(device, again, set())
    renamed = asked(3, attribute="tobacco", text="do you SMOKE")
    with pytest.raises(OwnerMustAgree, match=r"asked before under another name \(smoker\)"):
        ask(device, renamed, {"new fact"})
    ask(device, renamed, {"new fact", "asked before"})
    assert [s.attribute for s in device.ledger.account().all_spending()] == ["smoker", "tobacco"]


def test_the_browser_asks_the_same_of_a_new_name() -> None:
    about = asked(3, attribute="tobacco", text="do you SMOKE")
    charge: dict[str, Any] = {
        "market": MARKET,
        "round_id": "r",
        "attribute": "smoker",
        "text": "Do you smoke?",
        "terms_hash": "",
    }
    entries = [{"kind": "drawn", **charge, "epsilon_nanos": 1, "payment_micros": 1, "drawn_at_ms": 1, "body": "{}"}]
    case: dict[str, Any] = {"notice": about.model_dump(), "offer": offer(about, bid_micros=0).model_dump(), "code": 1}
    case |= {"bid": bid_fields(about, 0, MARKET), "entries": entries}
    agreements = [[], ["new fact"], ["new fact", "asked before"]]
    found = twin(consents=[case | {"agreed": agreed} for agreed in agreements])["consents"]
    assert [one.get("refused") for one in found] == ["OwnerMustAgree", "OwnerMustAgree", None]


def words(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def test_what_she_agrees_to_is_worded_alike_on_both_devices(device: Device) -> None:
    about = asked(3, attribute="tobacco")
    case: dict[str, Any] = {"notice": about.model_dump(), "offer": offer(about, bid_micros=0).model_dump(), "code": 1}
    (found,) = twin(consents=[case | {"bid": bid_fields(about, 0, MARKET), "agreed": ["new fact"]}])["consents"]
    with pytest.raises(OwnerMustAgree) as refused:
        ask(device, about, set())
    said = str(refused.value).removeprefix("you have not said yes: ").partition(" Is that so?")[0]
    assert words(said) == words(found["asks"]["new fact"])


def test_a_file_that_was_put_back_is_noticed_by_the_markets_count(device: Device, tmp_path: Path) -> None:
    about = asked(1, attribute="smoker")
    shutil.copy(tmp_path / "device.sqlite", tmp_path / "old.sqlite")
    ask(device, about)
    old = Ledger(tmp_path / "old.sqlite")
    rolled_back = Device(market=MARKET, ledger=old)
    other = asked(2, attribute="smoker")
    with pytest.raises(OwnerMustAgree, match="has 1 report of yours and this device made 0"):
        ask(rolled_back, other, {"new fact"}, counted=1)
    assert old.account().reports() == []
    ask(rolled_back, other, {"new fact", "elsewhere"}, counted=1)
    ask(rolled_back, asked(3, attribute="smoker"), set(), counted=2)  # what was agreed to is not asked again
    old.close()


def test_a_round_that_another_device_reported_in_is_not_drawn_again(device: Device, tmp_path: Path) -> None:
    about = asked(1, attribute="smoker")
    ask(device, about)
    made = device.ledger.account().reports()[0]
    second = Device(market=MARKET, ledger=Ledger(tmp_path / "second.sqlite"))
    second.ledger.keep_bid(bid_fields(about, 0, MARKET))
    with pytest.raises(OfferRefused, match="a report of yours that this device did not make"):
        second.review(about, offer(about, bid_micros=0), report_there=report_receipt(made), counted=1)
    second.ledger.close()


def mode_of_a_file_found_open(path: Path) -> int:
    Ledger(path).close()
    path.chmod(0o644)
    Ledger(path).close()
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_found_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    assert mode_of_a_file_found_open(tmp_path / "device.sqlite") == 0o600


def test_a_device_that_leaves_its_file_open_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_file, "_make_private", lambda _path: None)
    assert mode_of_a_file_found_open(tmp_path / "device.sqlite") == 0o644


def charged(path: Path, reports: int = 8) -> Ledger:
    ledger = Ledger(path)
    for place in range(reports):
        charge = Charge(
            market=MARKET, round_id=f"r{place}", attribute="age", text="", terms_hash="", epsilon_nanos=10**8,
            payment_micros=1, drawn_at_ms=1,
        )  # fmt: skip
        ledger.make_report(charge, lambda: "{}")
    return ledger


TAMPERING = {
    "an entry rewritten": "UPDATE entries SET entry = replace(entry, '100000000', '100000001') WHERE place = 3",
    "an entry and its hash rewritten": None,
    "an entry in the middle gone": "DELETE FROM entries WHERE place = 3",
    "the last entry gone": "DELETE FROM entries WHERE place = 8",
    "two entries changed about": "UPDATE entries SET place = place + (CASE place WHEN 3 THEN 97 ELSE 0 END)",
}


@pytest.mark.parametrize("way", TAMPERING)
def test_tampering_is_noticed_and_nothing_is_drawn(way: str, tmp_path: Path) -> None:
    charged(tmp_path / "device.sqlite").close()
    with sqlite3.connect(tmp_path / "device.sqlite") as other:
        for trigger in ("forgotten", "rewritten", "replaced"):
            other.execute(f"DROP TRIGGER entries_are_not_{trigger}")
        text = entry_text({"kind": "cap", "attribute": "", "cap_nanos": 10**12})
        other.execute(
            TAMPERING[way] or f"UPDATE entries SET entry = '{text}', hash = '{chained('0' * 64, text)}' WHERE place = 1"
        )
    other.close()
    with pytest.raises(LedgerError, match="damaged or was tampered with"):
        Ledger(tmp_path / "device.sqlite")


def test_no_rotten_byte_gives_a_silently_wrong_sum(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every file with some bytes changed is refused or still says 8 reports and .8 epsilon: 200 of 200."""
    whole = tmp_path / "whole.sqlite"
    charged(whole).close()
    content, refused = whole.read_bytes(), 0
    for place in range(200):
        rotten = bytearray(content)
        for at in rng.integers(0, len(content), 1 + place % 8):
            rotten[at] ^= int(rng.integers(1, 256))
        path = tmp_path / "rotten.sqlite"
        path.write_bytes(rotten)
        try:
            ledger = Ledger(path)
            found = ledger.account().spending("age")
            ledger.close()
            assert (found.reports, found.spent_nanos) == (8, 8 * 10**8)
        except LedgerError:
            refused += 1
    assert refused > 20, "the bytes that hold the account were among those changed"


def test_a_whole_file_is_not_written_to_when_it_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "device.sqlite"
    ledger = Ledger(file)
    ledger.set_cap("illness", 5)
    ledger.close()
    before, written = file.read_bytes(), file.stat().st_mtime_ns
    Ledger(file).close()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, written)


@pytest.mark.parametrize("missing", ["forgotten", "rewritten", "replaced"])
def test_a_guard_of_the_file_that_was_taken_away_is_put_back_when_it_is_opened(missing: str, tmp_path: Path) -> None:
    file = tmp_path / "device.sqlite"
    ledger = Ledger(file)
    ledger.set_cap("illness", 5)
    ledger.close()
    with sqlite3.connect(file) as other:
        other.execute(f"DROP TRIGGER entries_are_not_{missing}")
    other.close()
    Ledger(file).close()
    ways = {
        "forgotten": "DELETE FROM entries",
        "rewritten": "UPDATE entries SET hash = ''",
        "replaced": "INSERT OR REPLACE INTO entries SELECT place, '', hash FROM entries",
    }
    with pytest.raises(sqlite3.IntegrityError, match="an entry"), sqlite3.connect(file) as other:
        other.execute(ways[missing])
    other.close()


def test_what_an_earlier_version_charged_is_carried_over(tmp_path: Path) -> None:
    path = tmp_path / "device.sqlite"
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE caps (attribute TEXT PRIMARY KEY, cap_nanos INTEGER)")
        old.execute("CREATE TABLE bids (market TEXT, round_id TEXT)")
        old.execute(
            "CREATE TABLE reports (market TEXT, round_id TEXT, attribute TEXT, epsilon_nanos INTEGER,"
            " payment_micros INTEGER, body BLOB, made_at_ms INTEGER, acknowledged INTEGER)"
        )
        old.execute("INSERT INTO caps VALUES ('age', 7)")
        old.execute("INSERT INTO reports VALUES ('m', 'r', 'age', 5, 1, x'7b7d', 3, 1)")
    old.close()
    for _ in range(2):
        ledger = Ledger(path)
        found = ledger.account().spending("age")
        assert (found.spent_nanos, found.cap_nanos, found.reports) == (5, 7, 1)
        ledger.close()


def test_both_devices_chain_the_same_entries_to_the_same_hashes() -> None:
    about = asked(1, attribute="smoker", text="Größe über 180 “cm”? \\ / é")
    case: dict[str, Any] = {"notice": about.model_dump(), "offer": offer(about, bid_micros=0).model_dump(), "code": 1}
    (found,) = twin(consents=[case | {"bid": bid_fields(about, 0, MARKET)}])["consents"]
    before = "0" * 64
    for row in found["rows"]:
        before = chained(before, row["entry"])
        assert row["hash"] == before
    texts = ["", "abc", "é" * 100, "x" * 1000]
    assert twin(hashes=texts)["hashes"] == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


def test_an_offer_that_was_kept_before_its_end_was_is_read_as_one_without() -> None:
    kept = {"kind": "offer", "market": "m", "round_id": "r", "q_numerator": 1, "payment_micros": 2, "stage": 1}
    ends = [Account([entry]).offer("m", "r") for entry in (kept, {**kept, "closes_at_ms": 5})]
    assert [end and end.closes_at_ms for end in ends] == [0, 5]
    assert ends[0] == ends[1], "it is the same offer, whatever its end is said to be"


def test_both_devices_make_the_same_checks_at_the_same_stages() -> None:
    ours = {name: stage for name, (stage, _) in CHECKS.items()}
    assert twin()["checks"] == {"shape": "shape", **ours}


OTHERS_TABLES = {
    "letters": "CREATE TABLE reports (letter TEXT)",
    "diary": "CREATE TABLE entries (day TEXT, entry TEXT)",
    "hats": "CREATE TABLE caps (size INTEGER)",
    "view": "CREATE VIEW entries AS SELECT 1 AS place",
}


@pytest.mark.parametrize("kind", ["text", *OTHERS_TABLES])
def test_a_file_of_another_kind_that_is_named_by_mistake_keeps_its_bytes_and_its_mode(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "letters"
    if kind == "text":
        path.write_text("Dear Bob, ...", encoding="utf-8")
    else:
        with sqlite3.connect(path) as other:
            other.execute(OTHERS_TABLES[kind])
        other.close()
    path.chmod(0o644)
    before = path.read_bytes(), path.stat().st_mode
    with pytest.raises(LedgerError, match=r"no ledger, and was left as it is|not a device's ledger"):
        Ledger(path)
    assert (path.read_bytes(), path.stat().st_mode) == before


def test_what_is_no_file_at_all_is_left_as_it_is_too(tmp_path: Path) -> None:
    """As root, a device called /dev/null would have closed that to everyone else on the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)
    pipe.chmod(0o644)
    with pytest.raises(LedgerError, match="no ledger, and was left as it is"):
        Ledger(pipe)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o644


def _impatient(file: Path) -> Ledger:
    """A device that waits for nobody else who holds its file."""
    found = Ledger(file)
    found._connection.execute("PRAGMA busy_timeout = 20")
    return found


@pytest.mark.parametrize("held", [["BEGIN IMMEDIATE"], ["BEGIN", "SELECT * FROM entries"]], ids=["writer", "reader"])
def test_a_file_that_another_holds_is_refused_in_words_and_whole_afterwards(held: list[str], tmp_path: Path) -> None:
    ledger = _impatient(tmp_path / "device.sqlite")
    ledger.set_cap("illness", 5)
    other = sqlite3.connect(tmp_path / "device.sqlite", isolation_level=None)
    for statement in held:
        other.execute(statement).fetchall()
    for act in (ledger.ensure_writable, lambda: ledger.set_cap("illness", 6)):
        with pytest.raises(LedgerError, match=r"cannot be written: database is locked"):
            act()
    other.close()
    assert ledger.account().spending("illness").cap_nanos == 5
    ledger.ensure_writable()
    assert ledger.markets() == {}
    ledger.close()


def test_something_else_that_bears_the_name_of_a_guard_is_no_guard(tmp_path: Path) -> None:
    file = tmp_path / "device.sqlite"
    Ledger(file).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("DROP TRIGGER entries_are_not_forgotten")
    other.execute("CREATE INDEX entries_are_not_forgotten ON entries (hash)")
    Ledger(file).close()
    kinds = {
        kind for (kind,) in other.execute("SELECT type FROM sqlite_master WHERE name = 'entries_are_not_forgotten'")
    }
    other.close()
    assert "trigger" in kinds


def test_a_database_of_another_program_that_is_still_empty_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("PRAGMA application_id = 12345")
    other.execute("PRAGMA user_version = 7")
    other.close()
    file.chmod(0o644)
    before = file.read_bytes()
    with pytest.raises(LedgerError, match=r"a database, but not a device's ledger"):
        Ledger(file)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (before, 0o644)


@pytest.mark.parametrize("text", ["no JSON", "[" * 100_000, "{}", "[]"])
def test_an_entry_that_is_none_is_refused_in_words_though_it_is_chained(text: str, tmp_path: Path) -> None:
    file = tmp_path / "device.sqlite"
    Ledger(file).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("INSERT INTO entries VALUES (1, ?, ?)", (text, chained(FIRST_HASH, text)))
    other.execute("PRAGMA user_version = 1")
    other.close()
    with pytest.raises(LedgerError, match="an entry that is none"):
        Ledger(file)
