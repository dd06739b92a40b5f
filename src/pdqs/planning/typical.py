"""Typical rounds: the one way in which a plan knows anything.

A few markets stand in for the one to come. Their bids, taken together, are evenly spaced quantiles of the prior, dealt
out at random; their values are those guessed; draws and coins are seeded, the same ones for every budget, so that
budgets can be compared. Each is cleared, reported and answered by the very functions that a real round goes through:
chances, the finite population, strata, gap and small samples are in the width because they are in the answer.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from pdqs.clearing import clear
from pdqs.clearing.lottery.market import BITS
from pdqs.estimate import in_stages
from pdqs.estimate.answers import Answer, answer_from_evidence, evidence_for
from pdqs.estimate.evidence import Evidence
from pdqs.estimate.functionals import CumulativeShares
from pdqs.estimate.quantile import rank_of
from pdqs.estimate.readings import estimated_shares
from pdqs.model.arrays import Floats, Integers
from pdqs.model.names import EstimatorName
from pdqs.model.query import Mean, Median, Quantile
from pdqs.planning.asking import ranks_between
from pdqs.planning.guesses import typical_codes
from pdqs.planning.quantile_widths import value_half_width
from pdqs.pricing.rules import Asks
from pdqs.privacy.entropy import SeededEntropy
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import drawn_reports
from pdqs.rounds.terms import Terms

LARGEST = 20_480
"""A larger market is like this one: with as much money an owner, its width is less by the root of its size."""

_LARGEST_OF_ALL, _LARGEST_LOTTERY = 2**20, 8 * LARGEST
_LEAST_ASKED = 256
_OWNERS_IN_ALL = 4000
_MOST_ANSWERS, _SURE = 48, 0.02
_SEED = 20_261

Over = Callable[[], bool]
"""Whether there is no more time: then as little more is looked at as gives a figure at all."""


def never() -> bool:
    """There is all the time in the world."""
    return False


@final
class Look(Enum):
    """How long a budget is looked at: by how many answers at least, where an interval's ends move in steps."""

    GLANCE = 0
    """As a search for a budget does, time and again."""
    CURVE = 18
    """As a curve does, for each of its points."""
    WHOLE = 72
    """As the one figure that a plan stands by."""


@final
@dataclass(frozen=True, kw_only=True)
class Width:
    """Half-widths of the typical answers, on average.

    ``share`` is of a share of the owners (for a mean, of its range; for a quantile, of the cumulative share),
    ``value`` in units of the values where there are any, ``jointly`` that of the intervals that hold all at once.
    ``information`` is 1 / sum of squared weights of reports made right, as Hoeffding's bound has it.
    """

    share: float
    value: float
    jointly: float
    information: float
    bought_share: float
    mean_epsilon: float
    answered: float


NOTHING = Width(
    share=math.inf,
    value=math.inf,
    jointly=math.inf,
    information=0.0,
    bought_share=0.0,
    mean_epsilon=0.0,
    answered=0.0,
)


def typical_width(
    terms: Terms, shares: Floats, owners: int, budget: float, level: float, look: Look, over: Over = never
) -> Width:
    """What a budget buys from so many owners whose values have these shares."""
    if not budget > 0:
        return NOTHING
    size = min(owners, LARGEST)
    part = size / owners
    sized, offers = _offers(terms, size, budget * part, look, over)
    drawn = isinstance(terms.bound_rule, Asks)
    largest = min(owners, _LARGEST_LOTTERY if drawn else _LARGEST_OF_ALL)
    # So little money an owner that few were asked: a larger market, and then more money. A lottery that asks few of
    # many is the same among more of them, each with as much less a chance; another rule goes to the cheaper ones.
    while offers[0].bought < _LEAST_ASKED and (size < largest or (drawn and part < 1.0)):
        grown = min(8 * size, largest)
        part = min(part * (grown / size if grown > size else 8.0), 1.0)
        size = grown
        sized, offers = _offers(terms, size, budget * part, look, over)
    rounds: list[Width] = []
    for at, made in enumerate(offers):
        if not (rounds and over()):
            rounds += _rounds(made, sized, shares, level, at, look, over)
    return _average(rounds, part, size / owners)


def _offers(terms: Terms, size: int, budget: float, look: Look, over: Over) -> tuple[Terms, list[Offers]]:
    """Typical markets of this size, and their terms."""
    terms = dataclasses.replace(terms, budget=budget)
    markets = _effort(terms, look).of(size)
    ranks = (np.arange(markets * size) + 0.5) / (markets * size)
    rng = np.random.default_rng([_SEED, size])
    dealt, drawn = (rng.permutation(ranks).reshape(markets, size) for _ in range(2))
    bids = [np.clip(terms.bid_prior.quantile(part), *terms.bid_range) for part in dealt]
    words = (drawn * 2.0**BITS).astype(np.uint32)
    found: list[Offers] = []
    for part, own in zip(bids, words, strict=True):
        if not (found and over()):
            found.append(clear(part, terms, draws=own))
    return terms, found


