"""NPQM's trainings, as tasks of a run: which nets a plan needs, how each is learned, and the rules they give.

A net is learned for a number of owners and a distribution of bids; every budget of the plan is learned together, and
counts and medians share the nets. Where training found no step within the budget the paper's answer is NO ANSWER: the
cell is then left without rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from pdqs.experiments import bids
from pdqs.experiments.cells import market_of
from pdqs.experiments.mechanisms import mechanism_named
from pdqs.experiments.setups import Cell, Plan, seed_sequence
from pdqs.experiments.store import Store
from pdqs.model.errors import FileError
from pdqs.neural.checkpoint import read_arrays, write_arrays
from pdqs.pricing.rules import Rule

if TYPE_CHECKING:
    from pdqs.neural import Npqm, Saved

_KIND = "trainings"

CHECKPOINTS = ("accepted", "every", "mean")
"""Of the checkpoints that a training keeps, the first there is of these: the strictest about the budget."""


NODES = 24
"""Weighted bids that stand for the owners of a training vector: twice as many change the loss in the tenth digit."""


@final
@dataclass(frozen=True, slots=True, order=True)
class Task:
    """One training: a variant of NPQM for one population's owners, on bids of one distribution."""

    variant: str
    population: str
    trained_on: str

    @property
    def name(self) -> str:
        """The task's name, fit for a file."""
        return f"{self.variant}-{self.population}-{self.trained_on}"


def task_of(cell: Cell, plan: Plan) -> Task | None:
    """The training that a cell waits for, if it needs one."""
    variant = mechanism_named(cell.mechanism).learned
    if not variant:
        return None
    return Task(variant, cell.population, plan.experiment(cell.experiment).trained_on)


def train(task: Task, plan: Plan, store: Store) -> None:
    """Learn and keep the nets of a task, a model for each budget of the plan, from where it was stopped if it was."""
    from pdqs import neural

    owners = market_of(task.population, "count", 0.0).owners
    shares = _shares(task, plan)
    rng = np.random.default_rng(seed_sequence(plan.seed, f"train/{task.name}"))
    vectors = [bids.draw(task.trained_on, owners, rng) for _ in range(plan.training.vectors)]
    config = neural.NpqmConfig(
        owners=owners,
        budgets=tuple(share * owners for share in shares),
        options=neural.RECIPES[task.variant],
        seed=int(rng.integers(2**31)),
        vectors=plan.training.vectors,
        steps=plan.training.steps,
        nodes=NODES,
    )
    half_done = store.training_path(task.name)
    half_done.parent.mkdir(parents=True, exist_ok=True)
    saved = _half_done(half_done) if half_done.exists() else None
    trained = neural.train(config, np.stack(vectors), save=partial(neural.save_training, half_done), resume=saved)
    arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    for share, found in zip(shares, trained, strict=True):
        kept = next((found.rules[name] for name in CHECKPOINTS if name in found.rules), None)
        if kept is not None:
            arrays |= {f"{share:g}/{name}": part for name, part in _parts(kept).items()}
    write_arrays(store.model_path(task.name), arrays, {"kind": _KIND})
    half_done.unlink(missing_ok=True)


def _half_done(path: Path) -> Saved:
    from pdqs import neural

    config, training_bids, state, trace = neural.load_training(path)
    return neural.Saved(config=config, bids=training_bids, state=state, trace=trace)


def rules_for(cell: Cell, plan: Plan, store: Store) -> dict[float, Rule]:
    """The learned rule of each budget; none for mechanisms that learn nothing."""
    task = task_of(cell, plan)
    return {} if task is None else dict(rules_of(store.model_path(task.name)))


def _shares(task: Task, plan: Plan) -> tuple[float, ...]:
    """Every budget at which some cell of the plan will ask for this training."""
    return tuple(sorted({cell.level for cell in plan.cells() if task_of(cell, plan) == task}))


def _parts(rule: Npqm) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    nets = rule.nets
    return {
        "first": nets.first,
        "first_bias": nets.first_bias,
        "last": nets.last,
        "last_bias": nets.last_bias,
        "figures": np.array([*rule.typical, rule.q_max, float(rule.sorted_bids)]),
    }


@lru_cache(maxsize=4)
def rules_of(path: Path) -> dict[float, Npqm]:
    """The rules of a finished training, by budget as a share of n."""
    from pdqs.neural import Nets, Npqm

    parts, about = read_arrays(path)
    if about.get("kind") != _KIND:
        raise FileError(f"{path}: holds no trainings but {about.get('kind')!r}: delete it and run again")
    rules: dict[float, Npqm] = {}
    for share in dict.fromkeys(name.split("/")[0] for name in parts):
        slope, intercept, q_max, is_sorted = parts[f"{share}/figures"].tolist()
        nets = Nets(*(parts[f"{share}/{name}"] for name in ("first", "first_bias", "last", "last_bias")))
        rules[float(share)] = Npqm(
            nets=nets, digest=nets.digest, typical=(slope, intercept), q_max=q_max, sorted_bids=bool(is_sorted)
        )
    return rules
