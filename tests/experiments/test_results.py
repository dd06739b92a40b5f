"""Statistics of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pdqs.experiments.cells import run_cell
from pdqs.experiments.results import Blend, geometric_ratio, read
from pdqs.experiments.setups import Plan
from pdqs.experiments.store import Store, write_parquet
from pdqs.model.errors import FileError

from .conftest import sample_with


def test_errors_are_relative_to_the_unit() -> None:
    sample = sample_with(np.array([0.1, -0.3]))
    assert sample.error == pytest.approx([0.1, 0.3])
    assert sample.mean_error == pytest.approx(0.2)
    assert sample.standard_error == pytest.approx(0.1)


def alone(errors: np.ndarray) -> Blend:
    """Errors of one sample, blended with no other."""
    return ((1.0, errors),)


def test_the_ratio_of_scaled_errors_is_the_scale() -> None:
    rng = np.random.default_rng(3)
    errors = [rng.exponential(1.0, 100) for _ in range(6)]
    found = geometric_ratio([8.0 * each for each in errors], list(map(alone, errors)))
    assert found.value == pytest.approx(8.0)
    assert found.low < 8.0 < found.high


def test_intervals_of_ratios_cover_as_they_say() -> None:
    """Of 100 intervals at least 85 must hold the true ratio (a false alarm in 10,000), and not all (6 in 1,000)."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(100):
        above, below = rng.exponential(3.0, (2, 100)), rng.exponential(1.0, (2, 100))
        found = geometric_ratio(list(above), list(map(alone, below)))
        held += found.low <= 3.0 <= found.high
    assert 85 <= held < 100


def test_a_ratio_of_errors_that_are_mostly_none_has_an_open_interval() -> None:
    above, below = np.zeros(20), np.zeros(20)
    above[:5], below[0] = 1.0, 1.0
    found = geometric_ratio([above], [alone(below)])
    assert found.value == pytest.approx(5.0)
    assert found.low < 5.0
    assert found.high == np.inf


def test_errors_between_two_budgets_are_the_weighted_geometric_mean_of_theirs() -> None:
    rng = np.random.default_rng(6)
    at_less, at_more = rng.exponential(4.0, 400), rng.exponential(1.0, 400)
    between = ((0.5, 4.0 * at_less / at_less.mean()), (0.5, at_more / at_more.mean()))
    found = geometric_ratio([np.full(10, 6.0)], [between])
    assert found.value == pytest.approx(3.0)
    assert found.low < 3.0 < found.high
    ends = ((0.0, at_less), (1.0, between[1][1]))
    assert geometric_ratio([np.full(10, 6.0)], [ends]) == geometric_ratio([np.full(10, 6.0)], [alone(between[1][1])])


def test_a_table_written_is_the_table_read(tmp_path: Path, small_plan: Plan) -> None:
    store = Store(tmp_path)
    columns = {cell: run_cell(cell, small_plan, {}) for cell in small_plan.cells()}
    for cell, each in columns.items():
        store.save_cell(cell, each)
    assert store.assemble(small_plan) == len(columns)
    found = read(store.results_path, small_plan)
    assert list(found.samples) == list(small_plan.cells())
    for cell, each in columns.items():
        for name, column in each.items():
            assert np.array_equal(found.samples[cell][name], column.astype(np.float32), equal_nan=True)


def test_a_file_that_is_no_table_of_results_is_refused_by_name(tmp_path: Path, small_plan: Plan) -> None:
    path = tmp_path / "results.parquet"
    with pytest.raises(FileError, match=r"results\.parquet cannot be read"):
        read(path, small_plan)
    path.write_bytes(b"no parquet")
    with pytest.raises(FileError, match=r"results\.parquet cannot be read"):
        read(path, small_plan)
    write_parquet(path, pa.table({"level": [1.0]}))
    with pytest.raises(FileError, match="has no column 'answer'"):
        read(path, small_plan)


def test_cells_without_an_answer_are_named_and_have_no_rounds(tmp_path: Path, small_plan: Plan) -> None:
    store = Store(tmp_path)
    first, second, *_ = small_plan.cells()
    columns = run_cell(first, small_plan, {})
    store.save_cell(first, columns)
    store.save_cell(second, {name: column[:0] for name, column in columns.items()})
    store.assemble(small_plan)
    found = read(store.results_path, small_plan)
    assert set(found.samples) == {first}
    assert found.unanswered == {second}
