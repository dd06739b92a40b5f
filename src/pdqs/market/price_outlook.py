"""What an owner can know before she names a price: what past rounds paid, and a forecast for each price of this one.

The forecast clears a made-up market with this round's own terms: as many owners as could bid, their prices spread
evenly over the range. It is shown as what it is: others may ask for more or less, or stay away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median_low
from typing import final

import numpy as np
from sqlalchemy import select

from pdqs.clearing import clear
from pdqs.market.context import Market
from pdqs.market.groups import how_many_able
from pdqs.market.round_terms import terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.views import plan_of
from pdqs.protocol.market_messages import AnswerMessage, RoundPlan

PRICES = 8
"""For how many prices a forecast is made."""
_AT_MOST, _DRAWS = 320, 12
_PAST, _FEWEST = 20, 5


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PricePoint:
    """A price, how likely it is to be asked, and what is paid for a report if it is (none: it never was)."""

    bid_micros: int
    chance: float
    payment_micros: int | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PriceOutlook:
    """A forecast over the range of prices, from so many owners."""

    owners: int
    points: tuple[PricePoint, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PastPayments:
    """What a report was paid on average in settled rounds: the least, the middle and the most of so many rounds."""

    rounds: int
    least_micros: int
    middle_micros: int
    most_micros: int


def forecast_by_price(market: Market, round_id: str) -> PriceOutlook:
    """The forecast for a round that owners can see."""
    with market.store.read() as connection:
        row = connection.execute(select(rounds).where(rounds.c.round_id == round_id)).one()
    owners = max(_about(owners_able(market, plan_of(row))), plan_of(row).minimum_owners)
    return PriceOutlook(owners=owners, points=_points(row.plan, owners))


def owners_able(market: Market, plan: RoundPlan) -> int:
    """How many owners could bid in a round of this plan."""
    with market.store.read() as connection:
        return how_many_able(connection, plan.groups)


def _about(owners: int) -> int:
    """To two digits, so that one forecast serves while people come and go.

    >>> _about(40), _about(12_345)
    (40, 12000)
    """
    return int(float(f"{owners:.1e}"))


@lru_cache(maxsize=64)
def _points(plan: str, owners: int) -> tuple[PricePoint, ...]:
    """Averages over some draws, price by price; a large market is made up smaller, with its budget in proportion."""
    terms = terms_of(RoundPlan.model_validate_json(plan))
    size = PRICES * math.ceil(min(owners, _AT_MOST) / PRICES)
    low, high = terms.bid_range
    bids = low + (high - low) * (np.arange(size) + 0.5) / size
    smaller = replace(terms, budget=terms.budget * size / owners)
    chance, paid, asked = np.zeros(PRICES), np.zeros(PRICES), np.zeros(PRICES)
    for draw in range(_DRAWS):
        offers = clear(bids, smaller, draws=draw)
        bought = offers.payment_micros.reshape(PRICES, -1)
        held = (offers.q > 0).reshape(PRICES, -1)
        likely = np.where(offers.chance < 1, offers.chance, offers.q > 0)
        chance += likely.reshape(PRICES, -1).mean(axis=1) / _DRAWS
        paid, asked = paid + bought.sum(axis=1), asked + held.sum(axis=1)
    middles = bids.reshape(PRICES, -1).mean(axis=1)
    return tuple(
        PricePoint(
            bid_micros=round(1e6 * float(middles[place])),
            chance=float(chance[place]),
            payment_micros=round(paid[place] / asked[place]) if asked[place] else None,
        )
        for place in range(PRICES)
    )


def past_payments(market: Market) -> PastPayments | None:
    """Of the last settled rounds, those with enough reports that an average tells of nobody; none: nothing to tell."""
    settled = select(rounds.c.answer).where(rounds.c.state == "settled").order_by(rounds.c.ended_at_ms.desc())
    with market.store.read() as connection:
        found = [AnswerMessage.model_validate_json(text) for text in connection.scalars(settled.limit(_PAST))]
    means = sorted(answer.paid_micros // answer.reports for answer in found if answer.reports >= _FEWEST)
    if not means:
        return None
    return PastPayments(
        rounds=len(means), least_micros=means[0], middle_micros=median_low(means), most_micros=means[-1]
    )
