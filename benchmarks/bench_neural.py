"""NPQM's training: the compiled form against the same recipe written eagerly in NumPy, in one run, as ratios.

``pytest benchmarks/bench_neural.py --benchmark-only`` times the compiled forms. ``python benchmarks/bench_neural.py``
prints both ratios and, with ``--out FOLDER``, writes them to speed.json. Times are CPU seconds of this process, so that
a busy machine tells the same story. The eager baseline is :mod:`pdqs.neural.reference`: every owner, every weight, a
trapezoid of 100 points, a Python loop per step; it is timed over a few steps and carried on in proportion.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdqs import neural
from pdqs.neural import reference, training

STEPS = 5000
PRINTED = neural.NpqmConfig(owners=2111, budgets=(633.3,), vectors=1, steps=STEPS, seed=1)
RELEASED = neural.NpqmConfig(owners=2240, budgets=(672.0,), steps=STEPS, released=True, seed=1)


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def eager_seconds_per_step(config: neural.NpqmConfig, steps: int) -> float:
    """CPU seconds of one eager step."""
    recipe = config.recipe
    weights = reference.Weights(*training._initial_weights(config))
    shares = training._bids(config, None)
    shares = np.sort(shares, axis=1) if recipe.sorted_bids else shares
    held = [weights, np.full(config.vectors if recipe.multiplier_per_vector else 1, recipe.multiplier_start)]

    def run() -> None:
        for _ in range(steps):
            held[:] = reference.step(
                held[0], shares, held[1], config.budgets[0], recipe.rate, recipe, reference.trapezoid(100)
            )

    return cpu_seconds(run) / steps


def compiled_seconds(config: neural.NpqmConfig) -> float:
    """CPU seconds of a whole training, compiling included."""
    return cpu_seconds(lambda: neural.train(config))


def ratios() -> dict[str, float]:
    """How many times faster the compiled forms are."""
    printed_eager = STEPS * eager_seconds_per_step(PRINTED, 40)
    printed = compiled_seconds(PRINTED)
    released_eager = eager_seconds_per_step(RELEASED, 3)
    released = compiled_seconds(RELEASED) / STEPS
    return {
        "printed: eager seconds, 5000 steps (from 40)": printed_eager,
        "printed: compiled seconds, 5000 steps with compiling": printed,
        "printed: ratio": printed_eager / printed,
        "released: eager seconds a step (of 3)": released_eager,
        "released: compiled seconds a step (of 5000, with compiling)": released,
        "released: ratio": released_eager / released,
    }


@pytest.mark.parametrize("config", [PRINTED, RELEASED], ids=["printed", "released"])
def test_training_of_five_hundred_steps(benchmark: Any, config: neural.NpqmConfig) -> None:
    import dataclasses

    short = dataclasses.replace(config, steps=500)
    benchmark.pedantic(lambda: neural.train(short), rounds=1, warmup_rounds=1)


def test_the_compiled_forms_are_many_times_faster(benchmark: Any) -> None:
    found = benchmark.pedantic(ratios, rounds=1)
    benchmark.extra_info.update(found)
    assert found["printed: ratio"] >= 10
    assert found["released: ratio"] >= 20


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    measured = ratios()
    print(json.dumps(measured, indent=1))
    if arguments.out is not None:
        part = arguments.out / "speed.json.part"
        part.write_text(json.dumps(measured, indent=1))
        os.replace(part, arguments.out / "speed.json")
