"""A public jitter of the scale, so that a market of equal or coarse bids is bought from.

With one scale for all, a rule that sells nothing or a lot takes all owners of a tie or none: of 200 owners at the same
bid nothing was bought. Here a word of each owner, drawn without regard to bids, moves her scale by d_i rungs of the
ladder, up to SPREAD of the bid range either way:

    rung_i = the largest g with  sum_{j != i} P(b_j; s_{g+d_j}) + P(lo; s_{g+d_i}) <= beta
    q_i = q(b_i; s_{rung_i+d_i}),   P_i = P(b_i; s_{rung_i+d_i})

**Theorem.** Truthful, rational and within budget for every bid vector and every draw: neither rung_i nor d_i reads b_i,
so owner i faces a fixed curve with its Archer-Tardos payment; and with r the highest rung given, to owner m,
sum_i P(b_i; s_{rung_i+d_i}) <= sum_{j != m} P(b_j; s_{r+d_j}) + P(lo; s_{r+d_m}) <= beta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.ladder import DELTA, Ladder, ladder_of
from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.errors import TermsError
from pdqs.model.money import payment_micros
from pdqs.pricing.payment import Curve, curve
from pdqs.privacy.loss import round_q_down
from pdqs.rounds.terms import Terms

LEVELS = 128
SPREAD = 0.01
EXACT = 2**16
JITTER_BINS = 2**12
_CHARGE = 1.0 + 1e-9  # as on the plain ladder: tables are right to 1e-12, and a hair more is charged than is paid

OFFSETS: Integers = np.rint(np.linspace(-SPREAD / DELTA, SPREAD / DELTA, LEVELS)).astype(np.int64)
OFFSETS.flags.writeable = False


def jitter_level(words: Words) -> Integers:
    """Which of LEVELS equally likely offsets a 32-bit word draws.

    >>> jitter_level(np.array([0, 2**31, 2**32 - 1], dtype=np.uint32)).tolist()
    [0, 64, 127]
    """
    levels: Integers = (words.astype(np.int64) * LEVELS) >> 32
    return levels


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JitterSummary:
    """How many owners of each level stand at each charged bid; places ascend by level, then by bid.

    Up to EXACT owners the bids are their own, beyond it the lower edges of JITTER_BINS bins: by their number alone.
    """

    low: float
    high: float
    levels: Integers
    charged_bids: Floats
    counts: Integers

    @property
    def owners(self) -> int:
        """How many owners were counted."""
        return int(self.counts.sum())

    def merged(self, other: JitterSummary) -> JitterSummary:
        """The summary of both sets of owners together."""
        assert (self.low, self.high) == (other.low, other.high), "summaries of different bid ranges"
        places = (
            np.concatenate([self.levels, other.levels]),
            np.concatenate([self.charged_bids, other.charged_bids]),
            np.concatenate([self.counts, other.counts]),
        )
        return _gathered(*places, self.low, self.high)


def summarise_jittered(bids: Floats, words: Words, low: float, high: float) -> JitterSummary:
    """Count owners by level and bid."""
    return _gathered(jitter_level(words), bids, np.ones(bids.size, dtype=np.int64), low, high)


def _gathered(levels: Integers, bids: Floats, counts: Integers, low: float, high: float) -> JitterSummary:
    if int(counts.sum()) > EXACT:
        cells = np.zeros(LEVELS * JITTER_BINS, dtype=np.int64)
        np.add.at(cells, levels * JITTER_BINS + _bin(bids, low, high), counts)
        used = np.flatnonzero(cells)
        edges = _edges(low, high)[used % JITTER_BINS]
        return JitterSummary(low=low, high=high, levels=used // JITTER_BINS, charged_bids=edges, counts=cells[used])
    order = np.lexsort((bids, levels))
    levels, bids, counts = levels[order], bids[order], counts[order]
    first = np.ones(bids.size, dtype=bool)
    first[1:] = (np.diff(levels) != 0) | (np.diff(bids) != 0)
    starts = np.flatnonzero(first)
    summed = np.add.reduceat(counts, starts) if starts.size else counts
    return JitterSummary(low=low, high=high, levels=levels[starts], charged_bids=bids[starts], counts=summed)


def _edges(low: float, high: float) -> Floats:
    edges: Floats = low + (high - low) * (np.arange(JITTER_BINS) / JITTER_BINS)
    return edges


def _bin(bids: Floats, low: float, high: float) -> Integers:
    """The last edge not above the bid."""
    return np.searchsorted(_edges(low, high), bids, side="right").astype(np.int64) - 1


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JitterCalibration:
    """The rung of each charged place; within a level rungs fall as bids rise."""

    summary: JitterSummary
    rungs: Integers

    def rung_of(self, bids: Floats, levels: Integers) -> Integers:
        """The rung of owners who were counted."""
        summary = self.summary
        charged = (
            bids
            if summary.owners <= EXACT
            else _edges(summary.low, summary.high)[_bin(bids, summary.low, summary.high)]
        )
        found = np.empty(bids.size, dtype=np.int64)
        starts = np.searchsorted(summary.levels, np.arange(LEVELS + 1))
        for level in np.unique(levels):
            part, here = slice(starts[level], starts[level + 1]), levels == level
            found[here] = self.rungs[part][np.searchsorted(summary.charged_bids[part], charged[here])]
        return found


def calibrate_jittered(summary: JitterSummary, terms: Terms) -> JitterCalibration:
    """Find every place's rung from the counts alone."""
    costs = _Costs(summary, terms)
    lowest, highest = costs.ladder.lowest - 1 - int(OFFSETS[0]), costs.ladder.highest - int(OFFSETS[-1])
    budget = terms.budget_micros
    bottom = _last(lambda g: costs.total(g) + int(costs.aside(g).max()) <= budget, lowest, highest)
    top = _last(lambda g: costs.total(g) <= budget, bottom, highest)
    rungs = np.full(summary.levels.size, bottom, dtype=np.int64)
    above = np.full(summary.levels.size, top + 1, dtype=np.int64)
    while (above - rungs > 1).any():
        middle = (rungs + above) // 2
        fits = np.empty(rungs.size, dtype=bool)
        for g in np.unique(middle[above - rungs > 1]).tolist():
            here = middle == g
            others = costs.total(g) - costs.charges(g)[here]
            fits[here] = others + costs.aside(g)[summary.levels[here]] <= budget
        open_ = above - rungs > 1
        rungs, above = np.where(open_ & fits, middle, rungs), np.where(open_ & ~fits, middle, above)
    return JitterCalibration(summary=summary, rungs=rungs)


