"""What a round of each mechanism costs, and what a cell costs beside its rounds. Run by ``make bench``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pdqs.experiments.cells import run_cell
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.setups import Cell, Plan, full_plan
from pdqs.experiments.store import Store

QUERIES = 10


@pytest.fixture(scope="module")
def plan() -> Plan:
    """The full plan with few queries a cell."""
    whole = full_plan()
    fewer = tuple(dataclasses.replace(each, queries=QUERIES) for each in whole.experiments)
    return dataclasses.replace(whole, experiments=fewer)


@pytest.mark.parametrize("kind", ["count", "median"])
@pytest.mark.parametrize(
    "mechanism", [name for name, each in MECHANISMS.items() if not each.learned and name != "robust"]
)
@pytest.mark.benchmark(group="ten rounds with 4,424 owners")
def test_rounds(benchmark: Any, plan: Plan, mechanism: str, kind: str) -> None:
    cell = Cell(kind, "students", kind, mechanism, 0.5)
    columns = benchmark.pedantic(run_cell, (cell, plan, {}), rounds=3, warmup_rounds=1)
    assert columns["answer"].size == QUERIES


@pytest.mark.benchmark(group="putting a finished cell in place")
def test_saving_a_cell(benchmark: Any, plan: Plan, tmp_path: Path) -> None:
    cell = Cell("count", "exam", "count", "fairquery", 0.5)
    columns = run_cell(cell, plan, {})
    benchmark(Store(tmp_path).save_cell, cell, columns)
