"""What the reports add up to: exact, mergeable sums from which every estimate is made.

q is dyadic, so its powers and inverses are summed as integers in fixed point: any split of the reports over machines,
added up in any order, gives the same tally bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.offers import Offers
from pdqs.randomiser import Reports
from pdqs.types import Floats, Integers

FRACTION_BITS = 62  # for sums of figures in [0, 1]
_LEAST_Q = 2.0**-16
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
        assert self.domain_size == other.domain_size, "tallies of different domains"
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


def tally(reports: Reports, offers: Offers) -> Tally:
    """Add up a batch of reports."""
    assert len(reports) == len(offers), "reports and offers of different markets"
    k = offers.domain.size
    q, codes = offers.q[reports.arrived], reports.codes[reports.arrived]
    some = q >= _LEAST_Q
    heard, heard_codes = q[some], codes[some]
    squares = heard * heard
    return Tally(
        domain_size=k,
        owners=len(offers),
        reports=int(codes.size),
        heard=int(heard.size),
        powers=tuple(exact_sum(p, FRACTION_BITS) for p in (heard, squares, squares * heard, squares * squares)),
        inverses=tuple(exact_sum(p, _INVERSE_BITS) for p in (1.0 / heard, 1.0 / squares)),
        counts=np.bincount(codes, minlength=k).astype(np.int64),
        weights=_exact_sums(heard, heard_codes, k, FRACTION_BITS),
        lifts=_exact_sums(1.0 / heard, heard_codes, k, _INVERSE_BITS),
        squared_lifts=_exact_sums(1.0 / squares, heard_codes, k, _INVERSE_BITS),
    )


def exact_sum(values: Floats, bits: int) -> int:
    """The sum of floor(value 2^bits), exactly: halves of 64-bit words added apart, so that nothing overflows."""
    units = (values * 2.0**bits).astype(np.uint64)
    low, high = units & np.uint64(0xFFFFFFFF), units >> np.uint64(32)
    return int(low.sum(dtype=np.uint64)) + (int(high.sum(dtype=np.uint64)) << 32)


def _exact_sums(values: Floats, codes: Integers, size: int, bits: int) -> tuple[int, ...]:
    """The same, apart for each code. A float64 holds a sum of 2^21 halves of 32 bits exactly, hence the batches."""
    totals = [0] * size
    for start in range(0, values.size, 2**20):
        units = (values[start : start + 2**20] * 2.0**bits).astype(np.uint64)
        batch = codes[start : start + 2**20]
        low = np.bincount(batch, weights=(units & np.uint64(0xFFFFFFFF)).astype(np.float64), minlength=size)
        high = np.bincount(batch, weights=(units >> np.uint64(32)).astype(np.float64), minlength=size)
        for code in np.flatnonzero(low + high):
            totals[code] += int(low[code]) + (int(high[code]) << 32)
    return tuple(totals)


def _added(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(ours, theirs, strict=True))
