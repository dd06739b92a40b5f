r"""Truthful and within budget, exactly: leave-one-out clearing (section 5 of docs/theory).

The scale lives on a fixed public ladder s_g = s_0 (1 + delta)^g that knows nothing of the bids, and

    rung_i = the largest g with  sum_{j != i} P(b_j; s_g) + P(lo; s_g) <= beta
    q_i = q(b_i; s_{rung_i}),   P_i = P(b_i; s_{rung_i})

**Theorem.** Truthful, rational and within budget for every bid vector: rung_i does not depend on b_i, so owner i faces
a fixed curve with its Archer-Tardos payment; and with r the highest rung given, to owner m,
sum_i P(b_i; s_{rung_i}) <= sum_{j != m} P(b_j; s_r) + P(lo; s_r) <= beta.

Three steps, so that streams and clusters can share them: :func:`summarise` counts bids (mergeable), :func:`calibrate`
finds the rungs from the counts alone, :func:`apply` prices any batch of bids.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.clearing.steps import in_batches
from pdqs.clearing.summaries import BidSummary, summarise
from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import TermsError
from pdqs.model.money import payment_micros
from pdqs.pricing.payment import Curve, curve
from pdqs.rounds.offers import Draft, Offers
from pdqs.rounds.terms import Terms

__all__ = ["Calibration", "Ladder", "apply", "calibrate", "clear_by_ladder", "ladder_of", "summarise"]

DELTA = 1e-4
_REACH = 1e12  # the ladder spans this factor below and above the top of the bid range

# Tables are right to 1e-12; charging this much more than is paid keeps the proof's inequalities true on the integers.
_CHARGE = 1.0 + 1e-9


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
def ladder_of(low: float, high: float) -> Ladder:
    """The ladder of a bid range: a function of public figures only.

    The step is DELTA of the range, not of the top, so that a range like 100 to 101 is not climbed in strides.
    """
    step = DELTA * (high - low) / high
    reach = math.ceil(math.log(_REACH) / math.log1p(step))
    return Ladder(base=high, step=step, lowest=-reach, highest=reach)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """Which rung each bid is cleared at: bids below ``uppers[j]`` (and not below the one before) at ``rungs[j]``.

    The rungs fall as bids rise; the last segment has no upper end.
    """

    uppers: Floats
    rungs: Integers

    def segment_of(self, bids: Floats) -> Integers:
        """The segment that each bid falls into."""
        return np.searchsorted(self.uppers, bids, side="right").astype(np.int64)


def calibrate(summary: BidSummary, terms: Terms, bids: Floats | None = None) -> Calibration:
    """Find every owner's rung from the counts alone.

    ``bids`` (ascending) limits the search to those bids, each of which must be in the summary at its charged place:
    an audit that asks after one owner pays for one owner.
    """
    wanted = summary.charged_bids if bids is None else bids
    costs = _Costs(summary, terms, wanted)
    bottom, top = costs.ladder.lowest - 1, costs.ladder.highest
    if bids is None:  # a bracket for everyone; the few are searched for directly, on rungs that no bid of theirs moves
        bottom = _last_rung(lambda g: costs.shortfall(g) <= 0, bottom + 1, top)
        top = _last_rung_near(lambda g: costs.total(g) <= terms.budget_micros, bottom, top)
    rungs = np.empty(wanted.size, dtype=np.int64)
    _fill_rungs(rungs, costs, bottom, top)
    change = np.flatnonzero(np.diff(rungs)) + 1
    return Calibration(uppers=wanted[change], rungs=rungs[np.concatenate([[0], change])])


def apply(bids: Floats, calibration: Calibration, terms: Terms) -> Offers:
    """Price a batch of bids at their rungs. Batches are independent: any split gives the same offers."""
    ladder = ladder_of(*terms.bid_range)
    curves = [_curve(terms, ladder.scale(int(rung))) for rung in calibration.rungs]
    draft = Draft(bids, terms.asking, terms.budget_micros)

    def price(part: slice) -> None:
        q, payments = _priced(bids[part], calibration, curves)
        draft.fill(part, q, payment_micros(payments))

    in_batches(bids.size, price)
    return draft.closed()


def _priced(bids: Floats, calibration: Calibration, curves: list[Curve | None]) -> tuple[Floats, Floats]:
    """q and P of each bid, each at the curve of its segment."""
    q, payments = np.zeros_like(bids), np.zeros_like(bids)
    segments = calibration.segment_of(bids)
    for segment in np.unique(segments):
        chosen = curves[segment]
        if chosen is None:
            continue
        here = slice(None) if len(curves) == 1 else segments == segment
        q[here] = chosen.q(bids[here])
        payments[here] = chosen.payment_at(bids[here], q[here])
    return q, payments


def clear_by_ladder(bids: Floats, terms: Terms) -> Offers:
    """Summarise, calibrate, apply."""
    low, high = terms.setting.low, terms.setting.high
    return apply(bids, calibrate(summarise(bids, low, high), terms), terms)


def _curve(terms: Terms, scale: float) -> Curve | None:
    """The curve at a scale; none below the ladder, where nothing is bought."""
    return curve(terms.bound_rule, scale, terms.setting) if scale > 0 else None


@dataclass(frozen=True, slots=True)
class _RungCosts:
    """What a market costs at one rung, in micro-units."""

    total: int
    lowest_bid: int
    wanted: Integers


class _Costs:
    """What a market costs at each rung; each rung is worked out once."""

    def __init__(self, summary: BidSummary, terms: Terms, wanted: Floats) -> None:
        self.ladder = ladder_of(summary.low, summary.high)
        self._terms = terms
        self._counts = summary.counts
        self._owners = summary.owners
        self._split = 1 + summary.charged_bids.size
        self._own = wanted is summary.charged_bids
        self._bids = np.concatenate([[summary.low], summary.charged_bids, wanted[: 0 if self._own else None]])
        self._known: dict[int, _RungCosts] = {}

    def at(self, rung: int) -> _RungCosts:
        """Every charge at a rung: the payment, a hair more than the owner gets."""
        if rung not in self._known:
            chosen = _curve(self._terms, self.ladder.scale(rung))
            payments = np.zeros(self._bids.size) if chosen is None else chosen.payment(self._bids)
            charges = payment_micros(payments * _CHARGE)
            if int(charges.max()) * self._owners >= 2**63:
                raise TermsError("payments are too large to add up in micro-units: use a larger unit of money")
            everyone = charges[1 : self._split]
            self._known[rung] = _RungCosts(
                total=int(np.dot(everyone, self._counts)),
                lowest_bid=int(charges[0]),
                wanted=everyone if self._own else charges[self._split :],
            )
        return self._known[rung]

    def total(self, rung: int) -> int:
        """A(g) = sum over owners of P(b; s_g)."""
        return self.at(rung).total

    def shortfall(self, rung: int) -> int:
        """A(g) + P(lo; s_g) - beta: an owner reaches this rung when she herself is charged at least that."""
        return self.at(rung).total + self.at(rung).lowest_bid - self._terms.budget_micros

    def reaches(self, i: int, rung: int) -> bool:
        """Whether sum_{j != i} P(b_j) + P(lo) <= beta for the i-th wanted owner."""
        return int(self.at(rung).wanted[i]) >= self.shortfall(rung)


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


def _fill_rungs(rungs: Integers, costs: _Costs, bottom: int, top: int) -> None:
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
