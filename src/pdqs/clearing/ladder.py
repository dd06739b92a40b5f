r"""Truthful and within budget, exactly, and ties told apart by lot: leave-one-out clearing (section 5 of docs/theory).

The scale lives on a fixed public ladder s_g = s_0 (1 + delta)^g that knows nothing of the bids, and a word w_i of each
owner, drawn without regard to bids, says who climbs first. With g_i the highest rung for everyone,

    g_i = the largest g with  sum_{j != i} P(b_j; s_g) + P(lo; s_g) <= beta
    rung_i = g_i + 1 if  sum_{j != i} P(b_j; s_{g_i + [w_j <= w_i]}) + P(lo; s_{g_i + 1}) <= beta,  else g_i
    q_i = q(b_i; s_{rung_i}),   P_i = P(b_i; s_{rung_i})

**Theorem.** Truthful, rational and within budget for every bid vector and every draw. *Proof.* Neither sum reads b_i,
so owner i faces a fixed curve with its Archer-Tardos payment. Budget: order the steps by which owners climb, from
everyone at rung g to everyone at g + 1, those of the lowest words first. At any step the payments of all are what they
were or more, and rung_i is owner i's place at the last step that sum_{j != i} P_j + P(lo) can be paid at, in her place
for P_i. With m the owner whose last step is the highest, the others' payments are at most those at her step, and so
sum_i P_i <= sum_{j != m} P_j + P(lo) <= beta there. []

Without the words a rule that buys nothing or a lot takes all owners of a tie or none of them: of 200 owners at one bid
nothing was bought. With them nobody gets less than without.

Three steps, so that streams and clusters can share them: :func:`summarise` counts owners (mergeable), :func:`calibrate`
finds the rungs from the counts alone, :func:`apply` prices any batch of owners. Markets beyond EXACT owners climb in
strides of STRIDE rungs, in LEVELS steps each: as fine on the whole, and a stride is wide against a bin, so that a crowd
at one bid is seldom charged for at a scale at which its bin's edge is bought and itself is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.clearing.ladder_costs import NOBODY, Costs, Crowd, curve_at
from pdqs.clearing.steps import in_batches
from pdqs.clearing.summaries import BidSummary, summarise
from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.money import payment_micros
from pdqs.pricing.payment import Curve
from pdqs.pricing.piecewise import last_true
from pdqs.rounds.offers import Draft, Offers
from pdqs.rounds.terms import Terms

__all__ = ["Calibration", "Ladder", "apply", "calibrate", "clear_by_ladder", "ladder_of", "summarise"]

DELTA = 1e-4
_REACH = 1e12  # the ladder spans this factor below and above the top of the bid range

_MANY = 2**14

STRIDE = 128
"""So many rungs are climbed at once in markets of more than EXACT owners."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The public scales s_g = base (1 + step)^g for ``lowest`` <= g <= ``highest``; below them nothing is bought."""

    base: float
    step: float
    lowest: int
    highest: int

    def scale(self, rung: int) -> float:
        """s_g, or 0 below the ladder."""
        if rung < self.lowest:
            return 0.0
        return self.base * math.exp(rung * math.log1p(self.step))


@lru_cache(maxsize=64)
def ladder_of(low: float, high: float, stride: int = 1) -> Ladder:
    """The ladder of a bid range, or every ``stride``-th rung of it: a function of public figures only.

    The step is DELTA of the range, not of the top, so that a range like 100 to 101 is not climbed in strides.
    """
    step = math.expm1(stride * math.log1p(DELTA * (high - low) / high))
    reach = math.ceil(math.log(_REACH) / math.log1p(step))
    return Ladder(base=high, step=step, lowest=-reach, highest=reach)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """Which rung each bid is cleared at: bids below ``uppers[j]`` (and not below the one before) at ``rungs[j]``.

    One rung higher if the owner's word is at most ``last[j]``. The last segment has no upper end. ``rungs`` fall as
    bids rise, and so does ``last`` among those of one rung.
    """

    ladder: Ladder
    uppers: Floats
    rungs: Integers
    last: Integers

    def segment_of(self, bids: Floats) -> Integers:
        """The segment that each bid falls into."""
        return np.searchsorted(self.uppers, bids, side="right").astype(np.int64)

    def rung_of(self, bids: Floats, words: Words) -> Integers:
        """The rung of each owner."""
        segments = self.segment_of(bids)
        climbs = words <= self.last[segments]
        return self.rungs[segments] + climbs


