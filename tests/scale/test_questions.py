"""Smaller questions over streams: the same offers, questions, reports and answers as in memory, to the last bit."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pdqs
from pdqs.cli import main
from pdqs.estimate import in_stages, narrowed
from pdqs.model.errors import InputError
from pdqs.privacy.owner_entropy import OwnerEntropy, number_ids
from pdqs.rounds.stages import OpenStage, Window
from pdqs.scale.engines import Threads
from pdqs.scale.run import Run

from .markets import assert_same_answer, assert_same_round, same_bits, save

SCORES = pdqs.Domain.grid(0, 40, 1)
SEED = 7
OWNERS = 600
RUN = Run(engine=Threads(2), piece_rows=150)
QUERIES = [pdqs.Mean(SCORES), pdqs.Quantile(SCORES, 0.4), pdqs.Histogram(SCORES)]
PRESETS = [pdqs.presets.honest, pdqs.presets.sound]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "owner": [f"owner-{i}" for i in range(OWNERS)],
            "bid": rng.random(OWNERS),
            "value": rng.binomial(40, 0.4, OWNERS).astype(np.int64),
        }
    )


@pytest.fixture(scope="module")
def rows(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(table, tmp_path_factory.mktemp("market") / "rows", groups=[[100, 150], [0], [200, 149, 1]])


def in_memory(table: pa.Table, terms: pdqs.Terms) -> pdqs.Trade:
    """The round by the core, on arrays, all stages in turn; every owner has words of her own."""
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=SEED)
    numbers, values = number_ids(table["owner"]), np.asarray(table["value"])

    def asked(known: pdqs.Offers) -> pdqs.Reports:
        return pdqs.randomise(values, known, OwnerEntropy(SEED, numbers))

    offers, reports = in_stages(offers, terms, asked)
    found, paid = pdqs.answer(reports, offers, terms), pdqs.settle(offers, reports, terms)
    return pdqs.Trade(terms=terms, offers=offers, reports=reports, answer=found, payments=paid)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.kind)
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.__name__)
def test_a_round_over_a_stream_is_the_round_in_memory(
    query: pdqs.Mean, preset: object, table: pa.Table, rows: Path, tmp_path: Path
) -> None:
    made = pdqs.presets.honest if preset is pdqs.presets.honest else pdqs.presets.sound
    terms = made(query=query, budget=0.4 * OWNERS, epsilon_max=2.0)
    assert not terms.asking.whole
    expected = in_memory(table, terms)
    found = RUN.trade(rows, terms, tmp_path / "round", seed=SEED)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(found.answer, expected.answer)
    assert found.answer.stages == expected.answer.stages
    written = pq.read_table(tmp_path / "round")
    if terms.asking.kind != "level":
        assert same_bits(written["deal"], expected.offers.deal)
    beside = written.select(["owner", "report"])
    offers = written.drop_columns(["report", "paid"])
    written_offers = save(offers, tmp_path / "offers", groups=[[OWNERS]])
    written_reports = save(beside, tmp_path / "reports", groups=[[OWNERS]])
    again = RUN.answer_offers(written_offers, written_reports, terms)
    assert_same_answer(again, expected.answer)


def test_offers_cleared_over_a_stream_hold_the_questions_of_the_first_stage(
    table: pa.Table, rows: Path, tmp_path: Path
) -> None:
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=0.4 * OWNERS)
    RUN.clear(rows, terms, tmp_path / "offers", draws=SEED)
    found = pq.read_table(tmp_path / "offers")
    expected = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=SEED)
    assert same_bits(found["stage"], expected.stage)
    assert found["at_most"].to_pylist() == [side if side >= 0 else None for side in expected.side.tolist()]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.__name__)
def test_a_median_is_narrowed_over_streams_a_stage_at_a_time_and_is_that_of_one_go(
    preset: Callable[..., pdqs.Terms], table: pa.Table, rows: Path, tmp_path: Path
) -> None:
    terms = preset(query=pdqs.Median(SCORES), budget=0.4 * OWNERS, question="side")
    values, numbers = np.asarray(table["value"]), number_ids(table["owner"])
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=SEED)
    RUN.clear(rows, terms, tmp_path / "stage-1", draws=SEED)
    reports = pdqs.randomise(values, offers, OwnerEntropy(SEED, numbers)).only(offers.stage == 1)
    for stage in (1, 2, 3, 4):
        told = pa.array(reports.codes, mask=~reports.arrived)
        beside = save(pa.table({"owner": table["owner"], "report": told}), tmp_path / f"r{stage}", groups=[[OWNERS]])
        here = tmp_path / f"stage-{stage}"
        found = RUN.answer_offers(here, beside, terms, stage=stage)
        assert_same_answer(found, pdqs.answer(reports, offers, terms, stage=stage))
        assert found.stages == pdqs.answer(reports, offers, terms, stage=stage).stages
        if stage == 4:
            break
        offers = narrowed(offers, reports, terms, stage + 1)
        RUN.narrow(here, beside, terms, tmp_path / f"stage-{stage + 1}", stage=stage)
        written = pq.read_table(tmp_path / f"stage-{stage + 1}")
        assert written["owner"].to_pylist() == table["owner"].to_pylist()
        assert written["at_most"].to_pylist() == [side if side >= 0 else None for side in offers.side.tolist()]
        more = pdqs.randomise(values, offers, OwnerEntropy(SEED, numbers))
        reports = reports.joined(more.only(offers.stage == stage + 1))


def test_the_answer_command_narrows_a_stream_and_refuses_what_it_cannot(
    table: pa.Table, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--query", "median", "--domain", "0:40:1"]
    main(["clear", str(rows), *words, "--budget", "240", "--seed", str(SEED), "--out", str(tmp_path / "offers")])
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=240.0)
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=SEED)
    reports = pdqs.randomise(np.asarray(table["value"]), offers, np.random.default_rng(3)).only(offers.stage == 1)
    told = pa.array(reports.codes, mask=~reports.arrived)
    said = save(pa.table({"owner": table["owner"], "report": told}), tmp_path / "said", groups=[[OWNERS]])
    here = ["answer", str(tmp_path / "offers"), str(said), *words]
    main([*here, "--stage", "1", "--next", str(tmp_path / "next")])
    assert f"wrote {tmp_path / 'next'}" in capsys.readouterr().out
    expected = narrowed(offers, reports, terms, 2)
    found = pq.read_table(tmp_path / "next")["at_most"].to_pylist()
    assert found == [side if side >= 0 else None for side in expected.side.tolist()]
    for more, fault in (
        (["--next", str(tmp_path / "other")], "--next goes with --stage"),
        (["--stage", "4", "--next", str(tmp_path / "other")], "stages 2 to 4 to narrow down"),
        (["--stage", "9"], "there are stages 1 to 4 here, not 9"),
        (["--stage", "1", "--next", str(tmp_path / "other.csv")], "name of a folder"),
    ):
        with pytest.raises(SystemExit):
            main([*here, *more])
        assert fault in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_reports_without_the_offers_that_ask_are_not_answered(rows: Path) -> None:
    terms = pdqs.Terms(query=pdqs.Median(SCORES), budget=1.0)
    names = dataclasses.replace(RUN.names, q="bid", report="value")
    with pytest.raises(InputError, match="beside the offers that ask it"):
        dataclasses.replace(RUN, names=names).answer(rows, terms)


def test_an_open_stage_can_be_sent_to_another_machine() -> None:
    sent = pickle.loads(pickle.dumps(OpenStage(2, Window(3, 9), np.arange(4))))
    assert (sent.number, sent.left, sent.counts.tolist()) == (2, Window(3, 9), [0, 1, 2, 3])
