"""NPQM's training step written straight from the formulas: eager NumPy, every owner, every point of the path.

The oracle that the compiled form is tested and timed against. It is slow on purpose and used nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.neural.config import Recipe


@final
@dataclass(slots=True)
class Weights:
    """The nets' layers, or their gradients: (rows, n), (rows,), (3, hidden), (3,)."""

    first: Floats
    first_bias: Floats
    last: Floats
    last_bias: Floats

    def parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.first, self.first_bias, self.last, self.last_bias


def trapezoid(points: int) -> tuple[Floats, Floats]:
    """Places on [0, 1] and their weights: the release's rule has 100."""
    weights = np.full(points, 1.0 / (points - 1))
    weights[[0, -1]] *= 0.5
    return np.linspace(0.0, 1.0, points), weights


def gauss(points: int) -> tuple[Floats, Floats]:
    """The Gauss rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return 0.5 + 0.5 * nodes, 0.5 * weights


@dataclass(slots=True)
class _Read:
    """One reading of the bids (V, n) by the nets, kept for the way back."""

    read: Floats
    reached: Floats
    hidden: Floats
    out: Floats

    @property
    def curve(self) -> tuple[Floats, Floats]:
        w1, w2, d = np.abs(self.out[:, 0]), np.abs(self.out[:, 1]), self.out[:, 2]
        return (w1 * w2)[:, None], (w2 * self.reached[:, -1] + d)[:, None]


def _forward(weights: Weights, read: Floats) -> _Read:
    reached = read @ weights.first.T + weights.first_bias
    hidden = np.maximum(reached[:, :-1], 0.0).reshape(-1, *weights.last.shape)
    return _Read(read, reached, hidden, (hidden * weights.last).sum(axis=2) + weights.last_bias)


def _backward(weights: Weights, seen: _Read, by_slope: Floats, by_intercept: Floats, into: Weights) -> None:
    """Add to ``into`` what a change of each vector's slope and intercept means for every weight."""
    w1, w2, _ = seen.out.T
    c = seen.reached[:, -1]
    by_out = np.stack(
        [
            np.sign(w1) * np.abs(w2) * by_slope,
            np.sign(w2) * (np.abs(w1) * by_slope + c * by_intercept),
            by_intercept,
        ],
        axis=1,
    )
    into.last += (by_out[:, :, None] * seen.hidden).sum(axis=0)
    into.last_bias += by_out.sum(axis=0)
    by_hidden = by_out[:, :, None] * weights.last * (seen.hidden > 0)
    by_reached = np.column_stack([by_hidden.reshape(len(c), -1), np.abs(w2) * by_intercept])
    into.first += by_reached.T @ seen.read
    into.first_bias += by_reached.sum(axis=0)


def _load(z: Floats, q_max: float) -> tuple[Floats, Floats, Floats, Floats]:
    """q, q eps, and their slopes in z."""
    sigma = 1.0 / (1.0 + np.exp(-z))
    q = q_max * sigma
    eps = np.log((1.0 + q) / (1.0 - q))
    q_slope = q * (1.0 - sigma)
    return q, q * eps, q_slope, q_slope * (eps + 2.0 * q / (1.0 - q * q))


def gradient(
    weights: Weights, shares: Floats, multipliers: Floats, budget: float, recipe: Recipe, path: tuple[Floats, Floats]
) -> tuple[float, Floats, Floats, Weights]:
    """Loss, phi and spending of each vector, and the gradient; bids on [0, 1], shares (V, n) as the nets read them."""
    vectors, n = shares.shape
    into = Weights(*(np.zeros_like(part) for part in weights.parts()))
    at_bids = _forward(weights, shares)
    slope, intercept = at_bids.curve
    q, load, q_slope, load_slope = _load(intercept - slope * shares, recipe.q_max_training)
    price = np.broadcast_to(multipliers, (vectors,))[:, None]
    integral = np.zeros_like(shares)
    on_path = []
    for way, weight in zip(*path, strict=True):
        moved = shares + way * (1.0 - shares)
        seen = _forward(weights, moved) if recipe.joint_path else at_bids
        slope, intercept = seen.curve
        _, there, _, there_slope = _load(intercept - slope * moved, recipe.q_max_training)
        integral += weight * (1.0 - shares) * there
        on_path.append((seen, moved, weight * (1.0 - shares) * price * there_slope))
    phi, spent = load.sum(axis=1), (shares * load + integral).sum(axis=1)
    mean = (-phi + price[:, 0] * (spent - budget) + recipe.q_penalty * q.sum(axis=1)).sum() / (vectors * n)
    loss = float(np.exp(mean)) if recipe.exponential else float(mean)
    factor = (loss if recipe.exponential else 1.0) / (vectors * n)
    by_z = (price * shares - 1.0) * load_slope + recipe.q_penalty * q_slope
    for seen, moved, change in [(at_bids, shares, by_z), *on_path]:
        _backward(weights, seen, -factor * (change * moved).sum(axis=1), factor * change.sum(axis=1), into)
    return loss, phi, spent, into


def step(
    weights: Weights,
    shares: Floats,
    multipliers: Floats,
    budget: float,
    rate: float,
    recipe: Recipe,
    path: tuple[Floats, Floats],
) -> tuple[Weights, Floats]:
    """One step of dual ascent: the weights after it, and the multipliers moved by the overspend *after* it."""
    allowed = recipe.budget_factor * budget
    slopes = gradient(weights, shares, multipliers, allowed, recipe, path)[3]
    norm = np.sqrt(sum(float((part * part).sum()) for part in slopes.parts()))
    held = rate * min(1.0, recipe.gradient_limit / max(norm, 1e-150))
    moved = Weights(*(old - held * slope for old, slope in zip(weights.parts(), slopes.parts(), strict=True)))
    over = gradient(moved, shares, multipliers, allowed, recipe, path)[2] - allowed  # after the step
    if recipe.accept_only_feasible and over.mean() > 0:
        moved = weights
    push = over if recipe.multiplier_per_vector else over.mean(keepdims=True)
    return moved, np.maximum(multipliers + recipe.multiplier_rate * push, recipe.multiplier_floor)
