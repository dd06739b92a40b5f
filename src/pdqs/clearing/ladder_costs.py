"""What a market costs at the rungs of a ladder and between them, from its summary alone, in micro-units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.summaries import BidSummary, edges_of, last_words
from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import TermsError
from pdqs.model.money import payment_micros
from pdqs.pricing.payment import Curve, curve
from pdqs.rounds.terms import Terms

# Tables are right to 1e-12; charging this much more than is paid keeps the proof's inequalities true on the integers.
_CHARGE = 1.0 + 1e-9

NOBODY = -1
"""Before every word: nobody climbs."""


@final
class Crowd:
    """The owners of a summary by charged bid, and in the order in which they climb."""

    def __init__(self, summary: BidSummary) -> None:
        self.owners = summary.owners
        self.bids: Floats
        self.counts: Integers
        self._order: Integers | None = None
        if summary.cells is None:
            self.bids, place, counts = np.unique(summary.bids, return_inverse=True, return_counts=True)
            self.counts = counts.astype(np.int64)
            order = np.argsort(summary.words, kind="stable")
            words = summary.words[order].astype(np.int64)
            self._last = np.flatnonzero(np.diff(words, append=-1))  # those of one word climb together
            self._order, self.climbing = place[order].astype(np.int64), words[self._last]
        else:
            used = np.flatnonzero(summary.cells.any(axis=1))
            self._cells: Integers = summary.cells[used].astype(np.int64)
            self.bids, self.counts = edges_of(summary.low, summary.high)[used], self._cells.sum(axis=1)
            self.climbing = last_words()

    def climbed(self, more: Integers) -> Integers:
        """What owners cost more, ``more`` at each charged bid, once those up to each word of ``climbing`` have."""
        found: Integers
        if self._order is not None:
            found = np.cumsum(more[self._order])[self._last]
        else:
            found = np.cumsum(more @ self._cells)
        return found


@dataclass(frozen=True, slots=True)
class _RungCosts:
    total: int
    lowest_bid: int
    everyone: Integers
    wanted: Integers


class Costs:
    """What a market costs at each rung; each rung is worked out once."""

    def __init__(self, crowd: Crowd, terms: Terms, wanted: Floats, scale: Callable[[int], float]) -> None:
        self._crowd, self._terms, self._scale = crowd, terms, scale
        self._split = 1 + crowd.bids.size
        self._own = wanted is crowd.bids
        self._bids = np.concatenate([[terms.setting.low], crowd.bids, wanted[: 0 if self._own else None]])
        self._known: dict[int, _RungCosts] = {}

    def at(self, rung: int) -> _RungCosts:
        """Every charge at a rung: the payment, a hair more than the owner gets."""
        if rung not in self._known:
            chosen = curve_at(self._terms, self._scale(rung))
            payments = np.zeros(self._bids.size) if chosen is None else chosen.payment(self._bids)
            charges = payment_micros(payments * _CHARGE)
            if int(charges.max()) * self._crowd.owners >= 2**63:
                raise TermsError("payments are too large to add up to a millionth: use a larger unit of money")
            everyone = charges[1 : self._split]
            self._known[rung] = _RungCosts(
                total=int(np.dot(everyone, self._crowd.counts)),
                lowest_bid=int(charges[0]),
                everyone=everyone,
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

    def last_to_climb(self, rung: int) -> Integers:
        """The last word with which an owner of each wanted bid, at this rung with all others, climbs to the next.

        She climbs if A(g) and what those of her word and below cost more, she among them, is at most
        beta - P(lo; s_{g+1}) + P(b_i; s_{g+1}).
        """
        here, above = self.at(rung), self.at(rung + 1)
        # Where a curve is flat in the scale, rounding may differ by a unit: nobody is charged less for climbing.
        after = here.total + self._crowd.climbed(np.maximum(above.everyone - here.everyone, 0))
        own = np.maximum(above.wanted, here.wanted)
        room = self._terms.budget_micros - max(above.lowest_bid, here.lowest_bid) + own
        steps = np.searchsorted(after, room, side="right")
        return np.concatenate([[NOBODY], self._crowd.climbing])[steps]


def curve_at(terms: Terms, scale: float) -> Curve | None:
    """The curve at a scale; none below the ladder, where nothing is bought."""
    return curve(terms.bound_rule, scale, terms.setting) if scale > 0 else None