def calibrate(summary: BidSummary, terms: Terms, bids: Floats | None = None) -> Calibration:
    """Find every owner's rung from the counts alone.

    ``bids`` (ascending) limits the search to those bids, each of which must be in the summary at its charged place:
    an audit that asks after one owner pays for one owner.
    """
    ladder = ladder_of(summary.low, summary.high, 1 if summary.cells is None else STRIDE)
    crowd = Crowd(summary)
    wanted = crowd.bids if bids is None else bids
    costs = Costs(crowd, terms, wanted, ladder.scale)
    bottom, top = ladder.lowest - 1, ladder.highest
    if bids is None:  # a bracket for everyone; the few are searched for directly, on rungs that no bid of theirs moves
        bottom = _last_rung(lambda g: costs.shortfall(g) <= 0, bottom + 1, top)
        top = _last_rung_near(lambda g: costs.total(g) <= terms.budget_micros, bottom, top)
    rungs = np.empty(wanted.size, dtype=np.int64)
    _fill_rungs(rungs, costs, bottom, top)
    last = np.full(wanted.size, NOBODY, dtype=np.int64)
    for rung in np.unique(rungs[rungs < ladder.highest]).tolist():
        here = rungs == rung
        last[here] = costs.last_to_climb(rung)[here]
    change = np.flatnonzero(np.diff(rungs) | np.diff(last)) + 1
    first = np.concatenate([[0], change])
    return Calibration(ladder=ladder, uppers=wanted[change], rungs=rungs[first], last=last[first])


def apply(bids: Floats, words: Words, calibration: Calibration, terms: Terms) -> Offers:
    """Price a batch of owners at their rungs. Batches are independent: any split gives the same offers."""
    held = np.unique(calibration.rungs)
    held = np.union1d(held, held[held < calibration.ladder.highest] + 1)
    curves = {rung: curve_at(terms, calibration.ladder.scale(rung)) for rung in held.tolist()}
    ends = {rung: _none_beyond(found, bids.size) for rung, found in curves.items() if found is not None}
    draft = Draft(bids, terms.asking, terms.budget_micros, words)

    def price(part: slice) -> None:
        some, rungs = bids[part], calibration.rung_of(bids[part], words[part])
        for rung in np.unique(rungs).tolist():
            chosen = curves[rung]
            if chosen is None:
                continue
            here = np.flatnonzero((rungs == rung) & (some <= ends[rung]))
            q = chosen.q(some[here])
            draft.fill(part.start + here, q, payment_micros(chosen.payment_at(some[here], q)))

    in_batches(bids.size, price)
    return draft.closed()


def _none_beyond(chosen: Curve, owners: int) -> float:
    """A bid beyond which nothing is bought: owners there need no look-up, where they are so many that it pays to know.

    Two units in the last place above the one that is found, which may be one short.
    """
    low, high = chosen.setting.low, chosen.setting.high
    if owners < _MANY:
        return high
    found = last_true(lambda bids: chosen.q(bids) > 0, low, high)
    return float(np.nextafter(np.nextafter(found, np.inf), np.inf))


def clear_by_ladder(bids: Floats, words: Words, terms: Terms) -> Offers:
    """Summarise, calibrate, apply."""
    low, high = terms.setting.low, terms.setting.high
    return apply(bids, words, calibrate(summarise(bids, words, low, high), terms), terms)


def _last_rung(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest g in [low, high] where a condition that is true up to some point holds; low - 1 if nowhere."""
    below, above = low - 1, high + 1
    while above - below > 1:
        middle = (below + above) // 2
        if holds(middle):
            below = middle
        else:
            above = middle
    return below


def _last_rung_near(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The same, for an answer near ``low``: strides that double until the condition fails, then the last one halved."""
    stride = 1
    while low + stride <= high and holds(low + stride - 1):
        low, stride = low + stride, 2 * stride
    return _last_rung(holds, low, min(low + stride - 1, high))


def _fill_rungs(rungs: Integers, costs: Costs, bottom: int, top: int) -> None:
    """Rungs of ascending bids: they fall as bids rise, so equal ends mean an equal middle."""

    def set_rung(i: int, low: int, high: int) -> None:
        rungs[i] = low if low == high else _last_rung(lambda g: costs.reaches(i, g), low + 1, high)

    last = rungs.size - 1
    set_rung(0, bottom, top)
    if last > 0:
        set_rung(last, bottom, int(rungs[0]))
    pending = [(0, last)]
    while pending:
        first, last = pending.pop()
        if rungs[first] == rungs[last]:
            rungs[first : last + 1] = rungs[first]
        elif last - first > 1:
            middle = (first + last) // 2
            set_rung(middle, int(rungs[last]), int(rungs[first]))
            pending += [(first, middle), (middle, last)]
