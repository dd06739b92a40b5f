"""Training NPQM from bids to rules: draws, runs the compiled steps in chunks, watches for trouble, gives rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import jax
import jax.numpy as jnp
import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats
from pdqs.model.errors import InputError, RuleError
from pdqs.neural import dual_ascent
from pdqs.neural.config import KEPT, NpqmConfig
from pdqs.neural.npqm_rule import Nets, Npqm
from pdqs.neural.sums import product
from pdqs.pricing.rules.base import Setting

CHUNK = 250
_COLLAPSED = 0.01


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Moment:
    """Where training stands after ``step`` steps: one figure per budget, means over the training vectors."""

    step: int
    steps: int
    loss: Floats
    load: Floats  # phi, the purchased privacy
    spent: Floats
    multiplier: Floats
    q: Floats  # mean over owners
    warnings: tuple[str, ...]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """What training for one budget gave.

    ``rules`` holds the rules that were kept, by name: ``accepted`` (printed: the last step that was within budget), or
    ``largest``, ``mean`` and ``every`` (released: the largest phi; with mean overspend <= 0; with no vector overspent,
    overspend meaning beyond the training budget). ``trace`` has one row per step: loss, phi, spent, worst overspend,
    multiplier, mean q.
    """

    budget: float
    rules: dict[str, Npqm]
    trace: Floats
    warnings: tuple[str, ...] = ()

    @property
    def rule(self) -> Npqm:
        """The rule to use: the strictest kept. Raises :class:`RuleError` for the paper's NO ANSWER."""
        for name in ("accepted", "every", "mean"):
            if name in self.rules:
                return self.rules[name]
        raise RuleError(f"NO ANSWER: no step of the training was within the budget of {self.budget:g}")


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Saved:
    """A training stopped half-way: enough to go on from, bit for bit."""

    config: NpqmConfig
    bids: Floats
    state: dict[str, Floats] = field(repr=False)
    trace: Floats = field(repr=False)


Progress = Callable[[Moment], None]
Save = Callable[[Saved], None]


def train(
    config: NpqmConfig,
    training_bids: Column | np.random.Generator | None = None,
    *,
    progress: Progress | None = None,
    save: Save | None = None,
    resume: Saved | None = None,
) -> tuple[Trained, ...]:
    """Train one model per budget of the config, all together. See :mod:`pdqs.neural`."""
    if resume is not None and resume.config != config:
        raise InputError("the saved training is of another config: go on with the config it was saved with")
    bids = resume.bids if resume is not None else _bids(config, training_bids)
    read = (bids - config.bid_range[0]) / (config.bid_range[1] - config.bid_range[0])
    if config.recipe.sorted_bids:
        read = np.sort(read, axis=1)
    first, *others = _initial_weights(config)
    with jax.enable_x64(True):
        problem = dual_ascent.make_problem(config, read, first)
        state = dual_ascent.first_state(config, *others)
        trace = np.empty((0, len(config.budgets), len(dual_ascent.Trace._fields)))
        if resume is not None:
            state, trace = _restored(state, resume.state), resume.trace
        budgets = jnp.asarray(np.array(config.budgets, dtype=np.float64))
        while trace.shape[0] < config.steps:
            ahead = min(CHUNK, config.steps - trace.shape[0])
            state, lines = dual_ascent.advance(state, budgets, problem, config, ahead)
            trace = np.concatenate([trace, np.stack([np.asarray(line) for line in lines], axis=-1)])
            if progress is not None:
                progress(_moment(config, state, trace))
            if save is not None:
                save(Saved(config=config, bids=bids, state=_plain(state), trace=trace))
        state = jax.tree.map(np.asarray, state)
    return tuple(_trained(j, config, state, trace, first, read) for j in range(len(config.budgets)))


