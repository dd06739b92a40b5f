"""A run for tests to kill: ``python -m tests.experiments.killing DIR PROCESSES``."""

from __future__ import annotations

import sys
from pathlib import Path

from pdqs.experiments.runner import run
from pdqs.experiments.setups import Experiment, Plan

PLAN = Plan(
    seed=11,
    name="killed",
    experiments=(
        Experiment(
            name="count",
            title="Count queries",
            populations=("exam", "maternal"),
            kinds=("count", "median"),
            mechanisms=("gpqm-linear", "gpqm-exp", "fairquery", "sound"),
            levels=(0.1, 0.5, 0.9),
            queries=4,
        ),
    ),
)

if __name__ == "__main__":
    print(run(PLAN, Path(sys.argv[1]), processes=int(sys.argv[2])))
