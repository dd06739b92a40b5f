"""What is run, and where its random numbers come from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pdqs.experiments import populations
from pdqs.experiments.setups import Plan, full_plan, quick_plan
from pdqs.model.errors import InputError


def test_the_full_plan_holds_the_papers_set_up() -> None:
    plan = full_plan()
    for kind in ("count", "median"):
        experiment = plan.experiment(kind)
        assert experiment.populations == populations.names()
        assert experiment.levels == tuple(tenth / 10 for tenth in range(1, 10))
        assert experiment.queries == 100
        assert {"npqm", "gpqm-linear", "gpqm-exp", "gpqm-log", "fairquery"} <= set(experiment.mechanisms)
    pairs = [(plan.experiment(f"shift-{i}").trained_on, plan.experiment(f"shift-{i}").tested_on) for i in (2, 3, 4)]
    assert pairs == [("uniform", "normal-0.25"), ("normal-1", "normal-1"), ("normal-1", "normal-0.25")]
    assert all(plan.experiment(f"shift-{i}").populations == ("obesity", "exam") for i in (2, 3, 4))
    squashed = [plan.experiment(f"shift-{i}-squashed") for i in (2, 3, 4)]
    assert [each.tested_on for each in squashed] == ["squashed-0.25", "squashed-1", "squashed-0.25"]


def test_every_cell_has_a_name_of_its_own_that_a_file_can_have() -> None:
    for plan in (full_plan(), quick_plan()):
        keys = [cell.key for cell in plan.cells()]
        assert len(set(keys)) == len(keys)
        assert all(key.count("/") == 1 and not set(key) & set(" \\:*?") for key in keys)


def test_no_two_queries_of_a_plan_share_their_random_numbers() -> None:
    plan = quick_plan()
    firsts = [plan.generator(cell, query).integers(2**63) for cell in plan.cells() for query in range(3)]
    assert len(set(firsts)) == len(firsts)


def test_a_querys_random_numbers_do_not_move_when_the_plan_grows() -> None:
    plan, larger = quick_plan(), full_plan()
    shared = set(plan.cells()) & set(larger.cells())
    assert shared
    for cell in shared:
        assert plan.generator(cell, 5).random() == larger.generator(cell, 5).random()


def test_another_seed_gives_other_random_numbers() -> None:
    cell = quick_plan().cells()[0]
    assert quick_plan(1).generator(cell, 0).random() != quick_plan(2).generator(cell, 0).random()


def _fewer_queries(plan: Plan) -> Plan:
    first, *rest = plan.experiments
    return dataclasses.replace(plan, experiments=(dataclasses.replace(first, queries=first.queries - 1), *rest))


def test_the_hash_of_a_plan_tells_any_change_of_it() -> None:
    plan = quick_plan()
    shorter = dataclasses.replace(plan, training=dataclasses.replace(plan.training, steps=7))
    others = [dataclasses.replace(plan, seed=1), _fewer_queries(plan), shorter]
    assert len({each.hash for each in (plan, *others)}) == 4
    assert plan.hash == quick_plan().hash


def test_an_unknown_experiment_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="unknown experiment 'mode'"):
        full_plan().experiment("mode")


def test_levels_are_plain_numbers_so_that_cells_compare_equal_after_a_trip_through_a_file() -> None:
    assert all(float(np.float64(cell.level)) == cell.level for cell in full_plan().cells())
