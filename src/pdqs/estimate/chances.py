"""Reports of owners drawn by lottery, added up by stratum: exact, mergeable, right whatever prices say about answers.

An owner asked with chance rho stands for w = 1/rho owners. With y = centre + g'(report)/q the report made right, the
mean over a stratum is sum w y / sum w (ratio form), and over the market sum_h (n_h/n) mu_h. Missing reports are taken
to be missing at random within a stratum: there r = rho times the share of the asked who reported (section 9 of
docs/theory).

All sums are kept as whole numbers of units of 2^-28, so any split over machines gives the same tally bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.estimate.functionals import Functional
from pdqs.estimate.strata import GAP, LEAST_CHANCE, Strata
from pdqs.model.arrays import Booleans, Floats, Integers
from pdqs.model.errors import EstimateError
from pdqs.privacy.loss import LEAST_LIFTED_Q

_BITS = 28
_UNIT = 2.0**-_BITS
_LIMB = 2.0**30
_ROWS = 2**20  # a float64 holds the sum of this many limbs exactly

Table = tuple[tuple[int, ...], ...]
"""Exact sums: a row for each stratum, with one figure or one for each value reported."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ChanceTally:
    """Sums over a market by stratum h, with w = 1/chance over the reports that arrived.

    ``weights`` is sum w, ``squares`` sum w^2, ``tilted`` sum w^2/q, ``steep`` sum w^2/q^2, and ``lifts`` sum w/q apart
    for each reported value; all in units of 2^-28. ``owners``, ``asked`` and ``reported`` count by h;
    ``dearer`` counts owners who ask more than anyone who reported, ``dearer_chances`` adds up their chances in units of
    2^-32, ``unreachable`` counts those with (as good as) no chance, ``least_q`` is the smallest q of a report (or 1).
    """

    owners: Integers
    asked: Integers
    reported: Integers
    weights: Table
    lifts: Table
    squares: Table
    tilted: Table
    steep: Table
    dearer: int
    dearer_chances: int
    unreachable: int
    least_q: float

    def merged(self, other: ChanceTally) -> ChanceTally:
        """The tally of both sets of owners together."""
        assert self.owners.size == other.owners.size, "tallies of different strata"
        return ChanceTally(
            owners=self.owners + other.owners,
            asked=self.asked + other.asked,
            reported=self.reported + other.reported,
            weights=_added(self.weights, other.weights),
            lifts=_added(self.lifts, other.lifts),
            squares=_added(self.squares, other.squares),
            tilted=_added(self.tilted, other.tilted),
            steep=_added(self.steep, other.steep),
            dearer=self.dearer + other.dearer,
            dearer_chances=self.dearer_chances + other.dearer_chances,
            unreachable=self.unreachable + other.unreachable,
            least_q=min(self.least_q, other.least_q),
        )

    @property
    def everyone(self) -> int:
        """How many owners there are, heard of or not."""
        return int(self.owners.sum()) + self.dearer + self.unreachable

    @property
    def gap(self) -> float:
        """z, the share of owners whom no report can speak for."""
        return (self.dearer + self.unreachable) / self.everyone if self.everyone else 1.0

    @property
    def barred(self) -> float:
        """The part of the gap that could never be asked."""
        return self.unreachable / self.everyone if self.everyone else 1.0

    @property
    def unheard(self) -> float:
        """g, the reports to be expected from those dearer than all who reported: e^-g is the chance of none."""
        asked = int(self.asked.sum())
        rate = int(self.reported.sum()) / asked if asked else 0.0
        return self.dearer_chances * 2.0**-32 * rate


def tally_chances(
    strata: Strata,
    *,
    bids: Floats,
    chances: Floats,
    q: Floats,
    asked: Booleans,
    codes: Integers,
    arrived: Booleans,
    domain_size: int,
) -> ChanceTally:
    """Add up one batch of owners, all columns in the same order; ``codes`` matter where a report arrived only."""
    if bool((arrived & ~asked).any()):
        row = int(np.argmax(arrived & ~asked)) + 1
        raise EstimateError(f"row {row}: a report from an owner who was not asked")
    if bool((arrived & (chances <= 0.0)).any()):
        row = int(np.argmax(arrived & (chances <= 0.0))) + 1
        raise EstimateError(f"row {row}: a report from an owner whose chance of being asked is 0")
    number = strata.of(bids, chances)
    inside = number != GAP
    told = arrived & inside & (q >= LEAST_LIFTED_Q)
    size = len(strata)
    rows, cells = number[told], number[told] * domain_size + codes[told]
    w, lift = 1.0 / chances[told], 1.0 / q[told]
    no_chance = chances < LEAST_CHANCE
    dearer = ~inside & ~no_chance
    return ChanceTally(
        owners=np.bincount(number[inside], minlength=size),
        asked=np.bincount(number[inside & asked & (q >= LEAST_LIFTED_Q)], minlength=size),
        reported=np.bincount(number[told], minlength=size),
        weights=_summed(w, rows, (size, 1)),
        lifts=_summed(w * lift, cells, (size, domain_size)),
        squares=_summed(w * w, rows, (size, 1)),
        tilted=_summed(w * w * lift, rows, (size, 1)),
        steep=_summed((w * lift) ** 2, rows, (size, 1)),
        dearer=int(np.count_nonzero(dearer)),
        # Where some of the dear were heard and set aside, there is no luck of hearing none to reckon with.
        dearer_chances=0 if strata.trimmed else int(np.floor(chances[dearer] * 2.0**32).astype(np.int64).sum()),
        unreachable=int(np.count_nonzero(no_chance)),
        least_q=float(q[told].min(initial=1.0)),
    )


