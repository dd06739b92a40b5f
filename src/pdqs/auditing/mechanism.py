"""What is audited: three functions and the terms they are run under.

A mechanism is how bids become offers, how a value becomes a report, and how a report becomes money. The shipped one is
pdqs itself. Anything else with the same three signatures can be put in its place, which is how the audit is itself
tested: a deliberately broken mechanism must be caught.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pdqs.clearing import clear
from pdqs.clearing.ladder import apply, calibrate, summarise
from pdqs.clearing.summaries import BINS
from pdqs.model.arrays import Floats, Integers
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.pricing.rules import Asks
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports, randomise
from pdqs.rounds.settlement import Payments, settle
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """``clear(bids, terms)``, ``randomise(values, offers, entropy)`` and ``settle(offers, reports, terms)``.

    >>> from dataclasses import replace
    >>> replace(SHIPPED, name="a clearing of my own", clear=lambda bids, terms: clear(bids, terms)).name
    'a clearing of my own'
    """

    name: str = "pdqs as shipped"
    clear: Callable[[Floats, Terms], Offers] = clear
    randomise: Callable[[Any, Offers, Any], Reports] = randomise
    settle: Callable[[Offers, Reports, Terms], Payments] = settle

    def deal(self, bids: Floats, owner: int, terms: Terms) -> Deal:
        """What one owner is offered when these are the bids.

        The shipped ladder is asked after that owner alone: the same summarise, calibrate and apply that clear everyone.
        """
        if self.asks_after_one(bids, terms):
            own = bids[owner : owner + 1]
            offers = apply(own, calibrate(summarise(bids, *terms.bid_range), terms, bids=own), terms)
            return Deal(q=float(offers.q[0]), payment_micros=int(offers.payment_micros[0]))
        return self.deal_in_full(bids, owner, terms)

    def gain_micros(self, bids: Floats, owner: int, lie: float, terms: Terms) -> float:
        """What an owner whose price is her bid gains by bidding ``lie`` instead, in micro-units."""
        told, price = bids.copy(), float(bids[owner])
        told[owner] = lie
        honest, lying = self.deal(bids, owner, terms), self.deal(told, owner, terms)
        return lying.utility_micros(price, terms) - honest.utility_micros(price, terms)

    def asks_after_one(self, bids: Floats, terms: Terms) -> bool:
        """Whether one owner's deal is found without the others': the shipped ladder, on bids summarised as they are."""
        by_lot = isinstance(terms.bound_rule, Asks)
        return self.clear is clear and terms.clearing_facts.calibrates and not by_lot and bids.size <= BINS

    def deal_in_full(self, bids: Floats, owner: int, terms: Terms) -> Deal:
        """The same by clearing the whole market: the audit compares the two on a sample."""
        offers = self.clear(bids, terms)
        return Deal(q=float(offers.q[owner]), payment_micros=int(offers.payment_micros[owner]))


SHIPPED = Mechanism()
"""pdqs as it is installed."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """One owner's offer: her chance of truth and her expected payment."""

    q: float
    payment_micros: int

    def utility_micros(self, price: float, terms: Terms) -> float:
        """Payment less price times load, u = P - theta l(q), with the load that the contract of the terms pays for."""
        return self.payment_micros - price * load(self.q, terms) * MICROS_PER_UNIT

    def rounding_micros(self, price: float, terms: Terms) -> float:
        """How much of a gain is rounding and no promise broken.

        A payment is rounded up by less than one micro-unit, and q down by less than 2^-32, which spares the owner at
        most theta (l(q + 2^-32) - l(q)). At the usual cap of eps = 4 the second is below 0.01 micro-units.
        """
        spared = load(self.q + 1.0 / Q_UNITS, terms) - load(self.q, terms)
        return 1.0 + price * spared * MICROS_PER_UNIT


def load(q: float, terms: Terms) -> float:
    """l(q): what an owner is paid for, as the terms price it (section 2 of docs/theory)."""
    return float(terms.setting.load(np.asarray(q)))


def only(offers: Offers, rows: Integers) -> Offers:
    """The offers of some owners, in that order; a row may come more than once."""
    return Offers(
        bids=offers.bids[rows],
        q=offers.q[rows],
        epsilon=offers.epsilon[rows],
        payment_micros=offers.payment_micros[rows],
        domain=offers.domain,
        budget_micros=offers.budget_micros,
        chance=offers.chance[rows],
        draw=offers.draw[rows],
    )
