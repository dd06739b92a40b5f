"""The compiled step against one written straight from the formulas."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdqs import neural
from pdqs.model.arrays import Floats
from pdqs.neural import dual_ascent, reference, training
from pdqs.neural.config import MENDED, PRINTED, RELEASED, Recipe

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
    [
        (RELEASED, 30, reference.gauss(16)),
        (RELEASED, 400, reference.gauss(16)),
        (MENDED, 30, reference.gauss(16)),
        (PRINTED, 30, reference.gauss(64)),
    ],
    ids=["released, own bids", "released, weighted bids", "mended", "printed, closed form"],
)
def test_compiled_steps_are_plain_sgd_step_for_step(recipe: Recipe, owners: int, path: tuple[Floats, Floats]) -> None:
    config = neural.NpqmConfig(owners=owners, budgets=(0.3 * owners,), vectors=4, steps=STEPS, options=recipe, seed=5)
    for found, wanted in zip(compiled(config).parts(), by_hand(config, path).parts(), strict=True):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-11)


BEFORE, AFTER, MULTIPLIER = 355.068, 375.564, 1.97782
"""The release's trace at 0.1n on Customers: mean overspend before and after the first step, and the multiplier then."""


def test_the_first_step_of_the_releases_trace_moves_the_multiplier_by_the_overspend_after_it() -> None:
    """The release's own start is not known. Of ours, the intercept's bias and scale are moved to one that overspends by
    as much before the first step and after it; what the multiplier then is, only the step decides."""
    config = neural.NpqmConfig(owners=2240, budgets=(224.0,), released=True, seed=7, nodes=24)
    first, first_bias, last, last_bias = training._initial_weights(config)
    read = np.sort(training._bids(config, None), axis=1)
    last[2] *= 1.4169011886672018
    last_bias[2] -= 0.6594014672633524
    with jax.enable_x64(True):
        problem = dual_ascent.make_problem(config, read, first)
        start = dual_ascent.first_state(config, first_bias, last, last_bias)
        state, trace = dual_ascent.advance(start, jnp.asarray([224.0]), problem, config, 1)
        after = dual_ascent.advance(state, jnp.asarray([224.0]), problem, config, 1)[1]
    allowed = 1.2 * 224.0
    assert float(trace.spent[0, 0]) - allowed == pytest.approx(BEFORE, abs=5e-4)
    assert float(after.spent[0, 0]) - allowed == pytest.approx(AFTER, abs=5e-4)
    assert float(trace.multiplier[0, 0]) == pytest.approx(MULTIPLIER, abs=5e-6)


def test_the_reference_moves_its_multipliers_by_the_overspend_after_the_step() -> None:
    config = neural.NpqmConfig(owners=40, budgets=(4.0,), vectors=3, steps=2, released=True)
    weights = reference.Weights(*training._initial_weights(config))
    shares, path, start = np.sort(training._bids(config, None), axis=1), reference.gauss(16), np.full(3, 0.1)
    moved, multipliers = reference.step(weights, shares, start, 4.0, 0.005, RELEASED, path)
    before, after = (reference.gradient(at, shares, start, 4.8, RELEASED, path)[2] - 4.8 for at in (weights, moved))
    assert multipliers == pytest.approx(0.1 + 0.005 * after, rel=1e-12)
    assert multipliers != pytest.approx(0.1 + 0.005 * before, rel=1e-6)


def test_a_checkpoint_is_kept_from_the_first_step_on() -> None:
    """Within budget or not: `largest` is there after a single step that overspends, as in the release."""
    config = neural.NpqmConfig(owners=40, budgets=(0.4,), vectors=3, steps=1, released=True)
    (trained,) = neural.train(config)
    assert set(trained.rules) == {"largest"}


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
