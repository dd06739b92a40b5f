"""The whole flow, on one screen: bids and values in; offers, reports, an answer and payments out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing import clear
from pdqs.estimate import Answer, answer, narrowed
from pdqs.model.arrays import Column
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown
from pdqs.privacy.entropy import Entropy
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports, entropy_of, randomise
from pdqs.rounds.settlement import Payments, settle
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trade(Shown, Framed):
    """One round: what was offered, reported, answered and paid."""

    terms: Terms
    offers: Offers
    reports: Reports
    answer: Answer
    payments: Payments

    def columns(self) -> dict[str, Cells]:
        """Each owner's offer, the report that came of it, and what she is paid, for tables."""
        return {**self.offers.columns(), **self.reports.columns(), **self.payments.columns()}

    def to_dict(self) -> dict[str, object]:
        """The round as plain values: its terms, its answer, the totals, and under ``owners`` the columns."""
        return {
            "terms": json.loads(self.terms.canonical()),
            "terms_hash": self.terms.hash,
            "answer": self.answer.to_dict(),
            "spent": self.offers.spent,
            "paid": self.payments.total,
            "within_budget": self.payments.within_budget,
            "owners": Framed.to_dict(self),
        }

    def title(self) -> str:
        return f"Trade by rule {self.terms.rule_name}, clearing {self.terms.clearing}, contract {self.terms.contract}"

    def rows(self) -> list[tuple[str, str]]:
        return [
            ("offers", f"{self.offers.bought:,} of {len(self.offers):,} owners, {self.offers.rows()[0][1]}"),
            ("answer", self.answer.title()),
            *self.answer.rows()[:-1],
            ("paid", self.payments.rows()[0][1]),
        ]

    def notes(self) -> tuple[str, ...]:
        return (*self.answer.warnings, *self.payments.notes())


def trade(
    values: Column, bids: Column, terms: Terms, rng: np.random.Generator | Entropy, *, level: float = 0.95
) -> Trade:
    """Run a whole round in one process; ``level`` is that of the answer's interval.

    ``rng`` gives the public draws first, where the rule needs any, then the owners' coins.

    >>> import pdqs
    >>> rng = np.random.default_rng(1)
    >>> done = pdqs.trade(rng.random(500) < 0.2, rng.random(500), pdqs.Terms(query=pdqs.Count(), budget=100), rng)
    >>> done.payments.total <= 100
    True
    """
    entropy_of(rng)
    offers = clear(bids, terms, draws=rng)
    reports = randomise(values, offers, rng)
    for stage in range(2, terms.asking.stages + 1):
        offers = narrowed(offers, reports, terms, stage)
        reports = reports.joined(randomise(values, offers, rng, stage=stage))
    found = answer(reports, offers, terms, level=level)
    payments = settle(offers, reports, terms)
    return Trade(terms=terms, offers=offers, reports=reports, answer=found, payments=payments)
