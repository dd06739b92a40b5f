"""Statistics that are means: shares, cumulative shares, means of numbers.

Each is the mean over owners of a g(value). With g' = g - centre, where ``centre`` is the mean of g over the domain, a
random value contributes nothing on average, and E[g'(report_i)] = q_i g'(value_i): that is all an estimator needs.
A functional gives sum_v H_v g'(v) and sum_v H_v g'(v)^2 for any histogram H over the values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.query import Count, Histogram, Mean, Median, Quantile
from pdqs.rounds.terms import Terms


class Functional(Protocol):
    """One statistic, or one per value of the domain, as arrays."""

    def __hash__(self) -> int:
        """What is read off a tally is kept by the functional it was read for."""
        ...

    @property
    def centre(self) -> Floats:
        """The mean of g over the domain."""
        ...

    @property
    def spread(self) -> Floats:
        """The variance of g over the domain."""
        ...

    @property
    def reach(self) -> tuple[Floats, Floats]:
        """The least and the largest g."""
        ...

    @property
    def shrinks_to(self) -> Floats:
        """Where the shrunk estimator pulls."""
        ...

    def first(self, histogram: Floats) -> Floats:
        """sum_v H_v g'(v); of several histograms, one in a row, a row of sums for each."""
        ...

    def second(self, histogram: Floats) -> Floats:
        """sum_v H_v g'(v)^2, in the same way."""
        ...


@dataclass(frozen=True, slots=True)
class _Belonging(ABC):
    """Whether an owner belongs to each of some sets of values: every g is 0 or 1."""

    size: int

    @property
    @abstractmethod
    def centre(self) -> Floats:
        """The part of the domain in each set."""

    @abstractmethod
    def counted(self, histogram: Floats) -> Floats:
        """sum of H_v over each set."""

    @property
    def spread(self) -> Floats:
        return self.centre * (1.0 - self.centre)

    @property
    def reach(self) -> tuple[Floats, Floats]:
        return np.zeros(self.size), np.ones(self.size)

    def first(self, histogram: Floats) -> Floats:
        first: Floats = self.counted(histogram) - self.centre * histogram.sum(axis=-1, keepdims=True)
        return first

    def second(self, histogram: Floats) -> Floats:
        centre, whole = self.centre, histogram.sum(axis=-1, keepdims=True)
        second: Floats = self.counted(histogram) * (1.0 - 2.0 * centre) + centre**2 * whole
        return second


@final
@dataclass(frozen=True, slots=True)
class Shares(_Belonging):
    """The share of owners at each value: g(v) = 1[v = j] for every j."""

    @property
    def centre(self) -> Floats:
        return np.full(self.size, 1.0 / self.size)

    @property
    def shrinks_to(self) -> Floats:
        return self.centre

    def counted(self, histogram: Floats) -> Floats:
        return histogram


@final
@dataclass(frozen=True, slots=True)
class CumulativeShares(_Belonging):
    """The share of owners at or below each value of an ordered domain: g(v) = 1[v <= j] for every j."""

    @property
    def centre(self) -> Floats:
        return np.arange(1, self.size + 1) / self.size

    @property
    def shrinks_to(self) -> Floats:
        return np.full(self.size, 0.5)

    def counted(self, histogram: Floats) -> Floats:
        return np.cumsum(histogram, axis=-1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class NumberMean:
    """The mean of the owners' numbers: g(v) = the number that v stands for. Arrays of one."""

    numbers: Floats

    @property
    def centre(self) -> Floats:
        return np.array([self.numbers.mean()])

    @property
    def spread(self) -> Floats:
        return np.array([self.numbers.var()])

    @property
    def reach(self) -> tuple[Floats, Floats]:
        return np.array([self.numbers.min()]), np.array([self.numbers.max()])

    @property
    def shrinks_to(self) -> Floats:
        return self.centre

    def first(self, histogram: Floats) -> Floats:
        return _dots(histogram, self.numbers - self.centre)

    def second(self, histogram: Floats) -> Floats:
        return _dots(histogram, (self.numbers - self.centre) ** 2)


def _dots(histogram: Floats, figures: Floats) -> Floats:
    """Each histogram times the figures, one by one: the same bits however many there are."""
    rows = histogram.reshape(-1, figures.size)
    return np.array([np.dot(row, figures) for row in rows]).reshape(*histogram.shape[:-1], 1)


def statistic_of(terms: Terms) -> Functional:
    """The functional that a query is read from; of smaller questions, the shares or numbers of their answers."""
    query = terms.query
    if not terms.asking.whole:
        return NumberMean(terms.asking.answers.numbers) if isinstance(query, Mean) else Shares(terms.kappa)
    if isinstance(query, Count):
        return Shares(2)
    if isinstance(query, Histogram):
        return Shares(query.domain.size)
    if isinstance(query, Median | Quantile):
        return CumulativeShares(query.domain.size)
    if isinstance(query, Mean):
        return NumberMean(query.domain.numbers)
    raise AssertionError(f"no statistic is known for {query.kind}")
