"""One cell: fresh bids and fresh coins a hundred times, and what came out of each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.clearing import clear
from pdqs.estimate import in_stages, of_tally, read_evidence, tally
from pdqs.estimate.answers import evidence_for
from pdqs.estimate.correlation_warning import looks_correlated
from pdqs.experiments import bids, populations
from pdqs.experiments.mechanisms import COEFFICIENTS, Mechanism, Offerings, mechanism_named
from pdqs.experiments.setups import SYNTHETIC, Cell, Experiment, Plan
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.model.domain import Domain
from pdqs.model.names import EstimatorName, QueryKind
from pdqs.model.query import Count, Median, Query
from pdqs.pricing.rules import Rule
from pdqs.pricing.rules.lottery import Asks
from pdqs.privacy.loss import epsilon
from pdqs.rounds.reports import randomise
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms

SYNTHETIC_OWNERS = 2000

Row = dict[str, float]

COLUMNS = (
    *(
        "truth",
        "unit",
        "owners",
        "budget",
        "c",
        "answer",
        "weighted",
        "low",
        "high",
        "warned",
        "spent",
        "paid",
        "bought",
    ),
    *("information", "privacy", "epsilon", "epsilon_claimed"),
)
"""What is kept of every round; :func:`play` says what each means."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Market:
    """Who is asked what. ``unit`` is what an error is divided by: the true count, 1, or the width of the domain."""

    query: Query
    codes: Integers
    truth: float
    unit: float

    @property
    def owners(self) -> int:
        return int(self.codes.size)


@lru_cache(maxsize=64)
def market_of(population: str, kind: str, level: float) -> Market:
    """The market behind a cell; ``level`` matters to the made population only, as its number of values.

    >>> market_of("customers", "count", 0.1).truth
    21.0
    """
    if population == SYNTHETIC:
        return _synthetic(int(level))
    found = populations.load(population)
    if kind == QueryKind.COUNT:
        ones = float(found.count_ones)
        return Market(query=Count(found.count_predicate), codes=found.count_values(), truth=ones, unit=ones)
    codes = np.repeat(np.arange(found.median_domain.size), found.histogram)
    query = Median(found.median_domain, found.median_column)
    return Market(query=query, codes=codes, truth=found.median_truth, unit=1.0)


def _synthetic(size: int) -> Market:
    """Values floor(k x) with x at evenly spaced quantiles of Beta(2, 5): the same shape on any number k of values."""
    from scipy.special import betaincinv

    shares = (np.arange(SYNTHETIC_OWNERS) + 0.5) / SYNTHETIC_OWNERS
    codes = np.floor(size * betaincinv(2.0, 5.0, shares)).astype(np.int64)
    truth = float(codes[(SYNTHETIC_OWNERS - 1) // 2])
    return Market(query=Median(Domain.grid(0, size - 1, 1)), codes=codes, truth=truth, unit=float(size - 1))


def run_cell(cell: Cell, plan: Plan, rules: Mapping[float, Rule]) -> dict[str, Floats]:
    """Every round of a cell, as columns. ``rules`` holds the learned rule of each level, for learned mechanisms.

    A learned mechanism without a rule for the level has no rounds: its training gave NO ANSWER.
    """
    experiment = plan.experiment(cell.experiment)
    market = market_of(cell.population, cell.kind, cell.level if experiment.axis == "domain" else 0.0)
    mechanism = mechanism_named(cell.mechanism)
    if mechanism.learned and cell.level not in rules:
        return {name: np.empty(0) for name in COLUMNS}
    share = cell.level if experiment.axis == "budget" else experiment.budget_share
    written = Offerings(
        query=market.query,
        budget=share * market.owners,
        c=0.0,
        rule=rules.get(cell.level),
    )
    terms = None if mechanism.draws_c else mechanism.terms(written)
    rows = [
        _round(market, mechanism, written, terms, experiment, cell, plan.generator(cell, query))
        for query in range(experiment.queries)
    ]
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in COLUMNS}


def _round(
    market: Market,
    mechanism: Mechanism,
    written: Offerings,
    terms: Terms | None,
    experiment: Experiment,
    cell: Cell,
    rng: np.random.Generator,
) -> Row:
    """One query: owners in a new order, new bids, new coins."""
    codes = rng.permutation(market.codes)
    drawn_bids = _draw_bids(codes, experiment, cell, rng)
    c = float(rng.uniform(*COEFFICIENTS))
    if terms is None:
        terms = mechanism.terms(dataclasses.replace(written, c=c))
    values = market.query.question.domain.decode(codes)
    return {
        "truth": market.truth,
        "unit": market.unit,
        "owners": float(market.owners),
        "budget": terms.budget,
        "c": c if mechanism.draws_c else np.nan,
        **play(values, drawn_bids, terms, rng),
    }


def _draw_bids(codes: Integers, experiment: Experiment, cell: Cell, rng: np.random.Generator) -> Floats:
    if experiment.axis == "correlation":
        return bids.draw_correlated(codes, cell.level, rng)
    return bids.draw(experiment.tested_on, codes.size, rng)


LEVEL = 0.95
"""The level of every interval in the reproduction."""


def play(values: Column, drawn_bids: Floats, terms: Terms, rng: np.random.Generator) -> Row:
    """One round by the terms, and what is worth knowing of it.

    ``answer`` is what the terms' own estimator says, ``weighted`` what the weighted one makes of the same reports (of a
    lottery's, nothing else: they are weighted by their chances).
    ``spent`` is the sum of expected payments, ``paid`` what was paid once coins had fallen. ``epsilon`` is the mean
    privacy loss of those bought from, on the domain as it is; ``epsilon_claimed`` what the paper's formula, which knows
    two values only, says it is.
    """
    offers = clear(drawn_bids, terms, draws=rng)
    offers, reports = in_stages(offers, terms, lambda known: randomise(values, known, rng))
    by_lottery = isinstance(terms.bound_rule, Asks)
    if by_lottery or not terms.asking.whole:
        sums = evidence_for(reports, offers, terms)
    else:
        sums = of_tally(tally(reports, offers.q))
    found = read_evidence(sums, terms, LEVEL)
    keeps = by_lottery or not terms.asking.whole
    reweighted = (
        found if keeps else read_evidence(sums, dataclasses.replace(terms, estimator=EstimatorName.WEIGHTED), LEVEL)
    )
    bought = offers.q > 0
    claimed = epsilon(offers.q[bought], 2)
    return {
        "answer": float(found.value),
        "weighted": float(reweighted.value),
        "low": float(found.interval[0]),
        "high": float(found.interval[1]),
        "warned": float(looks_correlated(sums, terms, found)),
        "spent": offers.spent,
        "paid": settle(offers, reports, terms).total,
        "bought": float(offers.bought),
        "information": offers.information,
        "privacy": float(np.dot(offers.q[bought], claimed)),
        "epsilon": float(offers.epsilon[bought].mean()) if bought.any() else 0.0,
        "epsilon_claimed": float(claimed.mean()) if bought.any() else 0.0,
    }
