"""What a stream adds up to: integers only, so that any split, added in any order, gives the same totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.evidence import Evidence
from pdqs.estimate.tallies import FRACTION_BITS, exact_sum
from pdqs.model.errors import ensure
from pdqs.model.money import MICROS_PER_UNIT, short_money
from pdqs.model.names import EstimatorName
from pdqs.present.text import Shown
from pdqs.rounds.offers import Offers, offer_notes

_WEIGHT_BITS = 30
_LIMB = 2.0**_WEIGHT_BITS  # (w/q)^2 may pass 2^63 units, so it is added up in two parts
_STEEPEST = 2.0**90


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals(Shown):
    """Offers added up. ``information_units`` is sum q^2 in units of 2^-62.

    With w = 1/chance over the asked, ``weight_units`` is sum w and ``steep_units`` sum (w/q)^2, in units of 2^-30.
    ``by_lottery`` and ``unreachable`` are those of :class:`pdqs.Offers`.
    """

    owners: int
    bought: int
    spent_micros: int
    information_units: int
    weight_units: int
    steep_units: int
    by_lottery: bool
    unreachable: int
    budget_micros: int

    @property
    def information(self) -> float:
        """As :attr:`pdqs.Offers.information`: four times this is the worst-case Fisher information about a share."""
        return self._weighed_evenly if self.by_lottery else self.information_units / (1 << FRACTION_BITS)

    def information_for(self, estimator: str) -> float:
        """As :meth:`pdqs.Offers.information_for`."""
        return self._weighed_evenly if estimator == EstimatorName.UNBIASED else self.information

    @property
    def _weighed_evenly(self) -> float:
        return self.weight_units**2 / (self.steep_units << _WEIGHT_BITS) if self.steep_units else 0.0

    @property
    def spent(self) -> float:
        """The sum of payments in units of money."""
        return self.spent_micros / MICROS_PER_UNIT

    def merged(self, other: Totals) -> Totals:
        """The totals of both sets of offers together."""
        ensure(self.budget_micros == other.budget_micros, "offers of different rounds")
        return Totals(
            owners=self.owners + other.owners,
            bought=self.bought + other.bought,
            spent_micros=self.spent_micros + other.spent_micros,
            information_units=self.information_units + other.information_units,
            weight_units=self.weight_units + other.weight_units,
            steep_units=self.steep_units + other.steep_units,
            by_lottery=self.by_lottery or other.by_lottery,
            unreachable=self.unreachable + other.unreachable,
            budget_micros=self.budget_micros,
        )

    def title(self) -> str:
        return f"Offers to {self.bought:,} of {self.owners:,} owners"

    def rows(self) -> list[tuple[str, str]]:
        return [
            ("spent", f"{short_money(self.spent_micros)} of {short_money(self.budget_micros)}"),
            ("information", f"{self.information:,.1f} ({'n_eff q^2' if self.by_lottery else 'sum of q^2'})"),
        ]

    def notes(self) -> tuple[str, ...]:
        return offer_notes(self.bought, self.unreachable, self.owners, self.budget_micros)


def totals_of(offers: Offers) -> Totals:
    """The totals of one batch of offers."""
    w = 1.0 / offers.chance[offers.asked]
    steep = np.minimum(np.square(w / offers.q[offers.asked]), _STEEPEST)
    coarse = np.floor(steep / _LIMB)
    return Totals(
        owners=len(offers),
        bought=offers.bought,
        spent_micros=offers.spent_micros,
        information_units=exact_sum(offers.q * offers.q, FRACTION_BITS),
        weight_units=exact_sum(w, _WEIGHT_BITS),
        steep_units=(exact_sum(coarse, 0) << 2 * _WEIGHT_BITS) + exact_sum(steep - coarse * _LIMB, _WEIGHT_BITS),
        by_lottery=offers.by_lottery,
        unreachable=offers.unreachable,
        budget_micros=offers.budget_micros,
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TradeSums:
    """A whole round added up: what was offered, what was reported, what is paid."""

    offers: Totals
    evidence: Evidence
    paid_micros: int

    def merged(self, other: TradeSums) -> TradeSums:
        """The sums of both sets of owners together."""
        return TradeSums(
            offers=self.offers.merged(other.offers),
            evidence=self.evidence.merged(other.evidence),
            paid_micros=self.paid_micros + other.paid_micros,
        )
