"""A plan small enough to run many times, and results made up to a known pattern."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import Cell, Experiment, Plan, full_plan


def counts_of_exams(mechanisms: tuple[str, ...], *, levels: tuple[float, ...], queries: int) -> Experiment:
    """Count queries over one small population."""
    return Experiment(
        name="count",
        title="Count queries",
        populations=("exam",),
        kinds=("count",),
        mechanisms=mechanisms,
        levels=levels,
        queries=queries,
    )


@pytest.fixture(scope="session")
def small_plan() -> Plan:
    """Two experiments of one small population each, without training."""
    return Plan(
        seed=7,
        name="small",
        experiments=(
            counts_of_exams(("gpqm-linear", "gpqm-exp", "fairquery", "sound"), levels=(0.1, 0.5, 0.9), queries=3),
            Experiment(
                name="domain-size",
                title="Domains",
                populations=("bell",),
                kinds=("median",),
                mechanisms=("gpqm-linear",),
                axis="domain",
                levels=(2, 16),
                queries=3,
            ),
        ),
    )


def sample_with(errors: np.ndarray, **more: float) -> Sample:
    """Rounds with these errors around a truth of 100, and any other column as a constant."""
    count = errors.size
    constants = {
        "truth": 100.0, "unit": 100.0, "owners": 1000.0, "budget": 500.0, "c": np.nan, "low": 0.0, "high": 1000.0,
        "warned": 0.0, "spent": 400.0, "paid": 400.0, "bought": 500.0, "information": 300.0, "privacy": 500.0,
        "epsilon": 1.0, "epsilon_claimed": 1.0, **more,
    }  # fmt: skip
    columns = {name: np.full(count, value) for name, value in constants.items()}
    answers = 100.0 * (1.0 + errors)
    return Sample({"answer": answers, "weighted": answers, **columns})


ErrorOf = Callable[[Cell], float]


def made_up_results(error_of: ErrorOf, columns_of: Callable[[Cell], dict[str, float]] = lambda _: {}) -> Results:
    """The full plan, every cell with the error (and the constant columns) that the functions say."""
    plan = full_plan()
    samples = {cell: sample_with(np.full(4, error_of(cell)), **columns_of(cell)) for cell in plan.cells()}
    return Results(plan, samples)