def apply_jittered(bids: Floats, words: Words, calibration: JitterCalibration, terms: Terms) -> tuple[Floats, Integers]:
    """q (on the device's grid) and payment in micro-units of a batch of owners, each at her own rung and offset."""
    ladder = ladder_of(*terms.bid_range)
    levels = jitter_level(words)
    places = calibration.rung_of(bids, levels) + OFFSETS[levels]
    q, payments = np.zeros(bids.size), np.zeros(bids.size)
    for place in np.unique(places).tolist():
        chosen = _curve(terms, ladder, place)
        if chosen is not None:
            here = places == place
            q[here] = chosen.q(bids[here])
            payments[here] = chosen.payment_at(bids[here], q[here])
    dyadic = round_q_down(q)
    return dyadic, np.where(dyadic > 0, payment_micros(payments), 0)


def _curve(terms: Terms, ladder: Ladder, place: int) -> Curve | None:
    scale = ladder.scale(place)
    return curve(terms.bound_rule, scale, terms.setting) if scale > 0 else None


def _last(holds: Callable[[int], bool], below: int, high: int) -> int:
    """The largest g in (below, high] where a condition that is true up to some point holds; ``below`` if nowhere."""
    above = high + 1
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(middle) else (below, middle)
    return below


class _Costs:
    """What the market costs when the common rung is g; each rung is worked out once."""

    def __init__(self, summary: JitterSummary, terms: Terms) -> None:
        self.ladder = ladder_of(summary.low, summary.high)
        self._summary, self._terms = summary, terms
        self._used = np.unique(summary.levels)
        self._starts = np.searchsorted(summary.levels, np.append(self._used, LEVELS))
        self._known: dict[int, tuple[int, Integers, Integers]] = {}

    def total(self, rung: int) -> int:
        """A(g) = sum_j P(b_j; s_{g+d_j})."""
        return self._at(rung)[0]

    def charges(self, rung: int) -> Integers:
        """P(b; s_{g+d}) of each place."""
        return self._at(rung)[1]

    def aside(self, rung: int) -> Integers:
        """P(lo; s_{g+d}) of each level that has owners, 0 for the others."""
        return self._at(rung)[2]

    def _at(self, rung: int) -> tuple[int, Integers, Integers]:
        if rung not in self._known:
            summary = self._summary
            charges, aside = np.zeros(summary.levels.size, dtype=np.int64), np.zeros(LEVELS, dtype=np.int64)
            for j, level in enumerate(self._used.tolist()):
                chosen = _curve(self._terms, self.ladder, rung + int(OFFSETS[level]))
                if chosen is None:
                    continue
                part = slice(self._starts[j], self._starts[j + 1])
                bids = np.append(summary.low, summary.charged_bids[part])
                charged = payment_micros(chosen.payment(bids) * _CHARGE)
                aside[level], charges[part] = charged[0], charged[1:]
            if int(aside.max()) * summary.owners >= 2**63:
                raise TermsError("payments are too large to add up in micro-units: use a larger unit of money")
            self._known[rung] = int(np.dot(charges, summary.counts)), charges, aside
        return self._known[rung]
