"""The interval covers (COV): does a 95 % interval hold the truth as often as it says, whatever prices tell?

Whole rounds are played, bids to answer, on fresh owners each time, under five patterns of prices: they say nothing, a
little, or a lot of the answer (holders of the trait ask 1.65 times more), the dear are the holders, a dear few are. An
interval holds when every row of it does (of a histogram the simultaneous one is judged). A round without an answer
counts neither way. The promise is broken when the exact binomial bound says that fewer than PROMISED of the intervals
given under some pattern hold the truth; a mechanism that keeps it is accused in one audit out of a million at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.bounds import lower_bound, upper_bound
from pdqs.auditing.markets import in_range
from pdqs.auditing.mechanism import Mechanism
from pdqs.auditing.price_patterns import codes_of, people
from pdqs.model.arrays import Figure, Integers
from pdqs.model.errors import EstimateError
from pdqs.model.query import Count, Histogram, Mean, Median, Quantile, Query
from pdqs.rounds.terms import Terms

JUDGED = {
    "independent": "prices say nothing",
    "mild": "prices tell a little",
    "dearer": "holders ask 1.65 times more",
    "threshold": "the dear are the holders",
    "two-humped": "a dear few hold the trait",
}
"""The patterns of the promise, in words."""

SHARES = {"threshold": 0.4, "two-humped": 0.1}
"""The share with the trait where it is not SHARE: value = 1[price > .6], and a few."""

SHARE = 0.3
PROMISED = 0.94
"""Of intervals that say 95 %: a hundredth is left to approximation, and no more."""

FALSE_ALARM = 1e-6
SHOWN_LEVEL = 0.95
_ROUNDING = 1e-9  # an end that equals the truth holds it


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFinding:
    """One pattern: of ``rounds`` rounds ``answered`` gave an interval, and ``covered`` of those held the truth."""

    pattern: str
    rounds: int
    answered: int
    covered: int
    alarm: float

    @property
    def share(self) -> float:
        """The share of intervals that held; 1 when none was given."""
        return self.covered / self.answered if self.answered else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share is, 95 times in 100 (Clopper-Pearson)."""
        tail = (1.0 - SHOWN_LEVEL) / 2.0
        n = max(self.answered, 1)
        return (lower_bound(self.covered, n, tail), upper_bound(self.covered if self.answered else n, n, tail))

    @property
    def kept(self) -> bool:
        """Not proved to be below the promise."""
        return not self.answered or upper_bound(self.covered, self.answered, self.alarm) >= PROMISED


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was found under each pattern."""

    found: tuple[PatternFinding, ...]
    owners: int
    false_alarm: float = FALSE_ALARM

    @property
    def kept(self) -> bool:
        """No pattern of prices was seen to break the interval."""
        return all(each.kept for each in self.found)

    @property
    def worst(self) -> PatternFinding:
        """The pattern with the least coverage."""
        return min(self.found, key=lambda each: each.share)


def examine(mechanism: Mechanism, terms: Terms, owners: int, rounds: int, rng: np.random.Generator) -> Coverage:
    """``rounds`` rounds of the terms' own budget on so many owners, under each pattern."""
    found = []
    for pattern in JUDGED:
        held = [each for each in _rounds(mechanism, terms, pattern, owners, rounds, rng) if each is not None]
        found.append(
            PatternFinding(
                pattern=pattern,
                rounds=rounds,
                answered=len(held),
                covered=sum(held),
                alarm=FALSE_ALARM / len(JUDGED),
            )
        )
    return Coverage(found=tuple(found), owners=owners)


def _rounds(
    mechanism: Mechanism, terms: Terms, pattern: str, owners: int, rounds: int, rng: np.random.Generator
) -> Iterator[bool | None]:
    """Whether each round's interval held the truth; None for a round without an answer."""
    domain = terms.domain
    for _ in range(rounds):
        trait, places = people(pattern, owners, SHARES.get(pattern, SHARE), rng)
        codes = codes_of(trait, domain.size, rng)
        offers = mechanism.clear(in_range(places, terms), terms, int(rng.integers(2**31)))
        offers, reports = mechanism.asked(domain.decode(codes), offers, terms, rng)
        try:
            found = mechanism.answer(reports, offers, terms)
        except EstimateError:  # the estimator cannot work with these offers at all
            yield None
            continue
        yield None if found.value is None else holds(found.simultaneous, truth_of(terms.query, codes))


def holds(interval: Figure, truth: Figure) -> bool:
    """Whether every row of an interval holds its truth.

    >>> holds((1.0, 2.0), 2.0), holds(np.array([[0, 1], [2, 3]]), np.array([0, 4]))
    (True, False)
    """
    low, high = np.asarray(interval, dtype=np.float64).T
    return bool(((low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)).all())


def truth_of(query: Query, codes: Integers) -> Figure:
    """What the query would answer if everyone's value were known.

    >>> truth_of(Count(), np.array([0, 1, 1]))
    2.0
    """
    domain = query.question.domain
    if isinstance(query, Histogram):
        return np.bincount(codes, minlength=domain.size).astype(np.float64)
    if isinstance(query, Median | Quantile):
        reached = np.cumsum(np.bincount(codes, minlength=domain.size)) >= query.p * codes.size - _ROUNDING
        return float(domain.numbers[int(np.argmax(reached))])
    if isinstance(query, Mean):
        return float(domain.numbers[codes].mean())
    assert isinstance(query, Count), "every kind of query has its truth"
    return float(codes.sum())
