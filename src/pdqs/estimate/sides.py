r"""Answers to "is it at most m?", added up by threshold m: exact, mergeable, small whatever the domain.

For a yes (Y = 1) or no (Y = 0) told with chance of truth q, and the share p that the quantile asks about,

.. math:: h = \frac{Y - (1-q)/2}{q} - p, \quad \pi = q p + \frac{1-q}{2}, \quad v = \frac{\pi(1-\pi)}{q^2}, \quad
          k_3 = \frac{\pi(1-\pi)(1-2\pi)}{q^3}

so that E[h] = F(m) - p, and v and k3 are its variance and third cumulant where F(m) = p. Weights a are 1/v when bids
say nothing about values, 1/chance when owners were drawn by lottery (section 10 of docs/theory).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.estimate.whole_sums import Sums, added, as_floats, exact_sums
from pdqs.model.arrays import Floats, Integers, read_only
from pdqs.model.errors import EstimateError
from pdqs.privacy.loss import LEAST_LIFTED_Q
from pdqs.privacy.noise import side_noise


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SideTally:
    """Sums for each threshold that was asked about, rising: of a h, a^2 v, a^2 h^2, a^3 k3, a and a^2."""

    p: float
    reports: int
    thresholds: Integers
    first: Sums
    variance: Sums
    square: Sums
    third: Sums
    weight: Sums
    weight_square: Sums

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", read_only(self.thresholds))

    def merged(self, other: SideTally) -> SideTally:
        """The tally of both sets of answers together."""
        assert self.p == other.p, "tallies about different shares"
        thresholds = np.union1d(self.thresholds, other.thresholds)
        here, there = (np.searchsorted(thresholds, each.thresholds).tolist() for each in (self, other))

        def both(ours: Sums, theirs: Sums) -> Sums:
            return added(_placed(ours, here, thresholds.size), _placed(theirs, there, thresholds.size))

        return SideTally(
            p=self.p,
            reports=self.reports + other.reports,
            thresholds=thresholds,
            first=both(self.first, other.first),
            variance=both(self.variance, other.variance),
            square=both(self.square, other.square),
            third=both(self.third, other.third),
            weight=both(self.weight, other.weight),
            weight_square=both(self.weight_square, other.weight_square),
        )


def _placed(sums: Sums, at: list[int], size: int) -> Sums:
    places = [0] * size
    for place, total in zip(at, sums, strict=True):
        places[place] = total
    return tuple(places)


def no_answers(p: float) -> SideTally:
    """The tally of nobody."""
    return SideTally(
        p=p,
        reports=0,
        thresholds=np.empty(0, dtype=np.int64),
        first=(),
        variance=(),
        square=(),
        third=(),
        weight=(),
        weight_square=(),
    )


def tally_sides(thresholds: Integers, answers: Integers, q: Floats, p: float, *, chances: Floats | None) -> SideTally:
    """Add up one batch of answers that arrived, all columns in the same order.

    ``chances`` are those with which a lottery asked; None says that bids tell nothing about values.
    """
    if chances is not None and bool((chances <= 0.0).any()):
        row = int(np.argmax(chances <= 0.0)) + 1
        raise EstimateError(f"row {row}: a report from an owner whose chance of being asked is 0")
    told = q >= LEAST_LIFTED_Q
    thresholds, answers, q = thresholds[told], answers[told], q[told]
    at, cells = np.unique(thresholds, return_inverse=True)
    h = (answers - (1.0 - q) / 2.0) / q - p
    pi = q * p + (1.0 - q) / 2.0
    v = side_noise(q, p)
    a = 1.0 / v if chances is None else 1.0 / chances[told]

    def summed(values: Floats) -> Sums:
        return exact_sums(values, cells, at.size)

    return SideTally(
        p=p,
        reports=int(q.size),
        thresholds=at,
        first=summed(a * h),
        variance=summed(a * a * v),
        square=summed((a * h) ** 2),
        third=summed(a**3 * v * (1.0 - 2.0 * pi) / q),
        weight=summed(a),
        weight_square=summed(a * a),
    )


@final
@dataclass(frozen=True, eq=False)
class SideSums:
    """A tally as numbers, an array a sum; ``mirrored`` swaps "at most" and "more than"."""

    first: Floats
    variance: Floats
    square: Floats
    third: Floats
    weight: Floats
    weight_square: Floats

    def mirrored(self) -> SideSums:
        """The same from above: thresholds falling, h and k3 with the other sign."""
        return SideSums(
            -self.first[::-1],
            self.variance[::-1],
            self.square[::-1],
            -self.third[::-1],
            self.weight[::-1],
            self.weight_square[::-1],
        )


@lru_cache(maxsize=8)  # a dozen windows are read off the same tally
def side_sums(tally: SideTally) -> SideSums:
    """The tally's sums as numbers."""
    parts = (tally.first, tally.variance, tally.square, tally.third, tally.weight, tally.weight_square)
    return SideSums(*(as_floats(part) for part in parts))