def _summed(values: Floats, cells: Integers, shape: tuple[int, int]) -> Table:
    """The sum of floor(value 2^28) in each cell, exactly: values below 2^64 in three limbs of 30 bits."""
    size = shape[0] * shape[1]
    limbs = np.zeros((3, size), dtype=np.int64)
    for start in range(0, values.size, _ROWS):
        units = np.floor(values[start : start + _ROWS] / _UNIT)
        at = cells[start : start + _ROWS]
        for limb in (2, 1, 0):
            part = np.floor(units / _LIMB**limb)
            units = units - part * _LIMB**limb
            limbs[limb] += np.bincount(at, weights=part, minlength=size).astype(np.int64)
    low, middle, high = limbs.tolist()
    totals = [a + (b << 30) + (c << 60) for a, b, c in zip(low, middle, high, strict=True)]
    return tuple(tuple(totals[h * shape[1] : (h + 1) * shape[1]]) for h in range(shape[0]))


def _added(ours: Table, theirs: Table) -> Table:
    return tuple(tuple(a + b for a, b in zip(row, other, strict=True)) for row, other in zip(ours, theirs, strict=True))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """What a tally says of one functional: floats, a row for each stratum that was heard from, a column for each g.

    ``part`` is n_h/n over these strata, ``weight`` N = sum w, ``lift`` sum w/q, ``square`` sum w^2, ``tilted``
    sum w^2/q and ``steep`` sum w^2/q^2, all with w = 1/(chance times response rate); ``mean`` is mu_h and ``second``
    the mean of g'^2 in h.
    """

    part: Floats
    weight: Floats
    lift: Floats
    square: Floats
    tilted: Floats
    steep: Floats
    mean: Floats
    second: Floats

    @property
    def estimate(self) -> Floats:
        """sum_h (n_h/n) mu_h, for each g."""
        total: Floats = self.part @ self.mean
        return total

    @property
    def effective(self) -> Floats:
        """n_eff = N^2 / sum w^2 of each stratum: as many equal weights would say as much."""
        return self.weight**2 / self.square

    @property
    def information(self) -> float:
        """1 / sum_h (n_h/n)^2 sum (w/q)^2 / N^2: with equal weights n_eff q^2, as sum q^2 is without a lottery."""
        return float(1.0 / np.sum(self.part**2 * self.steep / self.weight**2)) if self.part.size else 0.0


@lru_cache(maxsize=8)  # an answer needs it for its estimate, its interval, its information and its bands
def sampled(statistic: Functional, tally: ChanceTally) -> Sampled:
    """The ratio-form estimate of every stratum and what its variance needs; nothing heard gives no rows."""
    heard = np.flatnonzero(tally.reported)
    lifts = np.array(tally.lifts, dtype=np.float64)[heard] * _UNIT
    weight = _totals(tally.weights)[heard]
    rate = tally.reported[heard] / tally.asked[heard]
    centre, spread = statistic.centre, statistic.spread
    first, squares = statistic.first(lifts), statistic.second(lifts)
    steepness = lifts.sum(axis=1, keepdims=True)
    owners = tally.owners[heard]
    return Sampled(
        part=owners / max(int(owners.sum()), 1),
        weight=weight / rate,
        lift=steepness[:, 0] / rate,
        square=_totals(tally.squares)[heard] / rate**2,
        tilted=_totals(tally.tilted)[heard] / rate**2,
        steep=_totals(tally.steep)[heard] / rate**2,
        mean=centre + first / weight[:, None],
        second=spread + (squares - spread * steepness) / weight[:, None],
    )


def _totals(table: Table) -> Floats:
    return np.array([sum(row) * _UNIT for row in table], dtype=np.float64)
