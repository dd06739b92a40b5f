"""What is run: one frozen experiment for each figure of the paper, and three that the paper lacks.

A *plan* is a seed and experiments; a *cell* is one point of one figure: an experiment, a population, a kind of query, a
mechanism and a level of the axis. Cells are independent of each other, which is why they may be run in any order.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.experiments import populations
from pdqs.model.errors import InputError

BUDGETS = tuple(round(0.1 * tenth, 1) for tenth in range(1, 10))
"""Budgets as shares of n, the number of owners."""

DEFAULT_SEED = 20240
SYNTHETIC = "bell"
"""The made population of the domain-size experiment: 2,000 owners whose values follow Beta(2, 5) cut into k values."""

NPQM = ("npqm", "npqm-released", "npqm-mended")
PAPER = (*NPQM, "gpqm-linear", "gpqm-exp", "gpqm-log", "gpqm-log-text", "fairquery")
OTHERS = ("single-minded", "fallah-local")
SOUND = ("sound-selection", "sound", "honest")
SHIFTS = ("shift-2", "shift-3", "shift-4")
"""Named by the paper's numbers of its set-ups; its set-up (1) is the main one."""
SQUASHED = tuple(f"{name}-squashed" for name in SHIFTS)
"""The same with the second way of mapping normal bids to (0, 1)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure's worth of rounds.

    ``axis`` says what ``levels`` are: "budget" (shares of n), "correlation" (strength, at ``budget_share``) or "domain"
    (number of values, at ``budget_share``). NPQM learns from bids of ``trained_on``; every mechanism then
    meets bids of ``tested_on``. The sound forms learn nothing and believe bids uniform, right or wrong.
    """

    name: str
    title: str
    populations: tuple[str, ...]
    kinds: tuple[str, ...]
    mechanisms: tuple[str, ...]
    axis: str = "budget"
    levels: tuple[float, ...] = BUDGETS
    queries: int = 100
    trained_on: str = "uniform"
    tested_on: str = "uniform"
    budget_share: float = 0.5

    def cells(self) -> Iterator[Cell]:
        """Every point of the figure, in its order."""
        for population in self.populations:
            for kind in self.kinds:
                for mechanism in self.mechanisms:
                    for level in self.levels:
                        yield Cell(self.name, population, kind, mechanism, level)


@final
@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One point of one figure."""

    experiment: str
    population: str
    kind: str
    mechanism: str
    level: float

    @property
    def key(self) -> str:
        """The cell's name: unlike any other's, and fit for a file.

        >>> Cell("count", "exam", "count", "gpqm-linear", 0.1).key
        'count/exam-count-gpqm-linear-0.1'
        """
        return f"{self.experiment}/{self.population}-{self.kind}-{self.mechanism}-{self.level:g}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How long NPQM learns: dual-ascent steps and training vectors."""

    steps: int = 5000
    vectors: int = 50


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that decides the numbers: two runs of the same plan give the same bytes."""

    seed: int
    experiments: tuple[Experiment, ...]
    training: Training = Training()
    name: str = "full"

    def cells(self) -> tuple[Cell, ...]:
        """Every cell, in the order of the final table."""
        return tuple(cell for experiment in self.experiments for cell in experiment.cells())

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name."""
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        raise InputError(
            f"unknown experiment {name!r}: choose one of {', '.join(known.name for known in self.experiments)}"
        )

    @property
    def hash(self) -> str:
        """SHA-256 of the plan in canonical JSON."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def generator(self, cell: Cell, query: int) -> np.random.Generator:
        """The generator of one query of one cell: a function of seed, cell and query alone.

        >>> plan, cell = full_plan(), Cell("count", "exam", "count", "sound", 0.5)
        >>> bool(plan.generator(cell, 3).random() == plan.generator(cell, 3).random())
        True
        """
        return np.random.default_rng(seed_sequence(self.seed, cell.key, query))


def seed_sequence(seed: int, key: str, index: int = 0) -> np.random.SeedSequence:
    """A seed for a named purpose. The name is hashed, so that adding names moves no other seed."""
    words = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype="<u4")
    return np.random.SeedSequence([seed, *words.tolist()], spawn_key=(index,))


def full_plan(seed: int = DEFAULT_SEED) -> Plan:
    """Everything: the seven figures of the paper and what it lacks, 100 queries a point.

    >>> sum(1 for _ in full_plan().cells())
    2594
    """
    return Plan(seed=seed, experiments=_experiments(populations.names(), ("obesity", "exam"), BUDGETS, 100))


def quick_plan(seed: int = DEFAULT_SEED) -> Plan:
    """A taste of it in two minutes: two populations, three budgets, 20 queries, a short training."""
    experiments = _experiments(("exam", "customers"), ("exam",), (0.1, 0.5, 0.9), 20)
    fewer = {"correlated": (0.0, 2.0), "domain-size": (2, 16, 128), **dict.fromkeys((*SHIFTS, *SQUASHED), (0.5,))}
    experiments = tuple(dataclasses.replace(each, levels=fewer.get(each.name, each.levels)) for each in experiments)
    return Plan(seed=seed, experiments=experiments, training=Training(steps=200, vectors=10), name="quick")


def _experiments(
    names: tuple[str, ...], shifted: tuple[str, ...], budgets: tuple[float, ...], queries: int
) -> tuple[Experiment, ...]:
    main = [
        Experiment(
            name=kind,
            title=f"{kind.capitalize()} queries",
            populations=names,
            kinds=(kind,),
            mechanisms=(*PAPER, *OTHERS, *SOUND),
            levels=budgets,
            queries=queries,
        )
        for kind in ("count", "median")
    ]
    shifts = [
        Experiment(
            name=name,
            title=title,
            populations=shifted,
            kinds=("count", "median"),
            mechanisms=(*NPQM, "fairquery", "sound", "honest"),
            levels=levels,
            queries=queries,
            trained_on=trained_on,
            tested_on=tested_on,
        )
        for normal, names, levels in (
            ("normal", SHIFTS, budgets),
            ("squashed", SQUASHED, tuple(level for level in budgets if round(10 * level) % 2)),
        )
        for name, title, trained_on, tested_on in (
            (names[0], "Trained on uniform bids, tested on normal (sd 0.25)", "uniform", f"{normal}-0.25"),
            (names[1], "Trained and tested on normal bids (sd 1)", f"{normal}-1", f"{normal}-1"),
            (names[2], "Trained on normal (sd 1), tested on normal (sd 0.25)", f"{normal}-1", f"{normal}-0.25"),
        )
    ]
    correlated = Experiment(
        name="correlated",
        title="Owners with the sensitive value ask more",
        populations=names,
        kinds=("count",),
        mechanisms=("gpqm-linear", "fairquery", "sound", "honest", "robust"),
        axis="correlation",
        levels=(0.0, 0.5, 1.0, 2.0, 4.0),
        queries=queries,
    )
    domain = Experiment(
        name="domain-size",
        title="The privacy that a median query really costs",
        populations=(SYNTHETIC,),
        kinds=("median",),
        mechanisms=("gpqm-linear", *SOUND),
        axis="domain",
        levels=(2, 4, 8, 16, 32, 64, 128, 256),
        queries=queries,
    )
    return (*main, *shifts, correlated, domain)
