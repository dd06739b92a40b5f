"""A round in stages from files: cleared, reported and answered a stage at a time, the same as in one go."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import pdqs
from pdqs.planning.promised import promised_half_width
from pdqs.tables import round_files
from pdqs.tables.files import write_table

from .conftest import Pdqs

SCORES = pdqs.Domain.grid(0, 40, 1)
WORDS = ("--query", "median", "--domain", "0:40:1")
OWNERS = [f"o{i}" for i in range(300)]


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    values, bids = rng.binomial(40, 0.4, 300), rng.random(300)
    write_table(Path("bids.csv"), {"owner": OWNERS, "bid": bids.tolist()})
    return values, bids


def report(values: np.ndarray, offers: Path, terms: pdqs.Terms, stage: int, rng: np.random.Generator) -> None:
    """The devices of this stage add their reports to the file."""
    owners, offered = round_files.read_offers(offers, terms.asking)
    told = pdqs.randomise(values, offered, rng, stage=stage)
    there = Path("reports.csv")
    new = not there.exists()
    with there.open("a", newline="") as out:
        rows = csv.writer(out)
        if new:
            rows.writerow(["owner", "report"])
        rows.writerows((owners[i], int(told.codes[i])) for i in np.flatnonzero(told.arrived))


def test_the_forecast_for_machines_is_what_the_pages_promise_of_a_median_in_stages_and_none_of_a_stream(
    pdqs_command: Pdqs, market: tuple[np.ndarray, np.ndarray]
) -> None:
    _, bids = market
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=150.0)
    promised = promised_half_width(pdqs.clear(bids, terms, draws=5, owners=OWNERS), terms)
    clear = ("clear", "bids.csv", *WORDS, "--budget", 150, "--seed", 5, "--json")
    assert pdqs_command(*clear).data["forecast_half_width"] == pytest.approx(promised, rel=1e-9)
    write_table(Path("bids.parquet"), {"owner": OWNERS, "bid": bids.tolist()})
    streamed = pdqs_command("clear", "bids.parquet", *clear[2:], "--out", "folder/")
    assert streamed.data["forecast_half_width"] is None


def test_a_median_is_narrowed_from_files_a_stage_at_a_time_and_is_that_of_one_go(
    pdqs_command: Pdqs, market: tuple[np.ndarray, np.ndarray]
) -> None:
    values, bids = market
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=150.0)
    assert pdqs_command("clear", "bids.csv", *WORDS, "--budget", 150, "--seed", 5, "--out", "stage1.csv").code == 0
    rng = np.random.default_rng(8)
    for stage in (1, 2, 3, 4):
        here = Path(f"stage{stage}.csv")
        report(values, here, terms, stage, rng)
        words = ("answer", here, "reports.csv", *WORDS, "--stage", stage, "--json")
        if stage < 4:
            following = ("--next", f"stage{stage + 1}.csv")
            data = pdqs_command(*words, *following).data
            before = Path(f"stage{stage + 1}.csv").read_bytes()
            assert pdqs_command(*words, *following, "--overwrite").data == data
            assert Path(f"stage{stage + 1}.csv").read_bytes() == before, "done again, a step gives the same"
        else:
            data = pdqs_command(*words).data
        assert [seen["stage"] for seen in data["answer"]["stages"]] == list(range(1, stage + 1))
    rng = np.random.default_rng(8)
    offers = pdqs.clear(bids, terms, draws=5, owners=OWNERS)
    reports = pdqs.randomise(values, offers, rng)
    for stage in (2, 3, 4):
        offers = pdqs.estimate.narrowed(offers, reports, terms, stage)
        reports = reports.joined(pdqs.randomise(values, offers, rng, stage=stage))
    expected = pdqs.answer(reports, offers, terms)
    assert data["answer"]["value"] == expected.value
    assert data["answer"]["interval"] == list(expected.interval)
    assert data["answer"]["standard_error"] == expected.standard_error


def test_a_mean_and_a_histogram_are_answered_from_files_by_their_own_question(
    pdqs_command: Pdqs, market: tuple[np.ndarray, np.ndarray]
) -> None:
    values, bids = market
    for query, words in ((pdqs.Mean(SCORES), ("--query", "mean")), (pdqs.Histogram(SCORES), ("--query", "histogram"))):
        terms = pdqs.Terms(query=query, budget=150.0)
        said = (*words, "--domain", "0:40:1")
        pdqs_command("clear", "bids.csv", *said, "--budget", 150, "--out", "offers.csv", "--overwrite")
        offers = pdqs.clear(bids, terms, owners=OWNERS)
        reports = pdqs.randomise(values, offers, np.random.default_rng(2))
        there = np.flatnonzero(reports.arrived)
        told = reports.values[there].tolist()
        write_table(Path("reports.csv"), {"owner": [OWNERS[i] for i in there], "report": told})
        data = pdqs_command("answer", "offers.csv", "reports.csv", *said, "--json").data
        assert data["answer"]["raw"] == pdqs.answer(reports, offers, terms).to_dict()["raw"]
        assert data["answer"]["question"]["kind"] == terms.asking.kind


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--question", "value"), "is not the loss of this q on 41 values: another domain or question made it"),
        (("--next", "next.csv"), "--next goes with --stage"),
        (("--stage", "4", "--next", "next.csv"), "stages 2 to 4 to narrow down"),
        (("--stage", "9"), "there are stages 1 to 4 here, not 9"),
        (("--question", "level"), "a median cannot be had from levels"),
    ],
)
def test_what_does_not_go_together_gets_a_sentence(
    pdqs_command: Pdqs, market: tuple[np.ndarray, np.ndarray], words: tuple[str, ...], fault: str
) -> None:
    pdqs_command("clear", "bids.csv", *WORDS, "--budget", 150, "--out", "offers.csv")
    report(
        market[0], Path("offers.csv"), pdqs.Terms(query=pdqs.Median(SCORES), budget=150.0), 1, np.random.default_rng(1)
    )
    done = pdqs_command("answer", "offers.csv", "reports.csv", *WORDS, *words)
    assert done.code == 2
    assert fault in done.err
