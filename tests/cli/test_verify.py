"""``pdqs verify``: a table for people, JSON for machines, an exit code for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pdqs
from pdqs.rounds.canonical import written
from verifying.rounds import asked_row, kept_by, plain, played

from .conftest import Pdqs

RECORD = played(pdqs.Terms(query=pdqs.Count("Do you like tea?"), budget=30.0))
NO_RECORD = (
    "the record does not say that it is one: take the file of “download its record” on the round's page, or of pdqs"
    " owner proof ROUND --record FILE"
)
NO_PROOF = "the proof does not say that it is one: take the file of pdqs owner proof ROUND --out FILE"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    path.write_text(RECORD.text(), encoding="utf-8")
    return path


@pytest.mark.usefixtures("record")
def test_an_honest_record_ends_well_and_says_what_it_cannot_show(pdqs_command: Pdqs) -> None:
    done = pdqs_command("verify", "record.json")
    assert done.code == 0, done.err
    assert "everything agrees" in done.out
    assert "not shown by a record: that every owner is a person" in done.out


def test_a_forged_record_ends_with_1_and_names_what_does_not_agree(pdqs_command: Pdqs, record: Path) -> None:
    told = plain(RECORD)
    row = asked_row(told)
    row["paid_micros"] -= 1
    record.write_text(json.dumps(told), encoding="utf-8")
    done = pdqs_command("verify", "record.json", "--json")
    assert done.code == 1
    checks = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert [name for name, check in checks.items() if check["verdict"] != "held"] == ["payments", "totals"]
    assert checks["payments"]["owners"] == [row["pseudonym"]]


@pytest.mark.usefixtures("record")
def test_what_the_reader_kept_is_compared(pdqs_command: Pdqs, tmp_path: Path) -> None:
    who = RECORD.owners[0].pseudonym
    (tmp_path / "mine.json").write_text(kept_by(RECORD, who).text(), encoding="utf-8")
    kept = ("--root", RECORD.bids_root, "--terms-hash", RECORD.terms_hash, "--proof", "mine.json")
    assert pdqs_command("verify", "record.json", *kept).code == 0
    done = pdqs_command("verify", "record.json", "--root", "0" * 64)
    assert done.code == 1
    assert "the record has another root" in done.out


STEERING = "\x1b[2J\x7f\u009b2J\u200f\u2028\u202e\u2066"


def test_no_word_of_a_record_steers_the_terminal_of_who_reads_json(pdqs_command: Pdqs, record: Path) -> None:
    told = plain(RECORD)
    document = {**json.loads(told["terms"]), "round": STEERING}
    told["terms"] = written(document)
    record.write_text(json.dumps(told), encoding="utf-8")
    done = pdqs_command("verify", "record.json", "--json")
    assert done.data["round"] == STEERING
    assert [sign for sign in STEERING if sign in done.out] == list("[2J2J")


def beyond_all_numbers() -> str:
    """Terms of which the library below has lines of its own to say."""
    told = plain(RECORD)
    document = json.loads(told["terms"])
    prior = {"is": "TruncatedNormal", "mean": 1.7e308, "sd": 0.1, "low": 0.0, "high": 1.0}
    document["terms"] |= {"rule": "optimal", "estimator": "weighted", "prior": prior}
    return json.dumps({**told, "terms": written(document)})


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (beyond_all_numbers(), (), "record.json: the terms cannot be read: "),
        ("", (), "record.json: the record is not JSON"),
        (RECORD.text()[:999], (), "record.json: the record is not JSON, or was cut short"),
        (RECORD.text().replace(":", ": 1e999 ", 1), (), "record.json: the record"),
        (RECORD.text(), ("--root", "12"), "the root to compare with must be 64 digits"),
        ('{"value": 16.0}', (), f"record.json: {NO_RECORD}"),
        ('{"format": "pdqs proof 3"}', (), f"record.json: {NO_RECORD}"),
        ('{"format": "pdqs record 9"}', (), "record.json: the record has no 'software'"),
        (RECORD.text(), ("--proof", "record.json"), f"record.json: {NO_PROOF}"),
        (RECORD.text(), ("--proof", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    pdqs_command: Pdqs, record: Path, text: str, options: tuple[str, ...], sentence: str
) -> None:
    record.write_text(text, encoding="utf-8")
    done = pdqs_command("verify", "record.json", *options)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_checking_needs_the_core_alone() -> None:
    code = (
        "import sys\n"
        "import pdqs.verifying\n"
        "unwanted = {'pydantic', 'cryptography', 'httpx', 'sqlalchemy', 'fastapi', 'pdqs.protocol', 'pdqs.market'}\n"
        "print(sorted(unwanted & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
