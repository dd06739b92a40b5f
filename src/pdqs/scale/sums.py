"""What a stream adds up to: integers only, so that any split, added in any order, gives the same totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pdqs.estimate.evidence import Evidence
from pdqs.estimate.tallies import FRACTION_BITS, exact_sum
from pdqs.model.errors import ensure
from pdqs.model.money import MICROS_PER_UNIT, short_money
from pdqs.present.text import Shown
from pdqs.rounds.offers import Offers


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals(Shown):
    """Offers added up. ``information_units`` is sum q^2 in units of 2^-62."""

    owners: int
    bought: int
    spent_micros: int
    information_units: int
    budget_micros: int

    @property
    def information(self) -> float:
        """sum q^2: four times this is the worst-case Fisher information about a share."""
        return self.information_units / (1 << FRACTION_BITS)

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
            budget_micros=self.budget_micros,
        )

    def title(self) -> str:
        return f"Offers to {self.bought:,} of {self.owners:,} owners"

    def rows(self) -> list[tuple[str, str]]:
        return [
            ("spent", f"{short_money(self.spent_micros)} of {short_money(self.budget_micros)}"),
            ("information", f"{self.information:,.1f} (sum of q^2)"),
        ]


def totals_of(offers: Offers) -> Totals:
    """The totals of one batch of offers."""
    return Totals(
        owners=len(offers),
        bought=offers.bought,
        spent_micros=offers.spent_micros,
        information_units=exact_sum(offers.q * offers.q, FRACTION_BITS),
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
