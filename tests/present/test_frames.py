"""Results leave pdqs as plain values and as tables of pandas, Polars and Arrow, with the figures people use."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pdqs
from pdqs.model.domain import Domain
from pdqs.present.frames import Framed

COLUMNS = ["bid", "chance", "asked", "q", "epsilon", "payment", "report", "paid"]


@pytest.fixture(scope="module")
def done() -> pdqs.Trade:
    """A round by lottery in which some owners are left out."""
    rng = np.random.default_rng(5)
    return pdqs.trade(rng.random(300) < 0.3, rng.random(300), pdqs.Terms(query=pdqs.Count(), budget=20), rng)


def test_a_trade_is_the_same_table_in_every_library(done: pdqs.Trade) -> None:
    frame, polars, arrow = done.to_pandas(), done.to_polars(), done.to_arrow()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert list(frame.columns) == polars.columns == arrow.column_names == COLUMNS
    assert not done.reports.arrived.all()  # so that the reports have holes
    for name in COLUMNS:
        assert polars[name].to_list() == arrow.column(name).to_pylist()
        assert [None if pd.isna(cell) else cell for cell in frame[name].tolist()] == polars[name].to_list()


def test_money_is_in_units_and_a_missing_report_is_null(done: pdqs.Trade) -> None:
    table = done.to_polars()
    assert table["payment"].sum() == pytest.approx(done.offers.spent)
    assert table["paid"].sum() == pytest.approx(done.payments.total)
    assert table["report"].is_null().to_list() == (~done.reports.arrived).tolist()
    assert table["report"].dtype == pl.Int64
    assert set(done.to_pandas()["report"].dropna().astype(str)) == {"0", "1"}
    assert table["asked"].to_list() == (done.offers.q > 0).tolist()


@pytest.mark.parametrize("part", ["offers", "reports", "payments"])
def test_the_parts_of_a_trade_are_its_columns(done: pdqs.Trade, part: str) -> None:
    parts: dict[str, Framed] = {"offers": done.offers, "reports": done.reports, "payments": done.payments}
    own = parts[part].to_pandas()
    assert len(own) == 300
    pd.testing.assert_frame_equal(own, done.to_pandas()[list(own.columns)])


def test_a_plan_is_a_row_and_its_curve_a_row_a_budget() -> None:
    plan = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=20.0), owners=300)
    row = plan.to_pandas()
    assert (len(row), row["budget"][0], row["half_width"][0]) == (1, 20.0, plan.half_width)
    assert plan.to_polars().columns == list(row.columns) == plan.to_arrow().column_names
    assert set(plan.to_dict()) - set(row.columns) == {"terms"}
    assert len(plan.curve(points=2).to_pandas()) >= 2


def test_what_is_done_to_a_table_is_not_done_to_the_result(done: pdqs.Trade) -> None:
    before = done.offers.bids.copy()
    frame = done.to_pandas()
    frame["bid"] = 0.0
    frame.loc[:, "q"] = 0.0
    assert (done.offers.bids == before).all()
    assert done.offers.q.any()


@pytest.mark.parametrize(
    ("domain", "values", "told"),
    [
        (Domain.categories(["a", "b"]), ["b", None, "a"], ["b", None, "a"]),
        (Domain.categories(["a", 1]), [1, "a", None], ["1", "a", None]),
        (Domain.categories([1, 2.5]), [2.5, 1, None], [2.5, 1, None]),
        (Domain.grid(0, 1, 0.25), [0.75, None, 0.0], [0.75, None, 0.0]),
        (Domain.grid(14, 61, 1), [20, 14, 61], [20, 14, 61]),
    ],
)
def test_reports_are_as_the_domain_holds_them(domain: Domain, values: list[object], told: list[object]) -> None:
    reports = pdqs.received(values, domain)
    assert reports.to_dict() == {"report": values}
    assert reports.to_arrow().column("report").to_pylist() == told
    assert reports.to_polars()["report"].to_list() == told
    shown = [None if cell is None or cell != cell else cell for cell in reports.to_pandas()["report"].tolist()]
    assert shown == values


def test_a_trade_and_its_answer_are_plain_values(done: pdqs.Trade) -> None:
    told = done.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["answer"] == done.answer.to_dict()
    assert done.answer.to_dict()["interval"] == list(done.answer.interval)
    assert pdqs.Terms.read(json.dumps(told["terms"])) == done.terms
    assert told["owners"] == Framed.to_dict(done)


def test_a_histogram_names_its_labels_and_an_answer_there_is_not_is_null() -> None:
    rng = np.random.default_rng(6)
    terms = pdqs.Terms(query=pdqs.Histogram(Domain.categories(["a", "b", "c"])), budget=100)
    found = pdqs.trade(rng.choice(["a", "b", "c"], 200), rng.random(200), terms, rng).answer.to_dict()
    assert found["labels"] == ["a", "b", "c"]
    assert len(json.loads(json.dumps(found["interval"], allow_nan=False))) == 3
    none = pdqs.trade([0, 1], [0.5, 0.5], pdqs.Terms(query=pdqs.Count(), budget=0), rng).answer.to_dict()
    assert none["value"] is None
    assert none["warnings"]


@pytest.mark.parametrize(
    ("way", "library"), [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow")]
)
def test_a_library_that_is_not_there_is_named_in_one_sentence(way: str, library: str) -> None:
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "import pdqs\n"
        "offers = pdqs.clear([0.1, 0.2], pdqs.Terms(query=pdqs.Count(), budget=1))\n"
        f"try: offers.{way}()\n"
        "except pdqs.PdqsError as fault: print(fault)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout == f"this table needs {library}, which is not installed: pip install {library}\n"


def test_no_table_library_is_loaded_before_it_is_asked_for() -> None:
    script = "import sys, pdqs; print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout == "set()\n"
