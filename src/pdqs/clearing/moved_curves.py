"""One rule's q and payment at many scales in one go, for owners who each stand at a scale of their own.

Where all scales share a shape (:mod:`pdqs.pricing.rules.shape`) one table serves them all, and an owner costs a look-up
at x = slope b + shift. Scales at which everyone is bought whole, or nobody, need no table; any other scale has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.ladder import Ladder
from pdqs.model.arrays import Floats, Integers
from pdqs.pricing.payment import Curve, curve
from pdqs.pricing.piecewise import Piecewise
from pdqs.pricing.rules.shape import Shape, Shaped
from pdqs.rounds.terms import Terms

_SHARED = 1.0 - 1e-15  # a top this near the end of the bid range, relatively, is the end


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """One rung: where its curve lies on the shape, or its own curve, or neither and what everyone is paid."""

    slope: float = 0.0
    shift: float = 0.0
    top: float = -np.inf
    flat_q: float = 0.0
    own: Curve | None = None


@final
class MovedCurves:
    """The curves of a rule at the rungs of a ladder; each rung is looked up once."""

    def __init__(self, terms: Terms, ladder: Ladder) -> None:
        self._terms, self._ladder, self._setting = terms, ladder, terms.setting
        self._rule = terms.bound_rule
        self._shape: Shape | None = None
        self._table: Piecewise | None = None
        self._known: dict[int, _Place] = {}

    def priced(self, bids: Floats, which: Integers, rungs: Integers) -> tuple[Floats, Floats]:
        """q and payment of owners at ``rungs[which]``; the arrays have one shape, ``rungs`` is a list."""
        places = [self._place(g) for g in rungs.tolist()]
        figures = np.array([(p.slope, p.shift, p.top, p.flat_q) for p in places]).reshape(-1, 4).T
        slope, shift, top, flat_q = (row[which] for row in figures)
        q = flat_q
        payments = self._setting.high * self._setting.load(q)
        shaped = np.flatnonzero(slope.ravel() > 0)
        if shaped.size:
            own = (array.ravel()[shaped] for array in (bids, slope, shift, top))
            q.ravel()[shaped], payments.ravel()[shaped] = self._on_shape(*own)
        for j, place in enumerate(places):
            if place.own is not None:
                here = which == j
                q[here] = place.own.q(bids[here])
                payments[here] = place.own.payment_at(bids[here], q[here])
        return q, payments

    def _on_shape(self, bids: Floats, slope: Floats, shift: Floats, top: Floats) -> tuple[Floats, Floats]:
        assert self._shape is not None, "a place on a shape comes with it"
        assert self._table is not None, "a place on a shape comes with its table"
        x = slope * bids + shift
        last = top >= (slope * self._setting.high + shift) * _SHARED
        q = np.where(last | (x < top), np.minimum(self._shape.q(x), self._setting.q_max), 0.0)
        end = self._table.edges[-1]
        part = self._table.tail(np.minimum(x, end)) - self._table.tail(np.minimum(top, end))
        payments = bids * self._setting.load(q) + np.maximum(part, 0.0) / slope
        return q, np.where(q > 0, payments, 0.0)

    def _place(self, rung: int) -> _Place:
        found = self._known.get(rung)
        if found is None:
            found = self._known[rung] = self._looked_up(rung)
        return found

    def _looked_up(self, rung: int) -> _Place:
        rule, setting, scale = self._rule, self._setting, self._ladder.scale(rung)
        if scale <= 0:
            return _Place()
        place = rule.placement(scale) if isinstance(rule, Shaped) else None
        if place is not None and isinstance(rule, Shaped):
            if self._table is None:
                self._shape, self._table = rule.shape(), curve(rule, scale, setting).table
            return _Place(place.slope, place.shift, place.top)
        lowest, highest = rule.q(np.array([setting.low, setting.high]), scale)
        if highest >= setting.q_max:
            return _Place(flat_q=setting.q_max)
        return _Place() if lowest <= 0 else _Place(own=curve(rule, scale, setting))
