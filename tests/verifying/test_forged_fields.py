"""Every field of a record, changed by itself: the change is caught, or what it stands in is said not to be checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import pdqs
from pdqs.model.errors import PdqsError
from pdqs.rounds.commitments import pseudonym_of
from pdqs.verifying import OwnProof, RoundRecord, Verification, few_reports, frozen_document, record_of
from pdqs.verifying.signatures import signed_bytes

from .rounds import NONCE, ROUND, SEED, Plain, asked_row, kept_by, plain

GRID = pdqs.Domain.grid(0, 100, 5)
KINDS = {
    "count": pdqs.Terms(query=pdqs.Count("Do you like tea?"), budget=30.0),
    "count, by no lot": pdqs.Terms(query=pdqs.Count(), budget=30.0, rule="optimal", estimator="weighted"),
    "median by stages": pdqs.Terms(query=pdqs.Median(GRID), budget=40.0, question="side", stages=3),
    "mean by levels": pdqs.Terms(query=pdqs.Mean(GRID), budget=30.0, question="level"),
    "histogram by buckets": pdqs.Terms(
        query=pdqs.Histogram(pdqs.Domain.categories(list("abcdefgh"))), budget=90.0, question="bucket"
    ),
    "histogram of values": pdqs.Terms(
        query=pdqs.Histogram(pdqs.Domain.categories(list("abc"))), budget=90.0, question="value"
    ),
}
KEY = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
EVERYONE = -1
"""Whoever is asked reports, and not so many."""

Path = tuple[str | int, ...]


def played(terms: pdqs.Terms, came: int) -> RoundRecord:
    """The whole record of a round among 60 owners, of whom so many report."""
    rng = np.random.default_rng(4)
    bids = {pseudonym_of(ROUND, f"u_{i}"): int(rng.integers(50_000, 1_000_000)) for i in range(60)}
    values = terms.domain.decode(rng.integers(0, terms.domain_size, 60))
    said = {"record": "answered", "nonce_by": "market", "minimum_owners": 40, "only_with_answer": True}
    key = {"receipt_key": KEY.public_key().public_bytes_raw().hex(), "receipt_form": 2}
    document = {**json.loads(frozen_document(ROUND, terms, SEED, NONCE)), **said, **key}

    def reporting(offers: pdqs.Offers) -> list[int | None]:
        codes = pdqs.randomise(values, offers, rng).codes.tolist()
        reporters = set(np.flatnonzero(offers.asked).tolist()[: None if came == EVERYONE else came])
        return [code if row in reporters else None for row, code in enumerate(codes)]

    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return record_of(text, SEED, NONCE, bids, reporting)


def proof_of(record: RoundRecord, pseudonym: str) -> OwnProof:
    """What the device of an owner who reported keeps, the market's receipt among it."""
    line = next(line for line in record.owners if line.pseudonym == pseudonym)
    said: Plain = {
        "round_id": ROUND, "terms_hash": record.terms_hash, "code": line.code, "received_at_ms": 5, "ordinal": 1,
        "payment_micros": line.payment_micros, "pseudonym": pseudonym, "q_numerator": line.q_numerator,
        "stage": line.stage, "side": line.side,
    }  # fmt: skip
    signed = {**said, "signature": KEY.sign(signed_bytes("ReportReceipt", said)).hex()}
    return replace(kept_by(record, pseudonym), receipt=signed)