def _bids(config: NpqmConfig, given: Column | np.random.Generator | None) -> Floats:
    """The training vectors, (vectors, owners): drawn uniform on the bid range, or as given and checked."""
    low, high = config.bid_range
    if given is None or isinstance(given, np.random.Generator):
        rng = np.random.default_rng([config.seed, 1]) if given is None else given
        return low + (high - low) * rng.random((config.vectors, config.owners))
    rows = [columns.bids_in_range(row, low, high, column=f"training vector {v + 1}") for v, row in enumerate(given)]
    if len(rows) != config.vectors or any(row.size != config.owners for row in rows):
        sizes = sorted({row.size for row in rows})
        raise InputError(
            f"training bids must be {config.vectors} vectors of {config.owners}, got {len(rows)} of {sizes} bids"
        )
    return np.stack(rows)


def _initial_weights(config: NpqmConfig) -> tuple[Floats, Floats, Floats, Floats]:
    """Uniform on +- 1/sqrt(inputs of the layer), from the seed: the usual start of a linear layer."""
    rng = np.random.default_rng([config.seed, 0])
    rows, h = 3 * config.hidden + 1, config.hidden
    shapes = (((rows, config.owners), config.owners), ((rows,), config.owners), ((3, h), h), ((3,), h))
    first, first_bias, last, last_bias = (rng.uniform(-1, 1, shape) / np.sqrt(fan) for shape, fan in shapes)
    return first, first_bias, last, last_bias


def _moment(config: NpqmConfig, state: dual_ascent.State, trace: Floats) -> Moment:
    line = dict(zip(dual_ascent.Trace._fields, trace[-1].T, strict=True))
    warnings = tuple(
        f"budget {budget:g}: {said}"
        for j, budget in enumerate(config.budgets)
        for said in _warnings(line["q"][j], np.asarray(state.kept_load)[j])
    )
    figures = {name: line[name] for name in ("loss", "load", "spent", "multiplier", "q")}
    return Moment(step=trace.shape[0], steps=config.steps, warnings=warnings, **figures)


def _warnings(mean_q: float, kept_load: Floats) -> list[str]:
    found = []
    if not np.isfinite(mean_q):
        found.append("the weights have run off to infinity")
    elif mean_q < _COLLAPSED:
        found.append(f"the curve has collapsed (mean q {mean_q:.2g}): nothing is bought, and the gradient is gone")
    strict = kept_load[[KEPT.index("accepted"), KEPT.index("mean")]]
    if not np.isfinite(strict).any():
        found.append("no step so far was within budget")
    return found


def _trained(
    j: int, config: NpqmConfig, state: dual_ascent.State, trace: Floats, first: Floats, read: Floats
) -> Trained:
    spanned = np.vstack([read, np.ones(config.owners)])
    rules = {}
    for place, name in enumerate(KEPT):
        coefficients, *others = (part[j, place] for part in state.kept)
        finite = all(np.isfinite(part).all() for part in (coefficients, *others))
        if np.isfinite(state.kept_load[j, place]) and finite:
            rules[name] = _rule(Nets(first + product(coefficients, spanned), *others), config, read)
    warnings = tuple(_warnings(trace[-1, j, -1], state.kept_load[j]))
    return Trained(budget=config.budgets[j], rules=rules, trace=trace[:, j], warnings=warnings)


def _rule(nets: Nets, config: NpqmConfig, read: Floats) -> Npqm:
    low, high = config.bid_range
    return Npqm(
        nets=nets,
        digest=nets.digest,
        typical=nets.coefficients(read.mean(axis=0)),
        q_max=config.recipe.q_max_in_use,
        sorted_bids=config.recipe.sorted_bids,
        setting=Setting(low=low, high=high),
    )


def _plain(state: dual_ascent.State) -> dict[str, Floats]:
    """The state's arrays by number, in the fixed order of its tree."""
    return {f"state_{i:02d}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}


def _restored(like: dual_ascent.State, saved: dict[str, Floats]) -> dual_ascent.State:
    leaves, shape = jax.tree.flatten(like)
    given = [saved.get(f"state_{i:02d}") for i in range(len(leaves))]
    if any(new is None or new.shape != old.shape for new, old in zip(given, leaves, strict=True)):
        raise InputError("the saved training does not fit its own config: the file was altered")
    restored: dual_ascent.State = jax.tree.unflatten(shape, [jnp.asarray(new) for new in given])
    return restored
