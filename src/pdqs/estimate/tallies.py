"""What the reports add up to: exact, mergeable sums from which every estimate is made.

q is dyadic, so its powers and inverses are summed as integers in fixed point: any split of the reports over machines,
added up in any order, gives the same tally bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Floats, Integers
from pdqs.model.errors import ensure
from pdqs.privacy.loss import LEAST_Q
from pdqs.rounds.reports import Reports

FRACTION_BITS = 62  # for sums of figures in [0, 1]
_INVERSE_BITS = 30  # for sums of 1/q and 1/q^2, which is at most 2^32


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """Sums over the owners whose report arrived. ``owners`` counts all, ``reports`` the arrived, ``heard`` those
    of them with q >= 2^-16.

    ``powers[j-1]`` is sum q^j for j = 1..4 and ``weights[v]`` the sum of q over reports of value v, in units of 2^-62.
    Over owners with q >= 2^-16, ``inverses[j-1]`` is sum q^-j for j = 1..2, ``lifts[v]`` the sum of 1/q and
    ``squared_lifts[v]`` that of 1/q^2 over reports of value v, in units of 2^-30; a smaller q tells nothing and counts
    as 0. ``counts[v]`` is the plain number of reports of value v.
    """

    domain_size: int
    owners: int
    reports: int
    heard: int
    powers: tuple[int, ...]
    inverses: tuple[int, ...]
    counts: Integers
    weights: tuple[int, ...]
    lifts: tuple[int, ...]
    squared_lifts: tuple[int, ...]

    def merged(self, other: Tally) -> Tally:
        """The tally of both sets of reports together."""
        ensure(self.domain_size == other.domain_size, "tallies of different domains")
        return Tally(
            domain_size=self.domain_size,
            owners=self.owners + other.owners,
            reports=self.reports + other.reports,
            heard=self.heard + other.heard,
            powers=_added(self.powers, other.powers),
            inverses=_added(self.inverses, other.inverses),
            counts=self.counts + other.counts,
            weights=_added(self.weights, other.weights),
            lifts=_added(self.lifts, other.lifts),
            squared_lifts=_added(self.squared_lifts, other.squared_lifts),
        )

    def power(self, exponent: int) -> float:
        """sum q^exponent, for 1 <= exponent <= 4."""
        return self.powers[exponent - 1] / (1 << FRACTION_BITS)

    def inverse(self, exponent: int) -> float:
        """sum q^-exponent over q > 0, for 1 <= exponent <= 2."""
        return self.inverses[exponent - 1] / (1 << _INVERSE_BITS)

    @property
    def weighted(self) -> Floats:
        """sum of q over the reports of each value."""
        return np.array([w / (1 << FRACTION_BITS) for w in self.weights])

    @property
    def lifted(self) -> Floats:
        """sum of 1/q over the reports of each value."""
        return np.array([w / (1 << _INVERSE_BITS) for w in self.lifts])

    @property
    def squared_lifted(self) -> Floats:
        """sum of 1/q^2 over the reports of each value."""
        return np.array([w / (1 << _INVERSE_BITS) for w in self.squared_lifts])


def tally(reports: Reports, q: Floats) -> Tally:
    """Add up a batch of reports, each to what was asked of its owner: a value of the domain, true with chance q."""
    ensure(len(reports) == q.size, "reports and chances of different markets")
    return tally_of(q, reports.codes, reports.arrived, reports.domain.size)


def tally_of(q: Floats, codes: Integers, arrived: Booleans, domain_size: int) -> Tally:
    """The same from bare columns."""
    sums = _Sums(domain_size)
    rows = min(max(_BATCH, domain_size), 2**20)
    for start in range(0, q.size, rows):
        part = slice(start, start + rows)
        sums.add(q[part], codes[part], arrived[part])
    return sums.tally(q.size)


_BATCH = 2**15  # a dozen columns of this many stay in a core's cache


class _Sums:
    """A tally in the making."""

    def __init__(self, domain_size: int) -> None:
        self.counts = np.zeros(domain_size, dtype=np.int64)
        self.heard = 0
        self.higher_powers = [0, 0, 0]
        self.weights, self.lifts, self.squared_lifts = (_SumsByCode(domain_size) for _ in range(3))

    def add(self, q: Floats, codes: Integers, arrived: Booleans) -> None:
        if not arrived.all():
            q, codes = q[arrived], codes[arrived]
        self.counts += np.bincount(codes, minlength=self.counts.size)
        some = q >= LEAST_Q
        if not some.all():
            q, codes = q[some], codes[some]
        self.heard += int(q.size)
        squares = q * q
        for j, power in enumerate((squares, squares * q, squares * squares)):
            self.higher_powers[j] += exact_sum(power, FRACTION_BITS)
        self.weights.add(q * 2.0**FRACTION_BITS, codes)
        self.lifts.add(1.0 / q * 2.0**_INVERSE_BITS, codes)
        self.squared_lifts.add(1.0 / squares * 2.0**_INVERSE_BITS, codes)

    def tally(self, owners: int) -> Tally:
        weights, lifts, squared_lifts = (sums.totals() for sums in (self.weights, self.lifts, self.squared_lifts))
        return Tally(
            domain_size=self.counts.size,
            owners=owners,
            reports=int(self.counts.sum()),
            heard=self.heard,
            powers=(sum(weights), *self.higher_powers),
            inverses=(sum(lifts), sum(squared_lifts)),
            counts=self.counts,
            weights=weights,
            lifts=lifts,
            squared_lifts=squared_lifts,
        )


class _SumsByCode:
    """Exact sums of whole numbers below 2^62, apart for each code: high 2^30 + low, with low below 2^30."""

    def __init__(self, size: int) -> None:
        self.high, self.low = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)

    def add(self, values: Floats, codes: Integers) -> None:
        """Add floor(value), for at most 2^20 values: a float64 holds a sum of so many below 2^33 exactly."""
        units = np.floor(values)
        if float(units.max(initial=0.0)) * units.size < 2.0**53:
            self.low += self._counted(codes, units)
        else:
            high = np.floor(units * 2.0**-30)
            self.high += self._counted(codes, high)
            units -= high * 2.0**30
            if units.any():  # a q on the lattice of 2^-32 leaves nothing here
                self.low += self._counted(codes, units)
        self.high += self.low >> 30
        self.low &= 2**30 - 1

    def _counted(self, codes: Integers, weights: Floats) -> Integers:
        return np.bincount(codes, weights=weights, minlength=self.low.size).astype(np.int64)

    def totals(self) -> tuple[int, ...]:
        return tuple((high << 30) + low for high, low in zip(self.high.tolist(), self.low.tolist(), strict=True))


def exact_sum(values: Floats, bits: int) -> int:
    """The sum of floor(value 2^bits), each below 2^63, exactly.

    The plain sum is right modulo 2^64, and the sum of the upper halves says which multiple of it is meant: what the
    lower halves add to that is below 2^64 for fewer than 2^32 values.

    >>> exact_sum(np.array([0.5, 0.25, 1.0]), 62) == 2**61 + 2**60 + 2**62
    True
    """
    units = (values * 2.0**bits).astype(np.int64)
    plain, upper = int(units.sum()), int((units >> 32).sum()) << 32
    return upper + (plain - upper) % 2**64


def _added(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(ours, theirs, strict=True))
