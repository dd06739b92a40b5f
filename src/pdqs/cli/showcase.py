"""Every mechanism on one population: what the demonstration runs and what it found."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.coverage import holds
from pdqs.auditing.price_patterns import dearer_prices
from pdqs.cli.promises import Promise, measured
from pdqs.experiments.populations import Population
from pdqs.model.arrays import Floats, Values
from pdqs.model.names import QueryKind
from pdqs.model.query import Count, Median, Query
from pdqs.rounds import presets
from pdqs.rounds.terms import Terms
from pdqs.trade import Trade, trade

ROUNDS = 20
PAPER_C = 5.0
"""The paper draws the c of its exponential and logarithmic rules from U(0, 10): this is the mean."""


def _with_c(preset: Callable[..., Terms]) -> Callable[..., Terms]:
    return lambda **more: preset(c=PAPER_C, **more)


MECHANISMS: dict[str, Callable[..., Terms]] = {
    "GPQM linear": presets.gpqm_linear,
    "GPQM exponential": _with_c(presets.gpqm_exponential),
    "GPQM logarithmic": _with_c(presets.gpqm_logarithmic),
    "FairQuery": presets.fairquery,
    "sound": presets.sound,
    "robust": presets.robust,
    "honest": presets.honest,
}
"""The paper's mechanisms, then ours, the default last. NPQM is not here: it has to be trained first (`pdqs train`)."""

DRAWN = ("FairQuery", "sound", "honest")
"""Those whose curve is drawn: a little of everyone, all of the cheap, and owners of every price by lot."""


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
        """The answer of every round; not a number where there was none."""
        return np.array([np.nan if done.answer.value is None else done.answer.value for done in self.rounds])

    @property
    def mean_error(self) -> float:
        """How far off it is as a rule: the mean of |answer - truth|; infinite where no round had an answer."""
        given = self.answers[np.isfinite(self.answers)]
        return float(np.abs(given - self.truth).mean()) if given.size else math.inf

    @property
    def held(self) -> int:
        """How many rounds gave an interval with the truth in it."""
        given = (done.answer for done in self.rounds if done.answer.value is not None)
        return sum(holds(found.interval, self.truth) for found in given)

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
            "error": None if answer.value is None else answer.value - self.truth,
            "interval": answer.interval,
            "level": answer.level,
            "mean_absolute_error": self.mean_error if math.isfinite(self.mean_error) else None,
            "rounds": len(self.rounds),
            "held": self.held,
            "answers": [done.answer.value for done in self.rounds],
            "bought": self.first.offers.bought,
            "offered_micros": self.first.offers.spent_micros,
            "paid_micros": payments.total_micros,
            "budget_micros": payments.budget_micros,
            "promises": {promise.name: dataclasses.asdict(promise) for promise in self.promises},
            "terms_hash": self.first.terms.hash,
        }


def question_of(population: Population, kind: str) -> tuple[Query, Values, float, str]:
    """A query on a population, the owners' values, the truth, and what it is in words."""
    if kind == QueryKind.COUNT:
        words = f"How many of {population.owners:,} owners {population.count_in_words}?"
        return Count(words), population.count_values(), float(population.count_ones), words
    words = f"Median {population.median_in_words} of {population.owners:,} owners, in {population.median_unit}"
    return Median(population.median_domain, words), population.median_values(), population.median_truth, words


def showings(population: Population, kind: str, budget: float, rng: np.random.Generator) -> Iterator[Showing]:
    """Each mechanism in turn, on the same owners, with prices that are fresh each round and tell of values.

    Owners with the trait (of a median: with a value above it) ask 1.65 times more than others.
    """
    query, values, truth, _ = question_of(population, kind)
    rng.shuffle(values)
    trait = (values > (0.5 if kind == QueryKind.COUNT else truth)).astype(np.int64)
    markets = [dearer_prices(trait, rng) for _ in range(ROUNDS)]
    for name, preset in MECHANISMS.items():
        terms = preset(query=query, budget=budget)
        rounds = tuple(trade(values, bids, terms, rng) for bids in markets)
        yield Showing(name=name, truth=truth, rounds=rounds, promises=measured(terms, rounds, truth))


def moral(shown: Sequence[Showing], unit: str) -> str:
    """What a newcomer should notice, in one sentence made of what was measured."""
    keepers = sorted((one for one in shown if len(one.kept) == len(one.promises)), key=lambda one: one.mean_error)
    if not keepers:
        return "Notice: no mechanism kept all five promises."
    best, rounds = keepers[0], len(keepers[0].rounds)
    *others, last = [one.name for one in keepers]
    names = f"{', '.join(others)} and {last}" if others else last
    sentence = (
        f"Notice: with prices that tell, {names} kept all five promises; for the same money, {best.name} held the truth"
        f" in {best.held} of {rounds} rounds and is off by {_figure(best.mean_error)} {unit} on average"
    )
    misled = [one for one in shown if "COV" not in one.kept]
    if not misled:
        return f"{sentence}."
    worst = min(misled, key=lambda one: one.mean_error)
    return f"{sentence}; {worst.name} held it in {worst.held} and is off by {_figure(worst.mean_error)}."


def _figure(amount: float) -> str:
    """Three digits, or all before the point.

    >>> _figure(30.52), _figure(4512.3)
    ('30.5', '4,512')
    """
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