@final
@dataclass(frozen=True)
class _Effort:
    """How many small markets are looked at and how many large ones at least, and how many answers from each."""

    markets: int
    answers: int
    least: int = 1

    def of(self, size: int) -> int:
        """How many markets of this size."""
        return max(min(self.markets, _OWNERS_IN_ALL // size), self.least)


def _effort(terms: Terms, look: Look) -> _Effort:
    """Who is drawn makes the difference in a small lottery, what they were told to say where all can be asked."""
    if isinstance(terms.bound_rule, Asks):
        return _Effort(2, 2) if look is Look.GLANCE else _Effort(24, 2, least=3)
    return _Effort(1, 4) if look is Look.GLANCE else _Effort(8, 6)


def _rounds(offers: Offers, terms: Terms, shares: Floats, level: float, at: int, look: Look, over: Over) -> list[Width]:
    """A few answers from the same offers: to clear is slower than to answer."""
    effort = _effort(terms, look)
    times = effort.answers if len(offers) < _OWNERS_IN_ALL else 2
    if isinstance(terms.query, Median | Quantile) and not terms.asking.whole:
        times = max(times, look.value // effort.of(len(offers)))  # ends are values of the domain: few steps
    rng = np.random.default_rng([_SEED, at])
    codes = typical_codes(shares, len(offers), terms.domain_size)

    found: list[Width] = []

    def some(count: int) -> None:
        for _ in range(count):
            if not (found and over()):
                found.append(_round(offers, terms, rng.permutation(codes), shares, level, SeededEntropy(rng)))

    some(times)
    many = look is Look.WHOLE and len(offers) >= _OWNERS_IN_ALL
    while many and len(found) < _MOST_ANSWERS and not over() and _unsure(found):
        some(2)
    return found


def _unsure(found: list[Width]) -> bool:
    """Whether the mean width of these answers is off by more than 2 %: so little is told that it hangs on chance."""
    widths = np.array([each.share for each in found if each.answered])
    return (
        bool(widths.size)
        and float(widths.std(ddof=1) / math.sqrt(widths.size) / max(float(widths.mean()), 1e-12)) > _SURE
    )


def _round(
    offers: Offers, terms: Terms, codes: Integers, shares: Floats, level: float, entropy: SeededEntropy
) -> Width:
    offers, reports = in_stages(offers, terms, lambda known: drawn_reports(codes, known, entropy))
    evidence = evidence_for(reports, offers, terms)
    found = answer_from_evidence(evidence, terms, level=level)
    some = offers.asked
    bought = {
        "information": offers.information_for(terms.estimator),
        "bought_share": float(some.mean()),
        "mean_epsilon": float(offers.epsilon[some].mean()) if some.any() else 0.0,
    }
    if found.value is None:
        return dataclasses.replace(NOTHING, **bought)
    share, value, jointly = _half_widths(found, evidence, terms, shares)
    return Width(share=share, value=value, jointly=jointly, answered=1.0, **bought)


def _half_widths(found: Answer, evidence: Evidence, terms: Terms, shares: Floats) -> tuple[float, float, float]:
    """As a share, in value units, and jointly, of one answer."""
    ends, joint = np.atleast_2d(found.interval), np.atleast_2d(found.simultaneous)
    half, jointly = (float(np.mean(x[:, 1] - x[:, 0])) / 2.0 for x in (ends, joint))
    if isinstance(terms.query, Median | Quantile):
        if terms.asking.whole:
            return _quantile_half_widths(evidence, terms, shares, found.level)
        return ranks_between(found, terms, shares), half, half
    if isinstance(terms.query, Mean):
        return half / terms.domain.span, half, half
    return half / evidence.owners, math.nan, jointly / evidence.owners


def _quantile_half_widths(evidence: Evidence, terms: Terms, shares: Floats, level: float) -> tuple[float, float, float]:
    """Of the cumulative share at the quantile itself, and in value units."""
    p, truth = rank_of(terms), np.cumsum(shares)
    statistic = CumulativeShares(terms.domain_size)
    # A shrunk estimate is drawn to the middle, its interval is not.
    estimator = "weighted" if terms.estimator == EstimatorName.SHRUNK else terms.estimator
    found = estimated_shares(statistic, evidence, estimator, level)
    at = int(np.argmin(np.abs(truth[:-1] - p)))
    # Reports themselves lean to the middle of the domain, by 1 - q.
    lean = evidence.tally.power(1) / evidence.tally.reports
    said = statistic.centre + lean * (truth - statistic.centre)
    wide = value_half_width(found, said if estimator == EstimatorName.NAIVE else truth, said, terms.domain.numbers, p)
    return float(found.high[at] - found.low[at]) / 2.0, wide, wide


def _average(rounds: list[Width], part: float, size: float) -> Width:
    """Over the rounds that had an answer, if at least half of them had.

    ``part`` is what was asked of them over what the real round asks, ``size`` their size over the real one.
    """
    answered = float(np.mean([each.answered for each in rounds]))

    def mean(of: list[float]) -> float:
        return float(np.mean(of)) if of else math.inf

    told = [each for each in rounds if each.answered] if answered >= 0.5 else []
    narrower = math.sqrt(part)
    return Width(
        share=narrower * mean([each.share for each in told]),
        value=narrower * mean([each.value for each in told]),
        jointly=narrower * mean([each.jointly for each in told]),
        information=mean([each.information for each in rounds]) / part,
        bought_share=mean([each.bought_share for each in rounds]) * size / part,
        mean_epsilon=mean([each.mean_epsilon for each in rounds]),
        answered=answered,
    )
