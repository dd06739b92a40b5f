"""The compiled step against one written straight from the formulas."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pdqs import neural
from pdqs.neural import reference, training
from pdqs.neural.config import PRINTED, RELEASED, Recipe
from pdqs.types import Floats

STEPS = 25


def by_hand(config: neural.NpqmConfig, path: tuple[Floats, Floats]) -> reference.Weights:
    """The weights after STEPS plain steps on every owner and every weight."""
    recipe = config.recipe
    weights = reference.Weights(*training._initial_weights(config))
    shares = training._bids(config, None)
    shares = np.sort(shares, axis=1) if recipe.sorted_bids else shares
    multipliers = np.full(config.vectors if recipe.multiplier_per_vector else 1, recipe.multiplier_start)
    for t in range(config.steps):
        falling = (recipe.last_rate / recipe.rate) ** (t / (config.steps - 1))
        rate = recipe.rate * (0.5 ** (t // recipe.halve_every) if recipe.halve_every else falling)
        weights, multipliers = reference.step(weights, shares, multipliers, config.budgets[0], rate, recipe, path)
    return weights


def compiled(config: neural.NpqmConfig) -> reference.Weights:
    """The weights that the compiled steps stand at (not those kept)."""
    held: list[training.Saved] = []
    training.train(config, save=held.append)
    read = np.sort(held[-1].bids, axis=1) if config.recipe.sorted_bids else held[-1].bids
    coefficients, *others = (held[-1].state[f"state_{i:02d}"][0] for i in range(4))  # the model comes first
    first = training._initial_weights(config)[0] + coefficients @ np.vstack([read, np.ones(config.owners)])
    return reference.Weights(first, *others)


@pytest.mark.parametrize(
    ("recipe", "owners", "path"),
    [(RELEASED, 30, reference.gauss(16)), (RELEASED, 400, reference.gauss(16)), (PRINTED, 30, reference.gauss(64))],
    ids=["released, own bids", "released, weighted bids", "printed, closed form"],
)
def test_compiled_steps_are_plain_sgd_step_for_step(recipe: Recipe, owners: int, path: tuple[Floats, Floats]) -> None:
    config = neural.NpqmConfig(owners=owners, budgets=(0.3 * owners,), vectors=4, steps=STEPS, options=recipe, seed=5)
    for found, wanted in zip(compiled(config).parts(), by_hand(config, path).parts(), strict=True):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-11)


def test_the_comparison_would_notice_a_step_that_forgets_the_penalty() -> None:
    config = neural.NpqmConfig(owners=30, budgets=(9.0,), vectors=4, steps=STEPS, options=RELEASED, seed=5)
    broken = dataclasses.replace(config, options=dataclasses.replace(RELEASED, q_penalty=0.0))
    assert compiled(config).last != pytest.approx(by_hand(broken, reference.gauss(16)).last, rel=1e-6)


def test_sixteen_gauss_places_stand_for_the_releases_hundred_trapezoids() -> None:
    config = neural.NpqmConfig(owners=60, budgets=(20.0,), vectors=4, steps=2, released=True)
    weights = reference.Weights(*training._initial_weights(config))
    shares = np.sort(training._bids(config, None), axis=1)
    spent = [
        reference.gradient(weights, shares, np.full(4, 0.1), 20.0, RELEASED, path)[2]
        for path in (reference.gauss(16), reference.trapezoid(100), reference.trapezoid(4000))
    ]
    assert spent[0] == pytest.approx(spent[2], rel=5e-5)  # the ReLUs bend the path
    assert spent[1] == pytest.approx(spent[2], rel=5e-5)


def test_the_references_gradient_matches_finite_differences() -> None:
    rng = np.random.default_rng(8)
    config = neural.NpqmConfig(owners=12, budgets=(3.0,), vectors=3, steps=2, released=True)
    shares = np.sort(rng.random((3, 12)), axis=1)
    path, price = reference.gauss(8), np.array([0.3, 0.1, 0.7])
    weights = reference.Weights(*training._initial_weights(config))
    slopes = reference.gradient(weights, shares, price, 3.0, RELEASED, path)[3]
    for part, slope in zip(weights.parts(), slopes.parts(), strict=True):
        at = tuple(rng.integers(size) for size in part.shape)
        before, losses = part[at], []
        for sign in (1, -1):
            part[at] = before + sign * 1e-6
            losses.append(reference.gradient(weights, shares, price, 3.0, RELEASED, path)[0])
        part[at] = before
        assert slope[at] == pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-5, abs=1e-9)
