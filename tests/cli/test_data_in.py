"""The same market in many forms: other names, other separators, gzipped, from a pipe, with frozen terms."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pdqs
import pdqs.cli
from pdqs.cli.endings import open_closed_streams
from pdqs.model.errors import TermsError
from pdqs.tables.terms_files import frozen, read_terms_file

from .conftest import Ended, Pdqs

WORDS = ("--budget", 12, "--seed", 5)
SOUND = (*WORDS, "--preset", "sound")


def traded(done: Ended) -> tuple[object, object]:
    assert done.code == 0, done.err
    return done.data["answer"], [(row["owner"], row["report"], row["paid"]) for row in done.data["trades"]]


def cells(market: Path) -> list[list[str]]:
    return [line.split(",") for line in market.read_text(encoding="utf-8").splitlines()]


def written(rows: list[list[str]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def in_yes_and_no(rows: list[list[str]]) -> list[list[str]]:
    return [rows[0], *([owner, bid, "Yes" if value == "1" else "no"] for owner, bid, value in rows[1:])]


def with_more(rows: list[list[str]]) -> list[list[str]]:
    """As a data frame writes it: its index first, under no name, and columns that nobody asked for."""
    return [["", *rows[0], "age"], *([str(i), *row, "44"] for i, row in enumerate(rows[1:]))]


FORMS = {
    "semicolons": ("m.csv", lambda rows: written(rows, ";").encode(), "m.csv: read with semicolons between cells"),
    "bars": ("m.csv", lambda rows: written(rows, "|").encode(), "m.csv: read with bars between cells"),
    "tabs in a CSV": ("m.csv", lambda rows: written(rows, "\t").encode(), "m.csv: read with tabs between cells"),
    "commas in a TSV": ("m.tsv", lambda rows: written(rows).encode(), "m.tsv: read with commas between cells"),
    "TSV": ("m.tsv", lambda rows: written(rows, "\t").encode(), ""),
    "gzipped": ("m.csv.gz", lambda rows: gzip.compress(written(rows).encode()), ""),
    "gzipped TSV": ("m.tsv.gz", lambda rows: gzip.compress(written(rows, "\t").encode()), ""),
    "yes and no": ("m.csv", lambda rows: written(in_yes_and_no(rows)).encode(), ""),
    "more columns": (
        "m.csv",
        lambda rows: written(with_more(rows)).encode(),
        "m.csv: the columns '', 'age' are not used",
    ),
}


@pytest.mark.parametrize(("name", "form", "note"), FORMS.values(), ids=FORMS)
def test_a_market_in_another_form_is_the_same_market(
    pdqs_command: Pdqs, market: Path, name: str, form: object, note: str
) -> None:
    plain = traded(pdqs_command("trade", market, *WORDS, "--json"))
    assert callable(form)
    Path(name).write_bytes(form(cells(market)))
    done = pdqs_command("trade", name, *WORDS, "--json")
    assert traded(done) == plain
    assert done.err == (f"note: {note}\n" if note else "")


def test_columns_may_have_other_names_and_errors_use_them(pdqs_command: Pdqs, market: Path) -> None:
    plain = traded(pdqs_command("trade", market, *WORDS, "--json"))
    rows = [["id", "price", "ill"], *cells(market)[1:]]
    Path("other.csv").write_text(written(rows), encoding="utf-8")
    named = ("--owner-column", "id", "--bid-column", "price", "--value-column", "ill")
    assert traded(pdqs_command("trade", "other.csv", *WORDS, *named, "--json")) == plain
    rows[3][1] = "dear"
    Path("other.csv").write_text(written(rows), encoding="utf-8")
    assert (
        "other.csv: row 3, column 'price': 'dear' is not a number"
        in pdqs_command("clear", "other.csv", *WORDS, *named[:4]).err
    )
    assert (
        "no column 'owner': it has 'id', 'price', 'ill'; --owner-column names"
        in pdqs_command("clear", "other.csv", *WORDS).err
    )


@pytest.mark.parametrize("form", ["plain", "gzipped", "parquet"])
def test_a_market_comes_through_a_pipe(
    pdqs_command: Pdqs, market: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    plain = traded(pdqs_command("trade", market, *WORDS, "--json"))
    raw = market.read_bytes()
    if form == "gzipped":
        raw = gzip.compress(raw)
    if form == "parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        rows = cells(market)[1:]
        table = {"owner": [r[0] for r in rows], "bid": [float(r[1]) for r in rows], "value": [int(r[2]) for r in rows]}
        parquet.write_table(arrow.table(table), "m.parquet")
        raw = Path("m.parquet").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert traded(pdqs_command("trade", "-", *WORDS, "--json")) == plain


def test_a_table_to_standard_output_leaves_people_to_standard_error(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("clear", market, *WORDS, "--out", "offers.csv")
    done = pdqs_command("clear", market, *WORDS, "--out", "-")
    assert done.out == Path("offers.csv").read_text(encoding="utf-8")
    assert done.err.startswith("Offers to ")
    both = pdqs_command("clear", market, *WORDS, "--out", "-", "--json")
    assert (both.code, both.out) == (2, "")
    assert "--json and --out - both write to standard output" in both.err


@pytest.mark.parametrize("kind", [".tsv", ".csv.gz", ".tsv.gz"])
def test_what_is_written_in_any_form_is_read_again(pdqs_command: Pdqs, market: Path, kind: str) -> None:
    pdqs_command("clear", market, *SOUND, "--out", "offers.csv")
    pdqs_command("clear", market, *SOUND, "--out", f"offers{kind}")
    Path("reports.csv").write_text("owner,report\n" + "".join(f"o{i},1\n" for i in range(60)), encoding="utf-8")
    plain = pdqs_command("answer", "offers.csv", "reports.csv", "--preset", "sound", "--json").data
    assert pdqs_command("answer", f"offers{kind}", "reports.csv", "--preset", "sound", "--json").data == plain


def test_values_are_rounded_to_the_grid_only_when_told(pdqs_command: Pdqs, ages: Path) -> None:
    words = ("--query", "mean", "--domain", "10:70:10", "--budget", 400, "--seed", 1, "--json")
    refused = pdqs_command("trade", ages, *words)
    assert (refused.code, refused.out) == (2, "")
    done = pdqs_command("trade", ages, *words, "--round-to-grid")
    assert done.code == 0
    moved = sum(int(row[2]) % 10 != 0 for row in cells(ages)[1:])
    assert done.err == f"note: {ages}: {moved} of 200 values were rounded to the grid\n"
    far = pdqs_command("trade", ages, "--query", "mean", "--domain", "10:20:10", *words[4:], "--round-to-grid")
    assert far.code == 2
    assert "is too far outside the domain (10 to 20 by 10) to be rounded" in far.err
    labels = pdqs_command("trade", ages, "--query", "histogram", "--domain", "a,b", *words[4:], "--round-to-grid")
    assert "only numbers can be rounded to a grid" in labels.err


def test_columns_in_capitals_are_named_with_the_options_that_take_them(pdqs_command: Pdqs, market: Path) -> None:
    Path("m.csv").write_text(written([["Owner", "Bid", "VALUE"], *cells(market)[1:]]), encoding="utf-8")
    done = pdqs_command("trade", "m.csv", *WORDS)
    assert "add --owner-column Owner --bid-column Bid --value-column VALUE" in done.err
    again = pdqs_command("trade", "m.csv", *WORDS, *done.err.strip().rpartition("; add ")[2].split())
    assert again.code == 0


def test_standard_input_that_is_closed_is_a_fault(pdqs_command: Pdqs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert pdqs_command("trade", "-", *WORDS).err == "pdqs: cannot read standard input: it is closed\n"


def test_standard_output_that_is_closed_is_written_to_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    open_closed_streams()
    with sys.stdout as nowhere:
        print("heard by nobody")
        assert nowhere.name == os.devnull


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("words", ["--help", "terms --budget 3 --json"])
def test_a_full_disk_is_said_in_a_sentence(words: str) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pdqs", *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "pdqs: cannot write to standard output: No space left on device\n")


# What is there already


def test_what_is_there_is_replaced_only_when_told(pdqs_command: Pdqs, market: Path) -> None:
    Path("out.csv").write_text("mine", encoding="utf-8")
    Path("out.png").write_text("mine", encoding="utf-8")
    for target in (("--out", "out.csv"), ("--picture", "out.png")):
        done = pdqs_command("trade", market, *WORDS, *target)
        assert (done.code, done.out) == (2, "")
        assert f"{target[1]} is there already: name another file, or add --overwrite" in done.err
        assert Path(target[1]).read_text(encoding="utf-8") == "mine"
    assert pdqs_command("trade", market, *WORDS, "--out", "out.csv", "--overwrite").code == 0
    assert Path("out.csv").read_text(encoding="utf-8").startswith("owner,bid")


def test_an_input_is_not_written_over_even_when_told(pdqs_command: Pdqs, market: Path) -> None:
    pdqs_command("terms", "--budget", 12, "--out", "t.toml")
    for command in ("clear", "trade", "compare"):
        done = pdqs_command(command, market, "--budget", 12, "--out", market, "--overwrite")
        assert (done.code, done.out) == (2, "")
        assert "read by this very command" in done.err
    assert (
        "read by this very command" in pdqs_command("terms", "--terms", "t.toml", "--out", "t.toml", "--overwrite").err
    )


# Frozen terms


QUERIES = (
    pdqs.Count("Do you smoke?"),
    pdqs.Median(pdqs.Domain.grid(14, 61, 1)),
    pdqs.Quantile(pdqs.Domain.grid(0.5, 2.5, 0.5), 0.9),
    pdqs.Histogram(pdqs.Domain.categories(["ä", 'quote " and \\', 3, 2.5])),
)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.kind)
@pytest.mark.parametrize("prior", [None, pdqs.priors.TruncatedNormal(0.5, 0.2, 0.0, 1.0)])
def test_terms_come_back_from_a_frozen_file_as_they_were(
    tmp_path: Path, query: pdqs.Count, prior: pdqs.priors.Prior | None
) -> None:
    path = tmp_path / "terms.toml"
    for made in (
        pdqs.presets.honest(query=query, budget=12.5),
        pdqs.presets.robust(query=query, budget=1e-6),
        pdqs.presets.gpqm_exponential(query=query, budget=3.0, c=2.5),
    ):
        terms = dataclasses.replace(made, prior=prior)
        path.write_text(frozen(terms), encoding="utf-8")
        assert read_terms_file(path, {}) == terms
        assert read_terms_file(path, {}).hash == terms.hash


def test_a_frozen_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    text = frozen(pdqs.Terms(query=pdqs.Count(), budget=12.0))
    path.write_text(text.replace("budget = 12.0", "budget = 13.0"), encoding="utf-8")
    with pytest.raises(TermsError, match="they were changed since"):
        read_terms_file(path, {})
    unfrozen = "\n".join(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("hash"))
    path.write_text(unfrozen, encoding="utf-8")
    assert read_terms_file(path, {}).budget == 13.0


def test_every_command_takes_frozen_terms(pdqs_command: Pdqs, market: Path) -> None:
    words = ("--budget", 12, "--preset", "sound", "--epsilon-max", 1.5)
    hashed = pdqs_command("terms", *words, "--out", "t.toml", "--json").data["terms_hash"]
    for command in ("trade", "clear"):
        spelled = pdqs_command(command, market, *words, "--seed", 1, "--json").data
        assert pdqs_command(command, market, "--terms", "t.toml", "--seed", 1, "--json").data == spelled
        assert spelled["terms_hash"] == hashed
    pdqs_command("trade", market, "--terms", "t.toml", "--seed", 1, "--out", "round.csv")
    rows = list(csv.DictReader(io.StringIO(Path("round.csv").read_text(encoding="utf-8"))))
    Path("reports.csv").write_text(
        written([["owner", "report"], *([r["owner"], r["report"]] for r in rows)]), encoding="utf-8"
    )
    pdqs_command("clear", market, "--terms", "t.toml", "--seed", 1, "--out", "offers.csv")
    assert (
        pdqs_command("answer", "offers.csv", "reports.csv", "--terms", "t.toml", "--json").data["terms_hash"] == hashed
    )
    assert pdqs_command("plan", "--owners", 60, "--terms", "t.toml", "--json").data["terms_hash"] == hashed
    compared = pdqs_command("compare", market, "t.toml", "honest", "--terms", "t.toml", "--rounds", 2, "--json").data
    assert [row["mechanism"] for row in compared["mechanisms"]] == ["t.toml", "honest"]
    beside = pdqs_command("trade", market, "--terms", "t.toml", "--budget", 13)
    assert beside.err == "pdqs: t.toml has its own terms: --budget does not go with it\n"


# Ends


def begun(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pdqs", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_ends_quietly_with_130(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with begun("trade", "-", "--budget", "12", "--out", str(out)) as running:
        assert running.stdin is not None
        running.stdin.write("owner,bid,value\n" + "o,0.5,1\n" * 40_000)  # more than a pipe holds: it is being read
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=300)
    assert (running.returncode, printed, said) == (130, "", "pdqs: stopped\n")
    assert not out.exists()


def test_ctrl_c_while_a_class_is_made_is_ctrl_c_still(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: list[str], /) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("pdqs.cli._main", interrupted)
    with pytest.raises(SystemExit) as ended:
        pdqs.cli.main([])
    assert (ended.value.code, capsys.readouterr().err) == (130, "pdqs: stopped\n")


def test_a_reader_who_has_left_ends_it_quietly_with_141(tmp_path: Path) -> None:
    lines = "".join(f"o{i},{i / 20000},{i % 2}\n" for i in range(20000))
    (tmp_path / "m.csv").write_text(f"owner,bid,value\n{lines}", encoding="utf-8")
    with begun("clear", str(tmp_path / "m.csv"), "--preset", "sound", "--budget", "100", "--json") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(2) == "{\n"
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(timeout=60) == 141


def test_a_short_page_that_nobody_reads_ends_with_141_too() -> None:
    """It is smaller than a pipe holds, so the break is met when the command ends, or inside click."""
    with begun("terms", "--budget", "3") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(timeout=60) == 141
