"""A lottery over a stream gives the core's offers, reports and answer to the last bit, however the rows lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.clearing.lottery import summaries
from pdqs.estimate import strata
from pdqs.model.errors import FileError, InputError
from pdqs.scale import Run, Threads, kernels

from .markets import (
    Layout,
    assert_same_answer,
    assert_same_round,
    in_memory,
    layouts,
    lottery_for,
    market,
    same_bits,
    save,
)

RULES: tuple[dict[str, object], ...] = (
    {},
    {"rule": "flat"},
    {"epsilon_max": 6.0},
    {"query": pdqs.Mean(pdqs.Domain.grid(0, 4, 1))},
)


@pytest.fixture
def binned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Markets of more than 100 owners count as large: cells instead of bids, bins instead of prices."""
    monkeypatch.setattr(summaries, "EXACT", 100)
    monkeypatch.setattr(strata, "EXACT_PRICES", 100)


@settings(max_examples=10)
@given(layout=layouts(st.integers(20, 100)))
def test_any_layout_of_a_small_lottery_trades_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, layout: Layout
) -> None:
    layout.assert_trades_as_in_memory(tmp_path_factory.mktemp("layout"), lottery_for)


@pytest.mark.parametrize("changes", RULES, ids=lambda changes: " ".join(map(str, changes)) or "default")
@pytest.mark.parametrize("large", [False, True], ids=["exact", "binned"])
def test_every_rule_that_asks_by_lot_trades_as_in_memory(
    tmp_path: Path, rng: np.random.Generator, request: pytest.FixtureRequest, changes: dict[str, object], large: bool
) -> None:
    if large:
        request.getfixturevalue("binned")
    table = market(1_500, rng)
    terms = lottery_for(1_500, **changes)
    rows = save(table, tmp_path / "rows", groups=[[400, 7, 0], [], [93, 1_000]])
    run = Run(engine=Threads(2), piece_rows=300)
    done = run.trade(rows, terms, tmp_path / "round", seed=3)
    expected = in_memory(table, terms, 3)
    assert expected.answer.value is not None, "there is an answer to compare"
    assert 0 < expected.offers.bought < 1_500, "the draw decides"
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)
    assert_same_answer(run.answer(tmp_path / "round", terms), expected.answer)
    totals = done.sums.offers
    assert (totals.by_lottery, totals.unreachable) == (True, expected.offers.unreachable)
    assert totals.information == pytest.approx(expected.offers.information, rel=1e-8)


def test_a_market_beyond_both_exact_summaries_trades_as_in_memory(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """70,000 owners are binned though none of the pieces is: the choice depends on n alone."""
    monkeypatch.setattr(kernels, "BATCH_ROWS", 9_999)
    table = market(70_000, rng)
    terms = lottery_for(70_000)
    rows = save(table, tmp_path / "rows", groups=[[10_000] * 5, [20_000]])
    done = Run(engine=Threads(2), piece_rows=15_000).trade(rows, terms, tmp_path / "round", seed=5)
    expected = in_memory(table, terms, 5)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)


def test_draws_follow_from_the_terms_where_no_seed_is_given(tmp_path: Path, rng: np.random.Generator) -> None:
    table = market(400, rng)
    terms = lottery_for(400)
    rows = save(table, tmp_path / "rows", groups=[[150], [250]])
    Run(piece_rows=100).clear(rows, terms, tmp_path / "offers")
    Run(piece_rows=100).clear(rows, terms, tmp_path / "seeded", draws=9)
    for folder, draws in (("offers", None), ("seeded", 9)):
        expected = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=draws)
        found = pq.read_table(tmp_path / folder)
        for column in ("q", "chance", "draw"):
            assert same_bits(found[column], getattr(expected, column)), (folder, column)


