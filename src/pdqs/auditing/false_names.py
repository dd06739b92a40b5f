"""False names: what one owner gains who enrols two or three times.

Truthful does not mean false-name-proof: each name is a deal of its own, and whoever has a profit from one deal may want
two. Her loss adds up over names (plain composition of eps), so u = sum P_j - theta sum l(q_j) is set against what her
one honest name brings, on average over the same few draws where a rule asks by lot. No terms promise that this is
nothing; the audit puts a number on it, found by search and so a lower bound on what a cleverer owner gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import final

import numpy as np

from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism
from pdqs.auditing.temptation import Deal
from pdqs.model.arrays import Floats, Integers
from pdqs.pricing.rules import Asks
from pdqs.rounds.terms import Terms

LOTTERY_DRAWS = 4
"""Draws that a gain is the mean over, under a rule that asks by lot."""

PLACES = 5
"""Bids from the bottom of the range to her price that each name may make, and her price itself."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FalseNames:
    """The most that any owner tried gained with so many names, and on the average over them, in micro-units."""

    names: int
    owners: int
    most_micros: float
    mean_micros: float
    mean_payment_micros: float
    price: float
    bids: tuple[float, ...]
    market: str


def examine(mechanism: Mechanism, terms: Terms, market: Market, owners: Integers, names: int) -> FalseNames:
    """The best set of bids under ``names`` names, for each of some owners of one market."""
    here = market.terms(terms)
    offers = mechanism.clear(market.bids, here, market.draws)
    draws = range(LOTTERY_DRAWS) if isinstance(here.bound_rule, Asks) else (market.draws,)
    gains: list[float] = []
    best: tuple[float, float, tuple[float, ...]] = (-np.inf, 0.0, ())
    for owner in map(int, owners):
        price = float(market.bids[owner])
        honest = _mean_utility(mechanism, market.bids, owner, (price,), here, draws)
        tried = [
            (_mean_utility(mechanism, market.bids, owner, bids, here, draws) - honest, price, bids)
            for bids in _bid_sets(price, names, here)
        ]
        top = max(tried)
        gains.append(top[0])
        best = max(best, top)
    return FalseNames(
        names=names,
        owners=len(gains),
        most_micros=best[0],
        mean_micros=float(np.mean(gains)),
        mean_payment_micros=offers.spent_micros / max(offers.bought, 1),
        price=best[1],
        bids=best[2],
        market=market.name,
    )


def _bid_sets(price: float, names: int, terms: Terms) -> list[tuple[float, ...]]:
    """Every way in which ``names`` names can bid on a few places up to her price."""
    low = terms.bid_range[0]
    # Under a lottery a name is asked at a posted price or not at all: between the ends nothing is to be found.
    count = 2 if isinstance(terms.bound_rule, Asks) else PLACES
    places = sorted({*np.linspace(low, price, count).tolist(), price})
    return list(combinations_with_replacement(places, names))


def _mean_utility(
    mechanism: Mechanism, bids: Floats, owner: int, names: tuple[float, ...], terms: Terms, draws: Sequence[int]
) -> float:
    return sum(_utility(mechanism, bids, owner, names, terms, seed) for seed in draws) / len(draws)


def _utility(
    mechanism: Mechanism, bids: Floats, owner: int, names: tuple[float, ...], terms: Terms, draws: int
) -> float:
    """What an owner of this price has when she bids under each name, the others as they are."""
    price = float(bids[owner])
    market = np.r_[bids[:owner], names[0], bids[owner + 1 :], names[1:]]
    offers = mechanism.clear(market, terms, draws)
    rows = [owner, *range(bids.size, market.size)]
    return sum(Deal.of(offers, row).utility_micros(price, terms.setting) for row in rows)