def leaves(held: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every figure of plain values, and where it stands."""
    if isinstance(held, dict):
        for name, value in held.items():
            yield from leaves(value, (*path, name))
    elif isinstance(held, list):
        for place, value in enumerate(held):
            yield from leaves(value, (*path, place))
        yield path, held
    else:
        yield path, held


def others(value: Any) -> list[Any]:
    """Figures of the same type that a forger might write instead: near, far and none."""
    match value:
        case bool():
            return [not value]
        case int():
            return [other for other in (value + 1, value - 1, 0, 1, 2 * value, value // 2, 2**32 - 1) if other != value]
        case float():
            return [value + 1.0, float(np.nextafter(value, 1e9)), -value if value else 1.0]
        case str() if len(value) == 64:
            return [hashlib.sha256(value.encode()).hexdigest()]
        case str():
            return [value + "!"]
        case list():
            return [value[:-1], [*value, value[-1]]] if value else []
        case _:
            return [0, 1]


def with_change(told: Plain, path: Path, value: Any) -> Plain:
    """The same with another figure in one place."""
    forged: Any = json.loads(json.dumps(told))
    held = forged
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = value
    return dict(forged)


def verified(told: Plain, proof: OwnProof | None) -> Verification | None:
    """What is found; nothing where the file is refused as no record."""
    try:
        return pdqs.verify(told, proof=proof)
    except PdqsError:
        return None


def rows_to_forge(told: Plain) -> Plain:
    """A record is forged in one row that has a report, and one that has none if such a row is listed."""
    silent = [row for row in told["owners"] if row["code"] is None][:1]
    return {**told, "owners": [asked_row(told), *silent]}


NOT_CHECKED = {
    "bids_root": "bids", "bid_micros": "bids", "chance_numerator": "offers", "q_numerator": "offers",
    "side": "questions", "owners": "owners", "asked": "hope",
}  # fmt: skip
"""In a record of few, the check that such a field would stand in, were it made."""

SAID = ("information", "warnings", "asked", "owners")
"""In a record of few, the parts of an answer that are said not to be made again."""


def open_with(found: Verification, path: Path) -> bool:
    """Whether it is said that the field is not checked."""
    verdicts = {each.name: each for each in found.findings}
    name = next(str(step) for step in reversed(path) if isinstance(step, str))
    if name == "software":
        return any("that versions agree" in note for note in found.notes())
    if path[0] == "answer" and name in SAID:
        return "not made again" in verdicts["answer"].told
    check = NOT_CHECKED.get(name, "")
    return check in verdicts and verdicts[check].verdict == "not checked"


def passed(record: RoundRecord, proof: OwnProof | None) -> list[tuple[Path, Any]]:
    """The changes of single fields that agree, and that nothing is said of."""
    told, found = plain(record), []
    places = {row["pseudonym"]: place for place, row in enumerate(told["owners"])}
    chosen = {places[row["pseudonym"]] for row in rows_to_forge(told)["owners"]}
    for path, value in leaves(told):
        if path in ((), ("format",)) or (path[0] == "owners" and len(path) > 1 and path[1] not in chosen):
            continue
        if path[0] == "answer" and len(path) > 2 and isinstance(path[2], int) and path[2] > 0:
            continue  # one row of a histogram stands for the others
        for other in others(value):
            seen = verified(with_change(told, path, other), proof)
            if seen is not None and seen.agrees and not open_with(seen, path):
                found.append((path, other))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("came", [EVERYONE, 3], ids=["everyone", "few"])
def test_an_honest_record_agrees_with_and_without_what_she_kept(kind: str, came: int) -> None:
    whole = played(KINDS[kind], came)
    record = whole if came == EVERYONE else whole.without_silent()
    proof = proof_of(whole, asked_row(plain(record))["pseudonym"])
    for kept in (None, proof):
        found = pdqs.verify(record.text(), proof=kept)
        assert found.agrees, repr(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("came", [EVERYONE, 3], ids=["everyone", "few"])
def test_no_field_is_changed_that_is_neither_caught_nor_said_to_be_open(kind: str, came: int) -> None:
    whole = played(KINDS[kind], came)
    assert passed(whole if came == EVERYONE else whole.without_silent(), None) == []


def test_a_check_that_looks_at_no_offer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_reports, "offer_fault", lambda *_: "")
    found = passed(played(KINDS["count"], 3).without_silent(), None)
    assert ("owners", 0, "posted_micros") in [path for path, _ in found]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_record_of_few_leaves_open_about_her_she_sees_herself(kind: str) -> None:
    whole = played(KINDS[kind], 3)
    told = plain(whole.without_silent())
    proof = proof_of(whole, told["owners"][0]["pseudonym"])
    hers = [("owners", 0, name) for name in told["owners"][0] if name != "pseudonym"]
    for path in (("bids_root",), ("answer", "owners"), *hers):
        value = next(value for where, value in leaves(told) if where == path)
        for other in others(value):
            seen = verified(with_change(told, path, other), proof)
            assert seen is None or not seen.agrees, (path, other)


@pytest.mark.parametrize("came", [EVERYONE, 3], ids=["everyone", "few"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_field_of_what_she_kept_is_other_than_the_record_says(kind: str, came: int) -> None:
    whole = played(KINDS[kind], came)
    record = whole if came == EVERYONE else whole.without_silent()
    kept = json.loads(proof_of(whole, asked_row(plain(record))["pseudonym"]).text())
    for path, value in leaves(kept):
        for other in others(value) if path not in ((), ("format",)) else ():
            if (path, value, other) == (("stage",), None, 1):
                continue  # where there are no stages, everyone is in the first
            text = json.dumps(with_change(kept, path, other))
            try:
                found = pdqs.verify(record, proof=text)
            except PdqsError:
                continue
            assert not found.agrees, (path, other)
