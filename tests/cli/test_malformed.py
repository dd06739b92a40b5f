"""Sixty and more malformed inputs, over every command: one sentence, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from .conftest import Pdqs

GOOD = "owner,bid,value\n" + "".join(f"o{i},0.{i % 9 + 1},{i % 2}\n" for i in range(40))
FROZEN = 'budget = 12.0\n\n[query]\nis = "count"\n'

FILES: dict[str, bytes] = {
    "good.csv": GOOD.encode(),
    "cut.csv.gz": gzip.compress(GOOD.encode())[:-12],
    "flipped.csv.gz": gzip.compress(GOOD.encode())[:40] + b"\x00" * 30,
    "not.parquet": GOOD.encode(),
    "empty.csv": b"",
    "blank.csv": b"\n\n \n",
    "binary.csv": bytes(range(256)),
    "utf16.csv": GOOD.encode("utf-16"),
    "nul.csv": GOOD.replace("o3", "o\x003").encode(),
    "quote.csv": GOOD.replace("o3", '"o3').encode(),
    "ragged.csv": GOOD.replace("o3,0.4,1", "o3,0.4").encode(),
    "hole.csv": GOOD.replace("o3", "\no3").encode(),
    "capitals.csv": GOOD.replace("owner,bid,value", "Owner,BID").replace(",0\n", "\n").replace(",1\n", "\n").encode(),
    "twice.csv": GOOD.replace("o3", "o2").encode(),
    "two_bids.csv": GOOD.replace("owner,bid,value", "owner,bid,bid").encode(),
    "no_header.csv": GOOD.partition("\n")[2].encode(),
    "dollars.csv": GOOD.replace("0.4,1", "$0.4,1").encode(),
    "words.csv": GOOD.replace("0.4,1", "cheap,1").encode(),
    "comma_decimals.csv": GOOD.replace(",", ";").replace("0.4", "0,4").encode(),
    "huge.csv": GOOD.replace("0.4,1", "1e999,1").encode(),
    "maybe.csv": GOOD.replace("o3,0.4,1", "o3,0.4,maybe").encode(),
    "empty_cell.csv": GOOD.replace("o3,0.4,1", "o3,,1").encode(),
    "terms.toml": FROZEN.encode(),
    "no_budget.toml": b'[query]\nis = "count"\n',
    "typo.toml": FROZEN.replace("budget", "bugdet = 1\nbudget").encode(),
    "broken.toml": b"budget = = 12\n",
    "changed.toml": f'hash = "{"0" * 64}"\n{FROZEN}'.encode(),
    "bad_query.toml": FROZEN.replace("count", "mode").encode(),
    "text_budget.toml": FROZEN.replace("12.0", '"much"').encode(),
    "list.json": b"[]",
    "broken.json": b"{",
    "rule.npz": b"not an archive",
    "offers.csv": b"owner,bid,q,epsilon,payment\na,0.1,0,0,0\nb,0.2,0,0,0\n",
    "reports.csv": b"owner,report\na,1\n",
}

TRADE = ("--budget", "12", "--out", "out.csv", "--picture", "out.png")

REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    # files
    "gzip cut short": (("trade", "cut.csv.gz", *TRADE), "cut.csv.gz: it is gzipped, but broken or cut short"),
    "gzip flipped": (("trade", "flipped.csv.gz", *TRADE), "it is gzipped, but broken or cut short"),
    "not Parquet": (("trade", "not.parquet", *TRADE), "not.parquet is not Parquet"),
    "empty": (("trade", "empty.csv", *TRADE), "empty.csv: the file is empty"),
    "blank": (("clear", "blank.csv", *TRADE), "blank.csv: the file is empty"),
    "binary": (("clear", "binary.csv", *TRADE), "is not UTF-8"),
    "UTF-16": (("clear", "utf16.csv", *TRADE), "is not UTF-8"),
    "a NUL": (("clear", "nul.csv", *TRADE), "nul.csv: line 5 is not text (byte 0x00)"),
    "an open quote": (("clear", "quote.csv", *TRADE), "is not CSV"),
    "a blank row": (("trade", "hole.csv", *TRADE), "hole.csv: row 4 is blank"),
    "capitals": (("clear", "capitals.csv", *TRADE), "'BID'; add --owner-column Owner --bid-column BID\n"),
    "a ragged row": (("trade", "ragged.csv", *TRADE), "row 4 has 2 cells, but the header names 3 columns"),
    "an owner twice": (("trade", "twice.csv", *TRADE), "row 4, column 'owner': 'o2' is already in row 3"),
    "a column twice": (("clear", "two_bids.csv", *TRADE), "the header names column 'bid' twice"),
    "no header": (("clear", "no_header.csv", *TRADE), "no column 'owner': it has 'o0', '0.1', '0'"),
    "a sign of currency": (
        ("trade", "dollars.csv", *TRADE),
        "'$0.4' is not a number: write 0.4, without a sign of cur",
    ),
    "a bid in words": (("trade", "words.csv", *TRADE), "row 4, column 'bid': 'cheap' is not a number"),
    "decimal commas": (
        ("clear", "comma_decimals.csv", *TRADE),
        "column 'bid': '0,4' is not a number: write decimals after a",
    ),
    "a bid beyond numbers": (("clear", "huge.csv", *TRADE), "row 4, column 'bid': inf is not a finite number"),
    "neither yes nor no": (("trade", "maybe.csv", *TRADE), "'maybe' is no answer to a yes-or-no question: write"),
    "an empty cell": (("compare", "empty_cell.csv", "--budget", "12"), "row 4, column 'bid': the cell is empty"),
    "a folder for a file": (
        ("trade", "folder.csv", "--budget", "12"),
        "folder.csv is a folder, and there is no Parquet",
    ),
    "no such file": (("trade", "none.csv", *TRADE), "cannot read none.csv: No such file"),
    "no name": (("trade", "", *TRADE), "the name of the file to read is empty"),
    "no such kind": (("trade", "good.xlsx", *TRADE), "must end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet"),
    "no such stream": (("clear", "none/*.parquet", "--budget", "12", "--out", "o"), "no Parquet file here"),
    "a stream to a file": (
        ("clear", "parts", "--budget", "12", "--out", "o.csv"),
        "give --out with the name of a folder",
    ),
    "a stream to standard output": (("clear", "folder", "--budget", "12", "--out", "-"), "folder"),
    "a stream of nothing": (("clear", "folder", "--budget", "12", "--out", "o"), "no Parquet file here"),
    # columns
    "no such column": (
        ("trade", "good.csv", *TRADE, "--bid-column", "price"),
        "no column 'price': it has 'owner', 'bid'",
    ),
    "a column of other things": (("trade", "good.csv", *TRADE, "--bid-column", "owner"), "'o0' is not a number"),
    "rounding a count": (("trade", "good.csv", *TRADE, "--round-to-grid"), "only numbers can be rounded to a grid"),
    # where to
    "over itself": (("clear", "good.csv", "--budget", "12", "--out", "good.csv"), "read by this very command"),
    "over its terms": (
        ("clear", "good.csv", "--terms", "terms.toml", "--out", "terms.toml"),
        "read by this very command",
    ),
    "over what is there": (
        ("clear", "good.csv", "--budget", "12", "--out", "reports.csv"),
        "reports.csv is there already",
    ),
    "over a folder": (("clear", "good.csv", "--budget", "12", "--out", "folder.csv"), "folder.csv: it is a folder"),
    "into no folder": (("trade", "good.csv", "--budget", "12", "--out", "no/out.csv"), "there is no folder no"),
    "one file for two": (
        ("trade", "good.csv", "--budget", "1", "--out", "o.csv", "--picture", "o.csv"),
        "must end in .png",
    ),
    "a picture to a pipe": (
        ("trade", "good.csv", "--budget", "12", "--picture", "-"),
        "must end in .png, .svg or .pdf",
    ),
    "JSON and a table": (
        ("trade", "good.csv", "--budget", "12", "--out", "-", "--json"),
        "both write to standard output",
    ),
    # terms
    "terms of no file": (("clear", "good.csv", "--terms", "none.toml"), "cannot read none.toml: No such file"),
    "terms of no kind": (("clear", "good.csv", "--terms", "good.csv"), "its name must end in .toml or .json"),
    "broken TOML": (("trade", "good.csv", "--terms", "broken.toml"), "broken.toml: this is not TOML"),
    "broken JSON": (("trade", "good.csv", "--terms", "broken.json"), "broken.json: this is not JSON"),
    "terms that are a list": (("trade", "good.csv", "--terms", "list.json"), "terms are a JSON object, got list"),
    "terms without a budget": (("trade", "good.csv", "--terms", "no_budget.toml"), "terms need a 'budget'"),
    "terms with a slip": (("trade", "good.csv", "--terms", "typo.toml"), "terms have no 'bugdet'"),
    "terms that were changed": (("trade", "good.csv", "--terms", "changed.toml"), "they were changed since"),
    "terms of no query": (("trade", "good.csv", "--terms", "bad_query.toml"), "unknown query 'mode'"),
    "a budget in words": (("trade", "good.csv", "--terms", "text_budget.toml"), "text_budget.toml: budget must be a"),
    "words beside terms": (
        ("plan", "--owners", "9", "--terms", "terms.toml", "--budget", "3"),
        "--budget does not go with it",
    ),
    "a rule that is no rule": (("clear", "good.csv", "--budget", "12", "--rule", "rule.npz"), "rule.npz"),
    "a rule of no file": (("clear", "good.csv", "--budget", "12", "--rule", "none.npz"), "none.npz"),
    "an unknown option": (("trade", "good.csv", "--bugdet", "12"), "No such option: --bugdet"),
    "an option with a slip": (("trade", "good.csv", "--buget", "12"), "Did you mean --budget?"),
    "a domain backwards": (
        ("trade", "good.csv", "--budget", "12", "--query", "mean", "--domain", "90:18"),
        "a grid needs a stop above its start, got 90 to 18",
    ),
    "a domain with a dash": (
        ("trade", "good.csv", "--budget", "12", "--query", "mean", "--domain", "18-90"),
        "a domain is START:STOP:STEP or labels with commas between, got '18-90'",
    ),
    "an option without its word": (("trade", "good.csv", "--budget"), "'--budget' requires an argument"),
    "a seed below zero": (("trade", "good.csv", "--budget", "12", "--seed", "-1"), "Invalid value for '--seed'"),
    "no file": (("trade", "--budget", "12"), "Missing argument"),
    "nothing frozen": (("terms", "--out", "t.toml"), "no budget: give --budget"),
    "frozen as a table": (("terms", "--budget", "12", "--out", "t.csv"), "its name must end in .toml"),
    # answers
    "offers for reports": (("answer", "offers.csv", "offers.csv"), "offers and reports are two files"),
    "reports for offers": (("answer", "reports.csv", "offers.csv"), "reports.csv: no column 'bid'"),
    "offers without chances": (("answer", "offers.csv", "reports.csv"), "needs the columns 'chance' and 'draw'"),
    "a level in words": (
        ("answer", "offers.csv", "reports.csv", "--level", "high"),
        "'--level': 'high' is not a number",
    ),
    # the others
    "a plan of nothing": (("plan", "--owners", "100"), "give --half-width or --budget, and not both"),
    "a plan of words": (("plan", "--owners", "many", "--budget", "3"), "'--owners': 'many' is not a whole number"),
    "a plan of more than there are": (
        ("plan", "--owners", "100000000000", "--budget", "3"),
        "owners must be at most 10,000,000,000",
    ),
    "a guess in words": (("plan", "--owners", "99", "--budget", "3", "--guess", "half"), "--guess must be a share"),
    "no such mechanism": (("compare", "good.csv", "best", "--budget", "12"), "unknown preset 'best'"),
    "no rounds": (("compare", "good.csv", "--budget", "12", "--rounds", "0"), "'--rounds': 0 is not at least 1"),
    "an audit of nothing": (("audit",), "say what to audit"),
    "an audit of an unknown": (("audit", "magic"), "unknown preset 'magic'"),
    "an audit of broken terms": (("audit", "broken.toml"), "this is not TOML"),
    "an audit of a crowd": (("audit", "sound", "--owners", "1000000"), "owners"),
    "a certificate of no kind": (("audit", "sound", "--certificate", "page.doc"), "its name must end in .html"),
    "nothing to learn": (("train", "--out", "r.npz"), "give a file with a column 'bid'"),
    "a lesson of no kind": (("train", "good.csv", "--out", "r.csv"), "its name must end in .npz"),
    "a form of no kind": (("train", "good.csv", "--out", "r.npz", "--form", "best"), "unknown form 'best'"),
    "a demonstration of no one": (("demo", "--out", "d", "--population", "moon"), "moon"),
    "a demonstration in a file": (
        ("demo", "--out", "good.csv", "--population", "exam"),
        "cannot make the folder good.csv",
    ),
    "populations of nowhere": (("populations", "verify", "--data", "nowhere"), "nowhere"),
    "populations of no kind": (("populations", "eat"), "No such command 'eat'"),
    "a report of no results": (("reproduce", "--out", "r", "--report-only"), "holds no results.parquet"),
    "a word that is none": (("sell",), "no command 'sell'"),
    "a word that is near": (("trad",), "did you mean pdqs trade?"),
    "an owner of no kind": (("owner", "sell"), "No such command 'sell'"),
    "a market of no kind": (("market", "burn"), "No such command 'burn'"),
}


def lay_out(folder: Path) -> None:
    """Put the files that these inputs name into a folder."""
    for name, raw in FILES.items():
        (folder / name).write_bytes(raw)
    (folder / "folder.csv").mkdir()
    (folder / "folder").mkdir()
    (folder / "parts").mkdir()
    (folder / "parts" / "0.parquet").write_bytes(GOOD.encode())


@pytest.mark.parametrize(("words", "says"), REFUSED.values(), ids=REFUSED)
def test_a_malformed_input_gets_a_sentence_and_nothing_is_written(
    pdqs_command: Pdqs, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    lay_out(tmp_path)
    before = {path: path.read_bytes() if path.is_file() else None for path in sorted(tmp_path.rglob("*"))}
    done = pdqs_command(*words)
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("pdqs: ")
    assert done.err.count("\n") == 1, "one sentence"
    assert "Traceback" not in done.err
    assert says in done.err
    assert {path: path.read_bytes() if path.is_file() else None for path in sorted(tmp_path.rglob("*"))} == before


def test_there_are_sixty_of_them() -> None:
    assert len(REFUSED) >= 60
