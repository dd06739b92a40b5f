"""pdqs clear, trade and answer over folders and patterns of Parquet: the library's figures, in the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pdqs
from pdqs.cli import main

from .markets import in_memory, market, same_bits, save, terms_for

HISTOGRAM = ("--preset", "sound", "--query", "histogram", "--domain", "0:4:1")


@pytest.fixture
def table(rng: np.random.Generator) -> pa.Table:
    return market(300, rng)


@pytest.fixture
def rows(tmp_path: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return save(table, tmp_path / "rows", groups=[[100, 100], [100]])


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    main([str(word) for word in words])
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert end.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("location", ["rows", "rows/*.parquet"])
def test_trade_of_a_folder_or_pattern_is_the_round_in_memory(
    capsys: pytest.CaptureFixture[str], rows: Path, table: pa.Table, location: str
) -> None:
    found = said(capsys, "trade", location, "--budget", 90, *HISTOGRAM, "--seed", 7, "--out", "round", "--json")
    expected = in_memory(table, terms_for(300), 7)
    assert found["answer"]["value"] == expected.answer.value.tolist()
    assert found["paid_micros"] == expected.payments.total_micros
    assert found["spent_micros"] == expected.offers.spent_micros
    assert found["within_budget"] is True
    assert same_bits(pq.read_table("round")["report"], expected.reports.values)
    assert rows.exists()


@pytest.mark.usefixtures("rows")
def test_clear_then_answer_is_the_flow_in_memory(capsys: pytest.CaptureFixture[str], table: pa.Table) -> None:
    """Offers in one layout, reports in another, a fifth of them missing, and payments for the rest."""
    main(["clear", "rows", "--budget", "90", *HISTOGRAM, "--out", "offers"])
    shown = capsys.readouterr()
    assert "wrote offers" in shown.out
    assert "pricing: 300 of 300 rows" in shown.err
    terms = terms_for(300)
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"].to_pylist())
    drawn = pdqs.randomise(np.asarray(table["value"]), offers, np.random.default_rng(2))
    reports = drawn.only(np.arange(300) % 5 > 0)
    reported = [None if np.isnan(value) else int(value) for value in reports.values]
    save(pa.table({"owner": table["owner"], "report": reported}), Path("said"), groups=[[7, 90], [0], [203]])
    found = said(capsys, "answer", "offers", "said", *HISTOGRAM, "--out", "due", "--json")
    received = pdqs.received(reported, offers.domain)
    expected = pdqs.answer(received, offers, terms)
    assert found["answer"]["value"] == expected.value.tolist()
    assert found["answer"]["interval"] == expected.interval.tolist()
    assert found["answer"]["reports"] == 240
    due = pq.read_table("due")
    assert due.column_names == ["owner", "paid"]
    assert same_bits(due["paid"], pdqs.settle(offers, received, terms).amounts)
    assert said(capsys, "answer", "offers", "said", *HISTOGRAM, "--json") == found


@pytest.mark.usefixtures("rows")
def test_reports_in_another_order_or_number_are_refused(capsys: pytest.CaptureFixture[str], table: pa.Table) -> None:
    main(["clear", "rows", "--budget", "90", *HISTOGRAM, "--out", "offers"])
    reports = pa.table({"owner": table["owner"], "report": table["value"]})
    order = np.arange(300)
    order[[249, 250]] = [250, 249]
    save(reports.take(order), Path("slipped"), groups=[[300]])
    save(reports.slice(0, 299), Path("short"), groups=[[299]])
    refused = refusal(capsys, "answer", "offers", "slipped", *HISTOGRAM, "--out", "due")
    assert "row 250, column 'owner': 'owner-250' stands beside the offer to 'owner-249'" in refused
    assert "299 reports for 300 offers" in refusal(capsys, "answer", "offers", "short", *HISTOGRAM)
    assert not Path("due").exists()


@pytest.mark.usefixtures("rows")
def test_offers_made_for_another_domain_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    main(["clear", "rows", "--budget", "90", *HISTOGRAM, "--out", "offers"])
    assert "no column 'report'" in refusal(capsys, "answer", "offers", "offers", *HISTOGRAM)
    offers = pq.read_table("offers")
    save(pa.table({"owner": offers["owner"], "report": np.zeros(300)}), Path("said"), groups=[[300]])
    assert "another domain or question made it" in refusal(
        capsys, "answer", "offers", "said", "--preset", "sound", "--query", "count"
    )


@pytest.mark.usefixtures("rows")
def test_a_stream_needs_a_folder_and_draws_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert "give --out with the name of a folder" in refusal(capsys, "clear", "rows", "--budget", 9)
    assert "name of a folder" in refusal(capsys, "clear", "rows", "--budget", 9, "--out", "offers.csv")
    refused = refusal(capsys, "clear", "rows", "--budget", 9, "--out", "offers", "--picture", "offers.png")
    assert "a stream keeps no rows to draw" in refused
    assert "no scheduler answers" in refusal(
        capsys, "clear", "rows", "--budget", 9, "--out", "offers", "--cluster", "tcp://127.0.0.1:9"
    )
    assert [path.name for path in Path().iterdir()] == ["rows"]


def test_one_parquet_file_becomes_a_folder_when_a_folder_is_named(
    capsys: pytest.CaptureFixture[str], rows: Path, table: pa.Table
) -> None:
    pq.write_table(table, "one.parquet")
    whole = said(capsys, "clear", "one.parquet", "--budget", 90, *HISTOGRAM, "--out", "offers", "--json")
    assert whole == said(capsys, "clear", rows, "--budget", 90, *HISTOGRAM, "--out", "again", "--json")
    assert pq.read_table("offers").equals(pq.read_table("again"))


@pytest.mark.usefixtures("rows")
def test_default_terms_clear_trade_and_answer_over_a_folder(
    capsys: pytest.CaptureFixture[str], table: pa.Table
) -> None:
    """A lottery and an unbiased answer, with only --query and --budget said; a fifth of the asked send nothing."""
    asked = ("--query", "mean", "--domain", "0:4:1", "--question", "value")
    terms = pdqs.Terms(query=pdqs.Mean(pdqs.Domain.grid(0, 4, 1)), budget=90.0, question="value")
    traded = said(capsys, "trade", "rows", "--budget", 90, *asked, "--seed", 7, "--out", "round", "--json")
    expected = in_memory(table, terms, 7)
    assert (traded["terms"]["rule"], traded["terms"]["estimator"]) == ("lottery", "unbiased")
    assert traded["answer"]["value"] == expected.answer.value
    assert traded["answer"]["interval"] == list(expected.answer.interval)
    assert traded["information"] == pytest.approx(expected.offers.information, rel=1e-8)
    main(["clear", "rows", "--budget", "90", *asked, "--seed", "7", "--out", "offers"])
    capsys.readouterr()
    assert pq.read_table("offers").equals(pq.read_table("round").drop_columns(["report", "paid"]))
    reports = expected.reports.only(np.arange(300) % 5 > 0)
    reported = pa.array(reports.domain.decode(reports.codes), mask=~reports.arrived)
    save(pa.table({"owner": table["owner"], "report": reported}), Path("said"), groups=[[100], [200]])
    found = said(capsys, "answer", "offers", "said", *asked, "--out", "due", "--json")
    answer = pdqs.answer(reports, expected.offers, terms)
    assert (found["answer"]["value"], found["answer"]["interval"]) == (answer.value, list(answer.interval))
    assert same_bits(pq.read_table("due")["paid"], pdqs.settle(expected.offers, reports, terms).amounts)


def test_one_parquet_file_clears_by_lot_alike_in_memory_and_as_a_stream(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Owners whose ids are whole numbers draw the same words either way."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"owner": np.arange(200) * 7, "bid": rng.random(200)}), "bids.parquet")
    for out in ("offers", "offers.parquet"):
        main(["clear", "bids.parquet", "--query", "count", "--budget", "60", "--out", out])
    assert "wrote offers" in capsys.readouterr().out
    streamed, whole = pq.read_table("offers"), pq.read_table("offers.parquet")
    for column in ("q", "chance", "draw"):
        assert streamed[column].to_pylist() == whole[column].to_pylist(), column


def test_a_streams_columns_may_have_other_names_and_say_yes_or_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    bids, ones = rng.random(300), rng.random(300) < 0.4
    plain = pa.table({"owner": np.arange(300), "bid": bids, "value": ones.astype(int)})
    other = pa.table({"id": np.arange(300), "price": bids, "ill": np.where(ones, "yes", "No"), "age": np.arange(300)})
    for name, table in (("plain", plain), ("other", other)):
        Path(name).mkdir()
        pq.write_table(table, f"{name}/a.parquet")
    named = ["--owner-column", "id", "--bid-column", "price", "--value-column", "ill"]
    main(["trade", "plain", "--budget", "60", "--seed", "3", "--out", "one"])
    main(["trade", "other", "--budget", "60", "--seed", "3", "--out", "two", *named])
    assert pq.read_table("one").equals(pq.read_table("two"))
    with pytest.raises(SystemExit):
        main(["trade", "other", "--budget", "60", "--out", "three", *named[2:], "--owner-column", "who"])
    assert "other: no column 'who' of owners" in capsys.readouterr().err
