"""NPQM as part of a run: trained once for all budgets, gone on with after a stop, used by the cells that wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdqs.experiments import npqm
from pdqs.experiments.cells import run_cell
from pdqs.experiments.setups import Cell, Plan, Training, full_plan, quick_plan
from pdqs.experiments.store import Store
from pdqs.model.errors import FileError

from .conftest import counts_of_exams

neural = pytest.importorskip("pdqs.neural", reason="NPQM is trained by the extra 'neural'")
pytest.importorskip("jax", reason="NPQM is trained by the extra 'neural'")

MAPPED = ("normal", "squashed")
PLAN = Plan(
    seed=3,
    training=Training(steps=500, vectors=4),
    experiments=(counts_of_exams(("npqm",), levels=(0.3, 0.6), queries=5),),
)
TASK = npqm.Task("printed", "exam", "uniform")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("trained"))
    npqm.train(TASK, PLAN, store)
    return store


def test_each_net_of_a_plan_is_trained_once_for_counts_and_medians_and_every_budget() -> None:
    plan = full_plan()
    tasks = {task for cell in plan.cells() if (task := npqm.task_of(cell, plan)) is not None}
    forms = ("printed", "released", "mended")
    uniform = {npqm.Task(form, name, "uniform") for form in forms for name in plan.experiments[0].populations}
    normal = {npqm.Task(form, name, f"{how}-1") for form in forms for name in ("obesity", "exam") for how in MAPPED}
    assert tasks == uniform | normal
    assert npqm.task_of(Cell("count", "exam", "count", "sound", 0.5), plan) is None


def test_a_training_gives_a_rule_for_each_budget_and_its_cells_use_it(trained: Store) -> None:
    cells = PLAN.cells()
    rules = npqm.rules_for(cells[0], PLAN, trained)
    assert set(rules) <= {0.3, 0.6}
    assert rules
    level = next(iter(rules))
    cell = Cell("count", "exam", "count", "npqm", level)
    columns = run_cell(cell, PLAN, rules)
    assert columns["answer"].size == 5
    assert (columns["bought"] == 1000).all(), "NPQM as printed buys from everyone"


def test_a_training_that_was_stopped_ends_with_the_bytes_of_one_that_was_not(
    trained: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, keep = Store(tmp_path), neural.save_training

    def keep_and_stop(path: Path, saved: Any) -> None:
        keep(path, saved)
        raise KeyboardInterrupt

    monkeypatch.setattr(neural, "save_training", keep_and_stop)
    with pytest.raises(KeyboardInterrupt):
        npqm.train(TASK, PLAN, store)
    assert store.training_path(TASK.name).exists()
    assert not store.model_path(TASK.name).exists()
    monkeypatch.setattr(neural, "save_training", keep)
    half_done = store.training_path(TASK.name).read_bytes()
    npqm.train(TASK, PLAN, store)
    assert not store.training_path(TASK.name).exists()
    assert store.model_path(TASK.name).read_bytes() == trained.model_path(TASK.name).read_bytes()

    # What the comparison would catch: going on from a state that is off by one part in a million.
    store.training_path(TASK.name).write_bytes(half_done)
    config, bids, state, trace = neural.load_training(store.training_path(TASK.name))
    moved = {name: part * (1 + 1e-6) if part.dtype == np.float64 else part for name, part in state.items()}
    keep(store.training_path(TASK.name), neural.Saved(config=config, bids=bids, state=moved, trace=trace))
    npqm.train(TASK, PLAN, store)
    assert store.model_path(TASK.name).read_bytes() != trained.model_path(TASK.name).read_bytes()


def test_quick_training_is_short() -> None:
    quick, full = quick_plan().training, full_plan().training
    assert (full.steps, full.vectors) == (5000, 50)
    assert quick.steps * quick.vectors <= full.steps * full.vectors / 50


def test_a_finished_training_that_was_altered_is_refused(trained: Store, tmp_path: Path) -> None:
    altered = tmp_path / "altered.npz"
    with np.load(trained.model_path(TASK.name), allow_pickle=False) as file:
        parts = dict(file)
    name = next(name for name in parts if name != "about")
    parts[name] = parts[name] + 1.0
    np.savez(altered, **parts)
    with pytest.raises(FileError, match="do not match its hash"):
        npqm.rules_of(altered)
