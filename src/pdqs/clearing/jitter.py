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

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.ladder import DELTA, ladder_of
from pdqs.clearing.moved_curves import MovedCurves
from pdqs.clearing.steps import last_that
from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.errors import TermsError
from pdqs.model.money import payment_micros
from pdqs.privacy.loss import round_q_down
from pdqs.rounds.terms import Terms

LEVELS = 128
SPREAD = 0.01
EXACT = 2**16
JITTER_BINS = 2**12
_CHARGE = 1.0 + 1e-9  # as on the plain ladder: tables are right to 1e-12, and a hair more is charged than is paid

_AT_ONCE = 2**17  # places times rungs worked out in one go

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
    budget = terms.budget_micros
    low, high = _bracket(costs, budget)
    bottom = last_that(lambda g: costs.at([g])[0].most <= budget, low, high)
    top = last_that(lambda g: costs.at([g])[0].total <= budget, bottom, high)
    rungs = np.full(summary.levels.size, bottom, dtype=np.int64)
    above = np.full(summary.levels.size, top + 1, dtype=np.int64)
    open_ = np.flatnonzero(above - rungs > 1)
    while open_.size:
        middle = (rungs[open_] + above[open_]) // 2
        tried, row = np.unique(middle, return_inverse=True)
        fits = np.empty(open_.size, dtype=bool)
        for j, found in enumerate(costs.at(tried.tolist())):
            here = row == j
            fits[here] = found.needed(open_[here]) <= budget
        rungs[open_[fits]], above[open_[~fits]] = middle[fits], middle[~fits]
        open_ = open_[above[open_] - rungs[open_] > 1]
    return JitterCalibration(summary=summary, rungs=rungs)


def _bracket(costs: _Costs, budget: int) -> tuple[int, int]:
    """A rung that everyone has at least, and one that nobody is above, from markets that are not jittered.

    Charges rise with the scale, so the jittered market at rung g costs no more than the plain one at g + SPREAD / DELTA
    and no less than that at g - SPREAD / DELTA: one curve a rung instead of one a level.
    """
    lowest, highest = costs.ladder.lowest - 1, costs.ladder.highest
    reach = int(OFFSETS[-1])
    sure = last_that(lambda g: costs.plain(g).most <= budget, lowest, highest)
    last = last_that(lambda g: costs.plain(g).total <= budget, sure, highest)
    low = max(sure - reach, lowest + reach)
    return low, max(min(last + reach, highest - reach), low)


def apply_jittered(bids: Floats, words: Words, calibration: JitterCalibration, terms: Terms) -> tuple[Floats, Integers]:
    """q (on the device's grid) and payment in micro-units of a batch of owners, each at her own rung and offset."""
    levels = jitter_level(words)
    places, which = np.unique(calibration.rung_of(bids, levels) + OFFSETS[levels], return_inverse=True)
    q, payments = MovedCurves(terms, ladder_of(*terms.bid_range)).priced(bids, which.astype(np.int64), places)
    dyadic = round_q_down(q)
    return dyadic, np.where(dyadic > 0, payment_micros(payments), 0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _RungCosts:
    """What the market costs at one common rung, in micro-units."""

    total: int  # A(g) = sum_j P(b_j; s_{g+d_j})
    charges: Integers  # P(b; s_{g+d}) of each place
    aside: Integers  # P(lo; s_{g+d}) at the level of each place

    @property
    def most(self) -> int:
        """A(g) + the largest P(lo; s_{g+d}): at most the budget where everyone fits."""
        return self.total + int(self.aside.max())

    def needed(self, places: Integers) -> Integers:
        """sum_{j != i} P(b_j; s_{g+d_j}) + P(lo; s_{g+d_i}) of owners at these places."""
        return self.total - self.charges[places] + self.aside[places]


class _Costs:
    """What the market costs by common rung; each rung is worked out once, several at a time where owners are few."""

    def __init__(self, summary: JitterSummary, terms: Terms) -> None:
        self.ladder = ladder_of(summary.low, summary.high)
        self._summary, self._curves = summary, MovedCurves(terms, self.ladder)
        self._used, self._level = np.unique(summary.levels, return_inverse=True)
        self._bids = np.concatenate([np.full(self._used.size, summary.low), summary.charged_bids])
        self._known: dict[int, _RungCosts] = {}

    def at(self, rungs: list[int]) -> list[_RungCosts]:
        """The costs at these rungs."""
        missing = [g for g in rungs if g not in self._known]
        together = max(1, _AT_ONCE // self._bids.size)
        for start in range(0, len(missing), together):
            part = missing[start : start + together]
            places = np.array(part, dtype=np.int64)[:, None] + OFFSETS[self._used]
            self._known.update(zip(part, self._worked_out(places), strict=True))
        return [self._known[g] for g in rungs]

    def plain(self, rung: int) -> _RungCosts:
        """The costs at a rung if nobody's scale were moved."""
        return self._worked_out(np.full((1, self._used.size), rung, dtype=np.int64))[0]

    def _worked_out(self, places: Integers) -> list[_RungCosts]:
        """Row by row: ``places`` holds the rung of each level that has owners."""
        levels = self._used.size
        rungs, which = np.unique(places, return_inverse=True)
        which = which.reshape(places.shape)
        which = np.concatenate([which, which[:, self._level]], axis=1)
        _, payments = self._curves.priced(np.broadcast_to(self._bids, which.shape), which, rungs)
        charges = payment_micros(payments * _CHARGE)
        if charges.size and int(charges.max()) * self._summary.owners >= 2**63:
            raise TermsError("payments are too large to add up in micro-units: use a larger unit of money")
        totals = charges[:, levels:] @ self._summary.counts
        return [
            _RungCosts(int(total), row[levels:], row[:levels][self._level])
            for total, row in zip(totals.tolist(), charges, strict=True)
        ]
