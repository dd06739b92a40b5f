"""Offers: what each owner is asked to do and what she is paid for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from pdqs.domain import Domain
from pdqs.money import payment_micros, units
from pdqs.privacy import epsilon_upper, round_q_down
from pdqs.show import Shown, money, table
from pdqs.types import Floats, Integers


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Offers(Shown):
    """Arrays in bid order: the chance of truth q, the privacy loss it means, and the expected payment.

    q is a multiple of 2^-32, ``epsilon`` the exact loss at that q on the domain as it is, and ``payment_micros`` whole
    micro-units.
    """

    bids: Floats
    q: Floats
    epsilon: Floats
    payment_micros: Integers
    domain: Domain
    budget_micros: int

    def __len__(self) -> int:
        return int(self.q.size)

    @property
    def payment(self) -> Floats:
        """Expected payments in units of money."""
        return units(self.payment_micros)

    @cached_property
    def spent_micros(self) -> int:
        """The sum of payments, exactly."""
        return int(self.payment_micros.sum())

    @property
    def spent(self) -> float:
        """The sum of payments in units of money."""
        return float(units(np.int64(self.spent_micros)))  # type: ignore[arg-type]  # a scalar is a 0-d array here

    @cached_property
    def information(self) -> float:
        """sum q^2: four times this is the worst-case Fisher information about a share."""
        return float(np.dot(self.q, self.q))

    @cached_property
    def bought(self) -> int:
        """How many owners are asked for anything at all."""
        return int(np.count_nonzero(self.q))

    def _title(self) -> str:
        return f"Offers to {self.bought:,} of {len(self):,} owners"

    def _rows(self) -> list[tuple[str, str]]:
        some = self.q > 0
        rows = [
            ("spent", f"{money(self.spent_micros)} of {money(self.budget_micros)}"),
            ("information", f"{self.information:,.1f} (sum of q^2)"),
        ]
        if some.any():
            rows += [
                ("q", _spread(self.q[some])),
                ("epsilon", _spread(self.epsilon[some])),
                ("payment", _spread(self.payment[some])),
            ]
        return rows

    def to_table(self, rows: int = 10) -> str:
        """The first offers as a plain table."""
        return table(
            ("bid", "q", "epsilon", "payment"),
            [
                (f"{b:.4f}", f"{q:.4f}", f"{e:.4f}", f"{p:.6f}")
                for b, q, e, p in zip(
                    self.bids[:rows], self.q[:rows], self.epsilon[:rows], self.payment[:rows], strict=True
                )
            ],
        )


def _spread(values: Floats) -> str:
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
    return f"{low:.4g} to {high:.4g}, median {middle:.4g}"


def blank_offers(bids: Floats, domain: Domain, budget_micros: int) -> Offers:
    """Offers that buy nothing, to be filled part by part."""
    return Offers(
        bids=bids,
        q=np.zeros(bids.size),
        epsilon=np.zeros(bids.size),
        payment_micros=np.zeros(bids.size, dtype=np.int64),
        domain=domain,
        budget_micros=budget_micros,
    )


def fill_offers(offers: Offers, part: slice, q: Floats, payments: Floats) -> None:
    """Exact q and P as offers: q rounded down, eps from the rounded q, P rounded up (section 5 of docs/theory)."""
    dyadic = round_q_down(q)
    offers.q[part] = dyadic
    offers.epsilon[part] = epsilon_upper(dyadic, offers.domain.size)
    offers.payment_micros[part] = np.where(dyadic > 0, payment_micros(payments), 0)


def make_offers(bids: Floats, q: Floats, payments: Floats, domain: Domain, budget_micros: int) -> Offers:
    """Offers from exact q and P, all at once."""
    offers = blank_offers(bids, domain, budget_micros)
    fill_offers(offers, slice(None), q, payments)
    return offers
