r"""Training NPQM by dual ascent, compiled: JAX, float64, one scan for all budgets.

Two identities make a step independent of the number of owners without changing what it computes:

* The gradient of the first layer A (rows x n) is always a combination of the training vectors X, so A = A_0 + C X and
  the nets need only S = A X^T = S_0 + C X X^T. Plain SGD on A is C <- C - rate dL/dS: same weights, step for step. The
  straight line of the joint path, (1 - t) x + t 1, stays in the span once the row of ones joins X.
* Sums over owners are integrals against the bids' empirical distribution, taken by its Gauss rule, and the payments
  beyond each owner's own bid are one integral for all of them (:mod:`pdqs.neural.quadrature`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdqs.model.arrays import Floats
from pdqs.neural import logistic
from pdqs.neural.config import KEPT, NpqmConfig, Recipe
from pdqs.neural.quadrature import gauss_rule, tail_rule
from pdqs.neural.sums import product

Array = Any


class Problem(NamedTuple):
    """What stays fixed through training. Rows of ``gram`` and ``start`` are the training vectors, then the ones."""

    gram: Array  # (V + 1, V + 1)
    start: Array  # (rows, V + 1): A_0 X^T
    shares: Array  # (V, nodes): the weighted bids, as shares of the range
    weights: Array  # (V, nodes): they add up to n
    tail_shares: Array  # (V, nodes): where the payments' integrals are taken, all owners together
    tail_weights: Array
    low: Array
    width: Array


class Model(NamedTuple):
    """The trained part: A = A_0 + coefficients X, and the other layers."""

    coefficients: Array  # C: (rows, V + 1)
    first_bias: Array
    last: Array
    last_bias: Array


class Figures(NamedTuple):
    """What one set of weights buys on each training vector."""

    load: Array  # phi: the paper's purchased privacy, sum q eps
    spent: Array
    q: Array  # sum q


class State(NamedTuple):
    """Where training stands; every part has a leading axis of budgets."""

    model: Model
    multipliers: Array  # (V,), or (1,) where all vectors share one
    kept: Model  # leading axis: the places of KEPT
    kept_load: Array  # (len(KEPT),): -inf where nothing was kept
    step: Array


class Trace(NamedTuple):
    """One line per step, for people and for warnings: before the step where nothing else is said."""

    loss: Array
    load: Array
    spent: Array
    overspent: Array  # the worst vector's, after the step
    multiplier: Array  # after the step
    q: Array  # mean


def _curve(reached: Array, model: Model) -> tuple[Array, Array]:
    """Slope and intercept from first-layer values (..., rows)."""
    hidden = jax.nn.relu(reached[..., :-1]).reshape(*reached.shape[:-1], *model.last.shape)
    out = (hidden * model.last).sum(axis=-1) + model.last_bias
    w1, w2, d = jnp.abs(out[..., 0]), jnp.abs(out[..., 1]), out[..., 2]
    return w1 * w2, w2 * reached[..., -1] + d


def _load(z: Array, q_max: float) -> Array:
    """q eps at q = q_max sigma(z)."""
    if q_max == 1.0:
        return logistic.load(z, jnp)
    q = q_max / (1.0 + jnp.exp(-z))
    return q * jnp.log((1.0 + q) / (1.0 - q))


def _beyond(reached: Array, model: Model, problem: Problem, recipe: Recipe, path_nodes: int) -> Array:
    """The payments' integrals, all owners of a vector together, per unit of the range.

    Each owner's own bid moves to the top, or all bids together along the straight line to (1, ..., 1).
    """
    own = reached[:, :-1]
    if not recipe.joint_path:
        slope, intercept = (x[:, None] for x in _curve(own.T + model.first_bias, model))
        loads = _load(intercept - slope * problem.tail_shares, recipe.q_max_training)
        return (problem.tail_weights * loads).sum(axis=1)
    nodes, weights = np.polynomial.legendre.leggauss(path_nodes)
    ways = jnp.asarray(0.5 + 0.5 * nodes)[:, None, None]  # axes: place on the line, vector, bid
    line = (1.0 - ways) * own.T + ways * reached[:, -1]
    slope, intercept = (x[..., None] for x in _curve(line + model.first_bias, model))
    moved = problem.shares + ways * (1.0 - problem.shares)
    loads = jnp.tensordot(jnp.asarray(0.5 * weights), _load(intercept - slope * moved, recipe.q_max_training), axes=1)
    return (problem.weights * (1.0 - problem.shares) * loads).sum(axis=1)


def figures(reached: Array, model: Model, problem: Problem, recipe: Recipe, path_nodes: int) -> Figures:
    """phi, spending and sum q of the nets that reach these first-layer values (rows, V + 1)."""
    slope, intercept = (x[:, None] for x in _curve(reached[:, :-1].T + model.first_bias, model))
    z = intercept - slope * problem.shares
    load = _load(z, recipe.q_max_training)
    bids = problem.low + problem.width * problem.shares
    q = recipe.q_max_training * jax.nn.sigmoid(z)
    phi, asked, told = ((problem.weights * each).sum(axis=1) for each in (load, bids * load, q))
    return Figures(phi, asked + problem.width * _beyond(reached, model, problem, recipe, path_nodes), told)


def _reached(model: Model, problem: Problem) -> Array:
    return problem.start + model.coefficients @ problem.gram


def _loss(
    reached: Array, model: Model, multipliers: Array, budget: Array, problem: Problem, config: NpqmConfig
) -> tuple[Array, Figures]:
    """The Lagrangian per owner and vector, -phi + lambda g, and what the release adds to it."""
    recipe = config.recipe
    found = figures(reached, model, problem, recipe, config.path_nodes)
    lagrangian = -found.load + multipliers * (found.spent - budget) + recipe.q_penalty * found.q
    mean = lagrangian.mean() / config.owners
    return (jnp.exp(mean) if recipe.exponential else mean), found


def _rate(step: Array, config: NpqmConfig) -> Array:
    recipe = config.recipe
    if recipe.halve_every:
        return recipe.rate * 0.5 ** (step // recipe.halve_every)
    return recipe.rate * (recipe.last_rate / recipe.rate) ** (step / max(config.steps - 1, 1))


def _descended(model: Model, by_reached: Array, slopes: Model, rate: Array, limit: float, gram: Array) -> Model:
    """One step of SGD on the weights themselves, their gradient's norm held to ``limit``."""
    square = jnp.vdot(by_reached @ gram, by_reached) + sum(jnp.vdot(part, part) for part in slopes[1:])
    held = rate * jnp.minimum(1.0, limit / jnp.sqrt(jnp.maximum(square, 1e-300)))
    return Model(
        model.coefficients - held * by_reached,
        *(part - held * slope for part, slope in zip(model[1:], slopes[1:], strict=True)),
    )


