"""Every mechanism on one population: what the demonstration runs and what it found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.cli.promises import Promise, measured
from pdqs.experiments.populations import Population
from pdqs.model.arrays import Floats, Values
from pdqs.model.query import Count, Median, Query
from pdqs.rounds import presets
from pdqs.rounds.terms import Terms
from pdqs.trade import Trade, trade

ROUNDS = 20
PAPER_C = 5.0
"""The paper draws the c of its exponential and logarithmic rules from U(0, 10): this is the mean."""


def _sound_on_selection(*, query: Query, budget: float) -> Terms:
    return presets.sound(query=query, budget=budget, contract="on-selection")


def _with_c(preset: Callable[..., Terms]) -> Callable[..., Terms]:
    return lambda **more: preset(c=PAPER_C, **more)


MECHANISMS: dict[str, Callable[..., Terms]] = {
    "GPQM linear": presets.gpqm_linear,
    "GPQM exponential": _with_c(presets.gpqm_exponential),
    "GPQM logarithmic": _with_c(presets.gpqm_logarithmic),
    "FairQuery": presets.fairquery,
    "sound, paper's contract": _sound_on_selection,
    "robust": presets.robust,
    "sound": presets.sound,
}
"""The paper's mechanisms, then ours. NPQM is not here: it has to be trained first (`pdqs train`)."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Showing:
    """One mechanism's rounds on a population: the first is shown, the others say how it does as a rule."""

    name: str
    truth: float
    rounds: tuple[Trade, ...]
    promises: tuple[Promise, ...]

    @property
    def first(self) -> Trade:
        """The round that is shown."""
        return self.rounds[0]

    @property
    def answers(self) -> Floats:
        """The answer of every round."""
        return np.array([done.answer.value for done in self.rounds])

    @property
    def mean_error(self) -> float:
        """How far off it is as a rule: the mean of |answer - truth|."""
        return float(np.abs(self.answers - self.truth).mean())

    @property
    def kept(self) -> tuple[str, ...]:
        """The promises that were kept."""
        return tuple(promise.name for promise in self.promises if promise.kept)

    def data(self) -> dict[str, object]:
        """For machines."""
        answer, payments = self.first.answer, self.first.payments
        return {
            "mechanism": self.name,
            "answer": answer.value,
            "truth": self.truth,
            "error": answer.value - self.truth,
            "interval": answer.interval,
            "level": answer.level,
            "mean_absolute_error": self.mean_error,
            "rounds": len(self.rounds),
            "answers": self.answers,
            "bought": self.first.offers.bought,
            "offered_micros": self.first.offers.spent_micros,
            "paid_micros": payments.total_micros,
            "budget_micros": payments.budget_micros,
            "promises": {promise.name: dataclasses.asdict(promise) for promise in self.promises},
            "terms_hash": self.first.terms.hash,
        }


def question_of(population: Population, kind: str) -> tuple[Query, Values, float, str]:
    """A query on a population, the owners' values, the truth, and what it is in words."""
    if kind == "count":
        words = f"How many of {population.owners:,} owners: {population.count_predicate}?"
        return Count(words), population.count_values(), float(population.count_ones), words
    words = f"Median of {population.owners:,} owners: {population.median_column} ({population.median_unit})"
    return Median(population.median_domain, words), population.median_values(), population.median_truth, words


def showings(population: Population, kind: str, budget: float, rng: np.random.Generator) -> Iterator[Showing]:
    """Each mechanism in turn, on the same owners, with bids that are fresh each round and say nothing about values."""
    query, values, truth, _ = question_of(population, kind)
    rng.shuffle(values)
    markets = [rng.random(population.owners) for _ in range(ROUNDS)]
    for name, preset in MECHANISMS.items():
        terms = preset(query=query, budget=budget)
        rounds = tuple(trade(values, bids, terms, rng) for bids in markets)
        yield Showing(name=name, truth=truth, rounds=rounds, promises=measured(terms, rounds))


def moral(shown: Sequence[Showing], unit: str) -> str:
    """What a newcomer should notice, in one sentence made of what was measured."""
    keepers = sorted((one for one in shown if len(one.kept) == len(one.promises)), key=lambda one: one.mean_error)
    naive = sorted((one for one in shown if one.first.answer.estimator == "naive"), key=lambda one: one.mean_error)
    if not keepers:
        return "Notice: no mechanism kept all four promises."
    best, least = keepers[0], naive[0]
    *others, last = [one.name for one in keepers]
    names = f"{', '.join(others)} and {last}" if others else last
    return (
        f"Notice: {names} kept all four promises; for the same money, {best.name} is off by {_figure(best.mean_error)}"
        f" {unit} on average, and the best of those that take reports at face value, {least.name}, by"
        f" {_figure(least.mean_error)}."
    )


def _figure(amount: float) -> str:
    """Three digits, or all before the point.

    >>> _figure(30.52), _figure(4512.3)
    ('30.5', '4,512')
    """
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
