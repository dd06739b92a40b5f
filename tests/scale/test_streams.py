"""Streams give what the core gives in memory, to the last bit, however the rows lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.scale import Names, Run, Threads, kernels

from .markets import (
    Layout,
    assert_same_answer,
    assert_same_round,
    in_memory,
    layouts,
    market,
    same_bits,
    save,
    terms_for,
)


@settings(max_examples=40)
@given(layout=layouts(st.integers(1, 60)))
def test_any_layout_of_a_small_market_trades_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, layout: Layout
) -> None:
    layout.assert_trades_as_in_memory(tmp_path_factory.mktemp("layout"), terms_for)


@pytest.mark.parametrize("n", [3_000, 70_000], ids=["exact", "counted"])
def test_equal_bids_are_bought_from_alike_in_a_stream_and_in_memory(
    tmp_path: Path, rng: np.random.Generator, n: int
) -> None:
    """Who of the equal goes first is by word, and the words are the same."""
    table = market(n, rng, ties=True).set_column(1, "bid", pa.array(np.full(n, 0.3)))
    terms = terms_for(n, budget=0.1 * n)
    rows = save(table, tmp_path / "rows", groups=[[n // 4], [n // 4, n // 4, n // 4]])
    Run(engine=Threads(2), piece_rows=n // 5).clear(rows, terms, tmp_path / "offers", draws=3)
    expected = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=3)
    found = pq.read_table(tmp_path / "offers")
    assert same_bits(found["q"], expected.q)
    assert same_bits(found["payment"], expected.payment)
    assert expected.spent > 0.9 * terms.budget


@pytest.mark.parametrize("row_groups", [1, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_market_beyond_the_exact_summary_clears_as_in_memory(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, row_groups: int, threads: int
) -> None:
    """70,000 owners are summarised by a histogram, though none of the pieces is: the choice depends on n alone."""
    monkeypatch.setattr(kernels, "BATCH_ROWS", 9_999)
    table = market(70_000, rng)
    terms = terms_for(70_000)
    rows = save(table, tmp_path / "rows", groups=[[70_000 // row_groups] * row_groups])
    totals = Run(engine=Threads(threads), piece_rows=5_000).clear(rows, terms, tmp_path / "offers")
    expected = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"])
    found = pq.read_table(tmp_path / "offers")
    assert same_bits(found["draw"], expected.draw)
    assert same_bits(found["q"], expected.q)
    assert same_bits(found["epsilon"], expected.epsilon)
    assert same_bits(found["payment"], expected.payment)
    assert (totals.spent_micros, totals.bought) == (expected.spent_micros, expected.bought)
    assert totals.information == pytest.approx(expected.information, rel=1e-12)


def test_shuffled_owners_keep_their_offers_and_reports(tmp_path: Path, rng: np.random.Generator) -> None:
    table = market(3_000, rng, ties=True)
    order = rng.permutation(3_000)
    terms = terms_for(3_000)
    for name, rows in (("straight", table), ("shuffled", table.take(order))):
        save(rows, tmp_path / name, groups=[[1_000, 0, 500], [1_500]])
        Run(piece_rows=700).trade(tmp_path / name, terms, tmp_path / f"{name}-round", seed=4)
    straight = pq.read_table(tmp_path / "straight-round")
    shuffled = pq.read_table(tmp_path / "shuffled-round")
    assert shuffled.equals(straight.take(order))


def test_rows_without_ids_draw_by_their_place_and_so_do_not_keep_their_reports(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """The negative control of the test above: it would notice draws that hang on the order."""
    table = market(3_000, rng, ties=True).drop_columns("owner")
    order = rng.permutation(3_000)
    terms = terms_for(3_000)
    for name, rows in (("straight", table), ("shuffled", table.take(order))):
        save(rows, tmp_path / name, groups=[[3_000]])
        Run().trade(tmp_path / name, terms, tmp_path / f"{name}-round", seed=4)
    straight = pq.read_table(tmp_path / "straight-round").take(order)
    shuffled = pq.read_table(tmp_path / "shuffled-round")
    assert not shuffled["draw"].equals(straight["draw"])
    assert not shuffled["report"].equals(straight["report"])


@pytest.mark.parametrize(
    "changes",
    [
        {"contract": "on-selection", "rule": "linear"},
        {"rule": "robust", "estimator": "unbiased"},
        {"clearing": "open", "rule": "quadratic", "contract": "on-selection"},
        {"query": pdqs.Median(pdqs.Domain.grid(0, 4, 1)), "rule": "exponential"},
        {"bid_range": (0.0, 50.0), "estimator": "shrunk"},
    ],
    ids=lambda changes: " ".join(f"{value}" for value in changes.values())[:40],
)
def test_every_kind_of_terms_that_streams_gives_the_cores_round(
    tmp_path: Path, rng: np.random.Generator, changes: dict[str, object]
) -> None:
    table = market(500, rng)
    terms = terms_for(500, **changes)
    rows = save(table, tmp_path / "rows", groups=[[200], [0], [300]])
    done = Run(engine=Threads(2), piece_rows=100).trade(rows, terms, tmp_path / "round", seed=9)
    expected = in_memory(table, terms, 9)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)


def test_categories_missing_reports_and_other_names_answer_as_in_memory(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    terms = terms_for(400, query=pdqs.Histogram(pdqs.Domain.categories(["tea", "milk", "none"])))
    offers = pdqs.clear(rng.random(400), terms)
    drinks = rng.choice(np.array(["tea", "milk", "none"], dtype=object), 400)
    reports = pdqs.randomise(drinks, offers, rng)
    reported = [None if rng.random() < 0.2 else drink for drink in reports.values.tolist()]
    pq.write_table(pa.table({"chance": offers.q, "said": reported}), tmp_path / "said.parquet", row_group_size=37)
    run = Run(piece_rows=50, names=Names(q="chance", report="said"))
    found = run.answer(tmp_path / "said.parquet", terms)
    assert_same_answer(found, pdqs.answer(pdqs.received(reported, offers.domain), offers, terms))
    assert found.reports < found.owners


def test_numbers_that_did_not_arrive_may_be_nan(tmp_path: Path, rng: np.random.Generator) -> None:
    terms = terms_for(100)
    offers = pdqs.clear(rng.random(100), terms)
    reported = np.where(rng.random(100) < 0.3, np.nan, rng.integers(0, 5, 100))
    pq.write_table(pa.table({"q": offers.q, "report": reported}), tmp_path / "reports.parquet")
    found = Run().answer(tmp_path / "reports.parquet", terms)
    assert_same_answer(found, pdqs.answer(pdqs.received(reported, offers.domain), offers, terms))


def test_a_user_can_bring_a_rule_and_bids_as_whole_numbers(tmp_path: Path) -> None:
    terms = terms_for(50, rule=pdqs.rules.Step(), bid_range=(0, 100), budget=900.0)
    bids = np.arange(50) * 2
    pq.write_table(pa.table({"bid": bids}), tmp_path / "bids.parquet")
    Run().clear(tmp_path / "bids.parquet", terms, tmp_path / "offers")
    assert same_bits(pq.read_table(tmp_path / "offers")["q"], pdqs.clear(bids, terms).q)


def test_offers_say_which_terms_they_were_made_under(tmp_path: Path, rng: np.random.Generator) -> None:
    rows = save(market(20, rng), tmp_path / "rows", groups=[[20]])
    terms = terms_for(20)
    Run().clear(rows, terms, tmp_path / "offers")
    assert pq.read_schema(tmp_path / "offers" / "part-000000.parquet").metadata[b"pdqs.rounds.terms"] == (
        terms.canonical().encode()
    )
