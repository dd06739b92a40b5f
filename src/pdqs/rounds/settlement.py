"""Settlement: who is paid what, once the reports are in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, Integers, read_only
from pdqs.model.errors import TermsError, ensure
from pdqs.model.money import MICROS_PER_UNIT, short_money, units
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.belonging import refuse_strangers
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Payments(Shown, Framed):
    """What each owner is paid, in bid order; the array cannot be written to."""

    micros: Integers
    budget_micros: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "micros", read_only(self.micros))

    @property
    def amounts(self) -> Floats:
        """Payments in units of money."""
        return units(self.micros)

    @cached_property
    def total_micros(self) -> int:
        """What is paid in all, exactly."""
        return int(self.micros.sum())

    @property
    def total(self) -> float:
        """What is paid in all, in units of money."""
        return self.total_micros / MICROS_PER_UNIT

    @property
    def within_budget(self) -> bool:
        """Whether the budget covers it."""
        return self.total_micros <= self.budget_micros

    def __len__(self) -> int:
        return int(self.micros.size)

    def columns(self) -> dict[str, Cells]:
        """What each owner is paid, for tables."""
        return {"paid": self.amounts}

    def title(self) -> str:
        return f"Payments to {int(np.count_nonzero(self.micros)):,} of {len(self):,} owners"

    def rows(self) -> list[tuple[str, str]]:
        return [("paid", f"{short_money(self.total_micros)} of {short_money(self.budget_micros)}")]

    def notes(self) -> tuple[str, ...]:
        return () if self.within_budget else (f"{short_money(self.total_micros - self.budget_micros)} over the budget",)


def refuse_overspent(offers: Offers, terms: Terms) -> None:
    """Refuse offers that promise more than terms which keep their budget have."""
    if terms.keeps_budget and offers.spent_micros > terms.budget_micros:
        promised, budget = short_money(offers.spent_micros), short_money(terms.budget_micros)
        raise TermsError(f"the offers promise {promised}, more than these terms' budget of {budget}")


def settle(offers: Offers, reports: Reports, terms: Terms) -> Payments:
    """Payments under the contract of the terms.

    ``on-report``: the offered payment to everyone whose report arrived. ``on-selection``: payment / q, rounded up, to
    everyone whose coin chose the truth; the sum is right on average only and may pass the budget.

    >>> import pdqs
    >>> terms = pdqs.Terms(query=pdqs.Count(), budget=1.0)
    >>> offers = pdqs.clear([0.1, 0.2, 0.3], terms)
    >>> reports = pdqs.randomise([1, 0, 1], offers, np.random.default_rng(0))
    >>> pdqs.settle(offers, reports, terms).total_micros == offers.spent_micros
    True
    """
    refuse_strangers(reports, offers, terms, TermsError)
    refuse_overspent(offers, terms)
    if terms.contract_terms.hides_coin:
        micros = np.where(reports.arrived, offers.payment_micros, 0)
    else:
        if reports.selected.size != len(reports):
            raise TermsError("contract 'on-selection' pays by the coin, and received reports do not tell it")
        numerators = np.maximum(offers.q, 1.0 / Q_UNITS)
        each = np.ceil(offers.payment_micros / numerators).astype(np.int64)
        micros = np.where(reports.arrived & reports.selected, each, 0)
    payments = Payments(micros=micros, budget_micros=terms.budget_micros)
    ensure(payments.within_budget or not terms.keeps_budget, "a mechanism that keeps the budget has passed it")
    return payments
