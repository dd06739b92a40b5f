"""Score intervals: every share that the reports do not contradict, with the variance taken *at that share*.

A Wald interval takes the variance at the estimate, which is far off when little was bought or the share is rare: its
95 % cover 66 % at information 7. Where the variance is a quadratic in the share, so is the condition, and its two roots
are the ends (section 12 of docs/theory).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.functionals import Functional
from pdqs.estimate.tallies import Tally, tally, tally_of
from pdqs.model.arrays import Floats
from pdqs.rounds.reports import Reports

BANDS = 32
"""Bands of q, equal in width, in which the two-step weights are taken to be q times a constant."""

Ends = tuple[Floats, Floats]
Quadratic = tuple[Floats, Floats, Floats]
"""V(p) = V[0] + V[1] p + V[2] p^2, for each cell."""


def solve(estimate: Floats, variance: Quadratic, reach: Floats) -> Ends:
    """The ends of {p in [0, 1] : (estimate - p)^2 <= reach^2 V(p)}.

    When nothing in [0, 1] passes (an estimate far outside), the nearer end of [0, 1] stands for the estimate: the
    interval is never a single point.

    >>> low, high = solve(np.array([0.5]), (np.array([0.0]), np.array([0.01]), np.array([-0.01])), np.array([1.96]))
    >>> low.round(4).tolist(), high.round(4).tolist()  # Wilson's interval for 50 of 100
    ([0.4038], [0.5962])
    """
    low, high = _roots(estimate, variance, reach)
    empty = ~((low <= high) & (high > 0.0) & (low < 1.0))
    if empty.any():
        inside = _roots(np.clip(estimate, 0.0, 1.0), variance, reach)
        low, high = np.where(empty, inside[0], low), np.where(empty, inside[1], high)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _roots(estimate: Floats, variance: Quadratic, reach: Floats) -> Ends:
    """Roots of a p^2 - 2 b p + c; nan where there are none."""
    k = reach**2
    a, b, c = 1.0 - k * variance[2], estimate + 0.5 * k * variance[1], estimate**2 - k * variance[0]
    under = b * b - a * c
    root = np.sqrt(np.where(under >= 0.0, under, np.nan))
    # A variance that opens upward faster than p^2 rules nothing out: with so little heard, all of [0, 1] stands.
    some = a > 1e-12
    safe = np.where(some, a, 1.0)
    return np.where(some, (b - root) / safe, 0.0), np.where(some, (b + root) / safe, 1.0)


Bands = Mapping[int, Tally]
"""The tally of each band of q that holds an owner: band b has q in [b/32, (b+1)/32)."""


def banded_tally(reports: Reports, q: Floats) -> Bands:
    """Add up a batch of owners, each band of q apart; each counts its own owners, whoever reported."""
    band = np.minimum(q * BANDS, BANDS - 1).astype(np.uint8)
    if not band.size or band.min() == band.max():
        return {int(band[0]) if band.size else 0: tally(reports, q)}
    order = np.argsort(band, kind="stable")
    ends = np.flatnonzero(np.diff(band[order])) + 1
    parts = np.split(order, ends)
    return {
        int(band[part[0]]): tally_of(q[part], reports.codes[part], reports.arrived[part], reports.domain.size)
        for part in parts
    }


def merged_bands(ours: Bands, theirs: Bands) -> Bands:
    """The bands of two sets of owners together."""
    both = {b: ours[b].merged(theirs[b]) for b in ours.keys() & theirs.keys()}
    return {**ours, **theirs, **both}


@final
@dataclass(frozen=True, eq=False)
class Scored:
    """Shares with their score intervals; ``estimate`` may lie outside [0, 1]."""

    estimate: Floats
    low: Floats
    high: Floats


def weighted_scores(statistic: Functional, bands: Bands, owners: int, reach: float) -> Scored:
    """Two-step weights for shares (g is 0 or 1), then the score interval.

    A report's chance of Y = 1 is p_i = q_i p + (1 - q_i) x, x the centre. First with weights q_i; then with
    q_i / (p_i (1 - p_i)) at the first estimate, drawn a little toward x so that no weight runs away. The population is
    finite: p(1-p)/n is taken off, n = ``owners``.
    """
    x = statistic.centre
    information = sum(bands[b].power(2) for b in sorted(bands))  # floats add up alike in one order only
    if not information:
        return Scored(x.copy(), np.zeros_like(x), np.ones_like(x))
    plain, _ = _combined(statistic, bands, owners, {b: np.ones_like(x) for b in bands})
    first = (information * np.clip(plain, 0.0, 1.0) + 4.0 * x) / (information + 4.0)
    factors = {b: _factor(band, first, x) for b, band in bands.items()}
    estimate, variance = _combined(statistic, bands, owners, factors)
    low, high = solve(estimate, variance, np.full_like(x, reach))
    return Scored(estimate, low, high)


def _factor(band: Tally, p: Floats, x: Floats) -> Floats:
    """1 / (p_i (1 - p_i)) at the band's typical q."""
    s1 = band.power(1)
    q = band.power(2) / s1 if s1 else 0.0
    chance = q * p + (1.0 - q) * x
    return np.asarray(1.0 / np.maximum(chance * (1.0 - chance), 1e-9))


def _combined(
    statistic: Functional, bands: Bands, owners: int, factors: Mapping[int, Floats]
) -> tuple[Floats, Quadratic]:
    """The estimate with weights q times the band's factor, and its variance as a quadratic in the share."""
    x = statistic.centre
    total, weight = np.zeros_like(x), np.zeros_like(x)
    v0, v1, v2 = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for b, band in sorted(bands.items()):
        f = factors[b]
        s2, s3, s4 = band.power(2), band.power(3), band.power(4)
        total += f * statistic.first(band.weighted)
        weight += f * s2
        v0 += f * f * (x * (1 - x) * s2 - x * (1 - 2 * x) * s3 - x * x * s4)
        v1 += f * f * ((1 - 2 * x) * s3 + 2 * x * s4)
        v2 -= f * f * s4
    variance = (v0 / weight**2, v1 / weight**2 - 1.0 / owners, v2 / weight**2 + 1.0 / owners)
    return x + total / weight, variance


def fixed_point(ends: Callable[[Floats], Floats], start: Floats, *, steps: int = 4) -> Floats:
    """Ends whose reach depends on where they lie: ``ends`` again from the last ones."""
    found = start
    for _ in range(steps):
        found = ends(found)
    return found
