"""A file whose links fit, and whose entries are none: refused in a sentence, or read; never something in between."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pdqs.model.errors import PdqsError
from pdqs.owner.account import FIRST_HASH, Account, Charge, chained, entry_text
from pdqs.owner.entry_shapes import fault_of_entry
from pdqs.owner.errors import LedgerError
from pdqs.owner.ledger import Ledger
from pdqs.owner.lifetime_cap import OVERALL

WHERE = {"market": "http://market.example", "round_id": "rnd_1"}
RECEIPT = '{"bid_micros": 5, "ordinal": 1}'
CHARGE = {"attribute": "a", "text": "t", "terms_hash": "h", "epsilon_nanos": 1, "payment_micros": 5, "drawn_at_ms": 1}
BID = {"bid_micros": 5, "terms_hash": "h", "question": "{}", "terms": '{"receipt_key": "k"}', "body": "{}"}
LOTS = {"asked": True, "draw": 1, "chance_numerator": 2, "posted_micros": None}
WHOLE: list[dict[str, Any]] = [
    {"kind": "cap", "attribute": "a", "cap_nanos": 7},
    {"kind": "admitted", "attribute": "a", "text": "t"},
    {"kind": "elsewhere", "market": WHERE["market"], "reports": 2},
    {"kind": "enrolled", "market": WHERE["market"], "owner_id": "u_1"},
    {"kind": "bid", **WHERE, **BID, "owner_id": "u_1", "after_ms": 0},
    {"kind": "bid-accepted", **WHERE, "at_ms": 1, "receipt": RECEIPT},
    {"kind": "lots", **WHERE, **LOTS, "evidence": '{"root": 1}'},
    {"kind": "offer", **WHERE, "q_numerator": 3, "payment_micros": 5, "stage": 1, "closes_at_ms": 9},
    {"kind": "question", **WHERE, "stage": 1, "side": 0, "closes_at_ms": 9},
    {"kind": "drawn", **WHERE, **CHARGE, "body": "{}"},
    {"kind": "sent", **WHERE, "at_ms": 1},
    {"kind": "refused", **WHERE, "refused": "no"},
    {"kind": "accepted", **WHERE, "at_ms": 1, "receipt": RECEIPT},
    {"kind": "paid", **WHERE, "at_ms": 1, "paid_micros": 5, "statement": "[]"},
    {"kind": "taken-back", **WHERE, "at_ms": 1, "paid_micros": 0, "taken_back_micros": 5, "statement": "[]"},
    {"kind": "received", "market": WHERE["market"], "transaction_id": "t", "amount_micros": -5, "at_ms": 1},
    {"kind": "bid-withdrawn", **WHERE, "withdrawn_at_ms": 3},
    {"kind": "of a later device", "what": [1, 2]},
]
ODD: tuple[Any, ...] = ("x", "", 1, -1, 0.5, True, None, [], {}, [[1]], {"a": 1}, "[", "null", 10**30)


def written(path: Path, entries: list[dict[str, Any]]) -> Path:
    """A device's file with these entries, every link right."""
    Ledger(path).close()
    before = FIRST_HASH
    with sqlite3.connect(path) as db:
        for place, fields in enumerate(entries, 1):
            text = entry_text(fields)
            before = chained(before, text)
            db.execute("INSERT INTO entries VALUES (?, ?, ?)", (place, text, before))
        db.execute(f"PRAGMA user_version = {len(entries)}")
    db.close()
    return path


def read_through(account: Account) -> None:
    """Everything that is ever asked of an account."""
    market, where = WHERE["market"], tuple(WHERE.values())
    for name in (*OVERALL, "a"):
        account.spending(name)
    account.all_spending(), account.reports(), account.knows("a"), account.asked_so("a", "t")
    account.also_asked_as("a", "t"), account.elsewhere(market), account.made(market)
    account.answered_as_another(market, "h"), account.known_as(market), account.keys(market), account.received(market)
    for look in ("bid", "unsigned_bids", "withdrawn_ms", "lots", "offer", "kinds", "question", "money", "report"):
        getattr(account, look)(*where)
    for made in account.reports():
        made.facts_and_words, made.ordinal, made.noted_micros  # noqa: B018  # they are worked out as they are read


def read(path: Path) -> None:
    ledger = Ledger(path)
    try:
        read_through(ledger.account())
    finally:
        ledger.close()


def test_an_account_with_every_kind_is_read(tmp_path: Path) -> None:
    read(written(tmp_path / "whole.sqlite", WHOLE))
    assert all(not fault_of_entry(fields) for fields in WHOLE)


@pytest.mark.parametrize("place", range(len(WHOLE)), ids=[str(fields["kind"]) for fields in WHOLE])
def test_one_field_of_another_sort_is_refused_in_a_sentence_or_read(place: int, tmp_path: Path) -> None:
    rng, whole, refused = random.Random(place), WHOLE[place], 0
    bent = [{**whole, name: odd} for name in whole for odd in rng.sample(ODD, 6)]
    bent += [{key: value for key, value in whole.items() if key != name} for name in whole]
    for number, changed in enumerate(bent):
        try:
            read(written(tmp_path / f"{number}.sqlite", [*WHOLE[:place], changed, *WHOLE[place + 1 :]]))
        except LedgerError as fault:
            refused += "holds an entry that is none" in str(fault)
    assert refused  # without a kind it is no entry of any device


def test_a_charge_that_is_no_number_does_not_count_as_nothing(tmp_path: Path) -> None:
    drawn = {"kind": "drawn", **WHERE, **CHARGE, "body": "{}", "epsilon_nanos": "0"}
    with pytest.raises(LedgerError, match="its epsilon_nanos is none"):
        read(written(tmp_path / "free.sqlite", [drawn]))


def test_an_empty_object_is_one_and_a_list_is_none() -> None:
    accepted = {"kind": "accepted", **WHERE, "at_ms": 1}
    assert not fault_of_entry({**accepted, "receipt": "{}"})
    assert fault_of_entry({**accepted, "receipt": "[]"}) == "its receipt is none"


def test_the_table_of_charges_names_every_field_of_a_charge() -> None:
    drawn = {"kind": "drawn", **WHERE, **CHARGE, "body": "{}"}
    for name in Charge.__slots__:
        assert name in drawn
        assert fault_of_entry({key: value for key, value in drawn.items() if key != name})
    assert json.loads(entry_text(drawn)) == drawn
    assert issubclass(LedgerError, PdqsError)