@pytest.mark.parametrize("ids", [True, False], ids=["by id", "by place"])
def test_shuffled_owners_keep_their_draws_only_if_they_have_ids(
    tmp_path: Path, rng: np.random.Generator, ids: bool
) -> None:
    """Without ids an owner draws by her row: the negative control, which must notice the shuffle."""
    table = market(2_000, rng, ties=True)
    table = table if ids else table.drop_columns("owner")
    order = rng.permutation(2_000)
    terms = lottery_for(2_000)
    for name, rows in (("straight", table), ("shuffled", table.take(order))):
        save(rows, tmp_path / name, groups=[[1_000, 0, 500], [500]])
        Run(piece_rows=700).trade(tmp_path / name, terms, tmp_path / f"{name}-round", seed=4)
    straight = pq.read_table(tmp_path / "straight-round").take(order)
    shuffled = pq.read_table(tmp_path / "shuffled-round")
    assert shuffled.equals(straight) is ids
    assert shuffled["draw"].equals(straight["draw"]) is ids
    assert shuffled["q"].equals(straight["q"]) is ids


@pytest.mark.parametrize("large", [False, True], ids=["exact", "binned"])
def test_an_answer_from_offers_and_reports_apart_is_the_one_in_memory(
    tmp_path: Path, rng: np.random.Generator, request: pytest.FixtureRequest, large: bool
) -> None:
    """A fifth of the asked do not report; offers lie in one layout and reports in another."""
    if large:
        request.getfixturevalue("binned")
    table = market(1_200, rng)
    terms = lottery_for(1_200)
    run = Run(engine=Threads(2), piece_rows=250)
    rows = save(table, tmp_path / "rows", groups=[[700], [500]])
    run.clear(rows, terms, tmp_path / "offers", draws=2)
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=2)
    reports = pdqs.randomise(np.asarray(table["value"]), offers, rng).only(rng.random(1_200) < 0.8)
    reported = pa.array(reports.domain.decode(reports.codes), mask=~reports.arrived)
    said = save(pa.table({"owner": table["owner"], "report": reported}), tmp_path / "said", groups=[[7, 193], [1_000]])
    found = run.answer_offers(tmp_path / "offers", said, terms, out=tmp_path / "due")
    assert_same_answer(found, pdqs.answer(reports, offers, terms))
    assert found.reports < found.asked < found.owners
    paid = pdqs.settle(offers, reports, terms).amounts
    assert same_bits(pq.read_table(tmp_path / "due")["paid"], paid)


def test_drawn_offers_answer_unbiased_under_terms_without_a_lottery_too(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """In memory the chances decide, whatever the rule of the terms; so they do in a stream."""
    table = market(900, rng)
    done = in_memory(table, lottery_for(900), 6)
    rows = save(table, tmp_path / "rows", groups=[[900]])
    Run().trade(rows, lottery_for(900), tmp_path / "round", seed=6)
    others = pdqs.presets.sound(query=lottery_for(900).query, budget=270.0, estimator="unbiased", rule="robust")
    free = pdqs.Offers(
        **{name: getattr(done.offers, name) for name in ("bids", "q", "epsilon", "payment_micros", "chance", "draw")},
        domain=done.offers.domain,
        budget_micros=done.offers.budget_micros,
    )
    expected = pdqs.answer(done.reports, free, others)
    assert expected.by_price
    assert_same_answer(Run(piece_rows=200).answer(tmp_path / "round", others), expected)


def test_rows_that_cannot_be_weighed_are_named(tmp_path: Path) -> None:
    terms = lottery_for(3)
    good = {"q": [0.5, 0.5, 0.0], "report": [1, 2, None], "bid": [0.1, 0.2, 0.3], "chance": [1.0, 0.5, 0.25]}

    def refused(kind: type[Exception], says: str, **changes: object) -> None:
        rows = {name: values for name, values in (good | changes).items() if values is not None}
        pq.write_table(pa.table(rows), tmp_path / "rows.parquet", row_group_size=1)
        with pytest.raises(kind, match=says):
            Run(piece_rows=1).answer(tmp_path / "rows.parquet", terms)

    refused(InputError, "row 2, column 'chance': 0.3 is not a multiple", chance=[1.0, 0.3, 0.25])
    refused(InputError, "row 2, column 'chance': 0 is no chance of being asked", chance=[1.0, 0.0, 0.25])
    refused(InputError, "row 3, column 'report': a report from an owner who was not asked", report=[1, 2, 3])
    refused(FileError, "no column 'bid', which an unbiased answer from a lottery needs", bid=None)