def _step(state: State, budget: Array, problem: Problem, config: NpqmConfig) -> tuple[State, Trace]:
    """One step of dual ascent for one budget.

    Multipliers and checkpoints follow the weights *after* the step: the text's "(updated) Lagrangian", and what the
    release's trace shows.
    """
    recipe = config.recipe
    allowed = recipe.budget_factor * budget
    model, multipliers = state.model, state.multipliers
    (loss, found), (by_reached, slopes) = jax.value_and_grad(_loss, argnums=(0, 1), has_aux=True)(
        _reached(model, problem), model, multipliers, allowed, problem, config
    )
    rate = _rate(state.step, config)
    moved = _descended(model, by_reached, slopes, rate, recipe.gradient_limit, problem.gram)
    tried = figures(_reached(moved, problem), moved, problem, recipe, config.path_nodes)
    over = tried.spent - allowed
    if recipe.accept_only_feasible:
        fits = over.mean() <= 0
        moved = jax.tree.map(partial(jnp.where, fits), moved, model)
        claims = jnp.array([fits, False, False, False])
    else:
        better = tried.load.sum() > state.kept_load
        claims = better & jnp.array([False, True, over.mean() <= 0, (over <= 0).all()])
    kept, kept_load = _keep(state, moved, tried, claims)
    push = over if recipe.multiplier_per_vector else over.mean(keepdims=True)
    multipliers = jnp.maximum(multipliers + recipe.multiplier_rate * push, recipe.multiplier_floor)
    trace = Trace(
        loss, found.load.mean(), found.spent.mean(), over.max(), multipliers.mean(), found.q.mean() / config.owners
    )
    return State(moved, multipliers, kept, kept_load, state.step + 1), trace


def _keep(state: State, model: Model, found: Figures, claims: Array) -> tuple[Model, Array]:
    """Put the model in every place of KEPT that it has earned."""

    def put(old: Array, new: Array) -> Array:
        return jnp.where(claims.reshape(-1, *[1] * new.ndim), new, old)

    return jax.tree.map(put, state.kept, model), jnp.where(claims, found.load.sum(), state.kept_load)


@partial(jax.jit, static_argnames=("config", "steps"))
def advance(state: State, budgets: Array, problem: Problem, config: NpqmConfig, steps: int) -> tuple[State, Trace]:
    """``steps`` steps for every budget at once; the trace has axes (step, budget)."""

    def body(now: State, _: None) -> tuple[State, Trace]:
        return jax.vmap(_step, in_axes=(0, 0, None, None))(now, budgets, problem, config)

    return jax.lax.scan(body, state, None, length=steps)


def make_problem(config: NpqmConfig, read: Floats, first: Floats) -> Problem:
    """The fixed part, from the training vectors as the nets read them (shares, V x n) and the initial first layer."""
    spanned = np.vstack([read, np.ones(config.owners)])
    sums, tails = ([rule(row, config.nodes) for row in read] for rule in (gauss_rule, tail_rule))
    low, high = config.bid_range
    return Problem(
        gram=jnp.asarray(product(spanned, spanned.T)),
        start=jnp.asarray(product(first, spanned.T)),
        shares=jnp.asarray(np.stack([places for places, _ in sums])),
        weights=jnp.asarray(np.stack([weights for _, weights in sums])),
        tail_shares=jnp.asarray(np.stack([places for places, _ in tails])),
        tail_weights=jnp.asarray(np.stack([weights for _, weights in tails])),
        low=jnp.asarray(float(low)),
        width=jnp.asarray(float(high - low)),
    )


def first_state(config: NpqmConfig, first_bias: Floats, last: Floats, last_bias: Floats) -> State:
    """The same initial weights for every budget."""
    rows, budgets = first_bias.size, len(config.budgets)
    model = Model(jnp.zeros((rows, config.vectors + 1)), *map(jnp.asarray, (first_bias, last, last_bias)))

    def spread(part: Array, *axes: int) -> Array:
        return jnp.broadcast_to(part, (*axes, *part.shape))

    count = config.vectors if config.recipe.multiplier_per_vector else 1
    return State(
        model=jax.tree.map(lambda part: spread(part, budgets), model),
        multipliers=jnp.full((budgets, count), config.recipe.multiplier_start, dtype=jnp.float64),
        kept=jax.tree.map(lambda part: spread(part, budgets, len(KEPT)), model),
        kept_load=jnp.full((budgets, len(KEPT)), -jnp.inf, dtype=jnp.float64),
        step=jnp.zeros(budgets, dtype=jnp.int64),
    )
