"""A median in stages from files and over a stream is that of the market, to the last bit: same draws, same reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pdqs
from market.question_rounds import start
from market.town import found_town
from pdqs.cli import main
from pdqs.market import records
from pdqs.market.round_terms import terms_of
from pdqs.scale.engines import Threads
from pdqs.scale.run import Run
from pdqs.tables.files import write_table
from pdqs.tables.round_files import offer_columns
from pdqs.verifying import RoundRecord
from pdqs.verifying.figures import cleared, with_stages
from pdqs.verifying.making import words_for

WORDS = ("--query", "median", "--domain", "0:99:1", "--bid-range", "0:0.2")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[RoundRecord, pdqs.Terms]:
    """The record of a median in four stages in a market, one owner of each silent."""
    town = found_town(f"sqlite:///{tmp_path_factory.mktemp('elsewhere')}/market.db")
    found = start(town, "median", owners=200, epsilon_max=2.0, bid_high_micros=200_000)
    settled = found.through(silent=1)
    return records.record(town.market, town.consumer, settled.round_id), terms_of(settled.plan)


def told(record: RoundRecord, up_to: int = 8) -> dict[str, list[Any]]:
    """The reports of the stages so far, as a table."""
    came = [line for line in record.owners if line.code is not None and line.stage <= up_to]
    return {"owner": [line.pseudonym for line in came], "report": [line.code for line in came]}


def first_offers(record: RoundRecord, terms: pdqs.Terms) -> pdqs.Offers:
    return cleared(record.bid_micros, words_for(record.seed, record.nonce, record.names), terms).offers


def test_files_ask_the_same_sides_stage_by_stage_and_give_the_same_answer(
    played: tuple[RoundRecord, pdqs.Terms],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    record, terms = played
    owners = [line.pseudonym for line in record.owners]
    write_table(Path("stage1.csv"), offer_columns(owners, first_offers(record, terms)))
    for stage in (1, 2, 3, 4):
        write_table(Path(f"reports{stage}.csv"), told(record, stage))
        following = ["--next", f"stage{stage + 1}.csv"] if stage < 4 else []
        words = ["answer", f"stage{stage}.csv", f"reports{stage}.csv", *WORDS, "--stage", str(stage), "--json"]
        capsys.readouterr()
        main([*words, *following])
        answer = json.loads(capsys.readouterr().out)["answer"]
    assert answer["value"] == record.answer.values[0]
    assert tuple(answer["interval"]) == record.answer.interval[0]
    asked = [line.split(",")[-1] for line in Path("stage4.csv").read_text().splitlines()]
    assert asked[0] == "at_most"
    assert [float(cell) if cell else None for cell in asked[1:]] == [line.side for line in record.owners]


def test_a_stream_over_the_markets_offers_and_reports_gives_the_same_answer(
    played: tuple[RoundRecord, pdqs.Terms], tmp_path: Path
) -> None:
    record, terms = played
    made = cleared(record.bid_micros, words_for(record.seed, record.nonce, record.names), terms)
    columns = offer_columns([line.pseudonym for line in record.owners], with_stages(record.codes, made, terms).offers)
    for name, table in (("offers", columns), ("reports", {"owner": columns["owner"], "report": record.codes})):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table(table), tmp_path / name / "all.parquet", row_group_size=70)
    found = Run(engine=Threads(2), piece_rows=50).answer_offers(tmp_path / "offers", tmp_path / "reports", terms)
    assert found.value == record.answer.values[0]
    assert tuple(found.interval) == record.answer.interval[0]
