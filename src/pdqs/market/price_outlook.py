"""What an owner can know before she names a price: what past rounds paid, and a forecast for each price of this one.

The forecast clears a made-up market with this round's own terms: as many owners as could bid, or a few hundred where it
needs more than there are, their prices spread evenly over the range. It is shown as what it is: others may ask for more
or less, or stay away. It is made once for all who look at a round, one at a time and in seconds: a page shows none
rather than wait for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import final

import numpy as np
from sqlalchemy import select

from pdqs.clearing import clear
from pdqs.market.context import Market
from pdqs.market.groups import how_many_told, is_for
from pdqs.market.made_once import MadeOnce
from pdqs.market.round_terms import terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.views import plan_of
from pdqs.model.arrays import Floats
from pdqs.protocol.market_messages import AnswerMessage, RoundPlan, User

PRICES = 8
"""For how many prices a forecast is made."""
_AT_MOST, _DRAWS = 320, 12
_BEFORE_ANYONE = 1000
_SECONDS, _PATIENCE = 2.0, 4.0  # for how long one is made, and waited for
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


def forecast_by_price(market: Market, round_id: str) -> PriceOutlook | None:
    """The forecast for a round that owners can see; none while so many others are made that there is no time for it."""
    with market.store.read() as connection:
        row = connection.execute(select(rounds).where(rounds.c.round_id == round_id)).one()
    plan = plan_of(row)
    owners = max(_about(owners_able(market, plan)), min(plan.minimum_owners, _AT_MOST))
    return _MADE.get((row.plan, owners), lambda: PriceOutlook(owners=owners, points=_points(row.plan, owners)))


def owners_able(market: Market, plan: RoundPlan) -> int:
    """How many owners could bid in a round of this plan."""
    with market.store.read() as connection:
        return how_many_told(connection, plan.groups)


def owners_expected(market: Market, groups: Sequence[str] = ()) -> int:
    """How many owners a new plan expects, to two digits: those who could bid now; a thousand, if there are not two."""
    with market.store.read() as connection:
        able = how_many_told(connection, groups)
    return _about(able) if able >= 2 else _BEFORE_ANYONE


def _about(owners: int) -> int:
    """To two digits, so that one forecast serves while people come and go.

    >>> _about(40), _about(12_345)
    (40, 12000)
    """
    return int(float(f"{owners:.1e}"))


_MADE: MadeOnce[tuple[str, int], PriceOutlook] = MadeOnce(most=64, patience=_PATIENCE, waiting=7)


def _points(plan: str, owners: int, now: Callable[[], float] = time.monotonic) -> tuple[PricePoint, ...]:
    """Averages over some draws, price by price; a large market is made up smaller, with its budget in proportion.

    There are as many draws as there is time for, and one at least.
    """
    end = now() + _SECONDS
    terms = terms_of(RoundPlan.model_validate_json(plan))
    size = PRICES * math.ceil(min(owners, _AT_MOST) / PRICES)
    low, high = terms.bid_range
    bids = low + (high - low) * (np.arange(size) + 0.5) / size
    smaller = replace(terms, budget=terms.budget * size / owners)
    chance, paid, asked, draws = np.zeros(PRICES), np.zeros(PRICES), np.zeros(PRICES), 0
    amounts: set[float] = set()
    while draws == 0 or (draws < _DRAWS and now() < end):
        offers = clear(bids, smaller, draws=draws)
        bought = offers.payment_micros.reshape(PRICES, -1)
        held = (offers.q > 0).reshape(PRICES, -1)
        likely = np.where(offers.chance < 1, offers.chance, offers.q > 0)
        chance += likely.reshape(PRICES, -1).mean(axis=1)
        amounts |= set(offers.q[offers.q > 0].tolist())
        paid, asked, draws = paid + bought.sum(axis=1), asked + held.sum(axis=1), draws + 1
    middles = bids.reshape(PRICES, -1).mean(axis=1)
    if_asked = _paid_if_asked(paid, asked, alike=len(amounts) <= 1)
    return tuple(
        PricePoint(bid_micros=round(1e6 * price), chance=likely, payment_micros=micros)
        for price, likely, micros in zip(middles.tolist(), _falling(chance / draws).tolist(), if_asked, strict=True)
    )


def _falling(found: Floats) -> Floats:
    """The nearest that does not rise with the price: where it seems to, that is luck of the draws."""
    from scipy.optimize import isotonic_regression  # a slow import, needed by forecasts only

    return np.asarray(isotonic_regression(found, increasing=False).x, dtype=float)


def _paid_if_asked(paid: Floats, asked: Floats, *, alike: bool) -> list[int | None]:
    """What a report is paid at each price, of so much paid for so many; none where nobody was asked.

    In a truthful round neither the chance of being asked nor the expected payment, asked or not, rises with the price.
    The payment *if asked* is the one divided by the other. Where the same is asked of all (``alike``) it is the mean of
    the highest prices at which she would still be asked, over those draws in which it is not below hers, and does not
    fall with her price; where less is asked of the dear, it may do either.

    >>> _paid_if_asked(np.array([17.0, 16.0, 0.0]), np.array([10.0, 8.0, 0.0]), alike=True)
    [2, 2, None]
    """
    if not alike:
        paid, asked = _falling(paid), _falling(asked)
    some = asked > 0
    means = paid[some] / asked[some]
    rising = iter((-_falling(-means) if alike and means.size else means).tolist())
    return [round(next(rising)) if there else None for there in some.tolist()]


def past_payments(market: Market, owner: User) -> PastPayments | None:
    """Of the last settled rounds that she could see, those with enough reports that an average tells of nobody; none:
    nothing to tell."""
    hers = (rounds.c.state == "settled") & is_for(owner.user_id)
    settled = select(rounds.c.answer).where(hers).order_by(rounds.c.ended_at_ms.desc())
    with market.store.read() as connection:
        found = [AnswerMessage.model_validate_json(text) for text in connection.scalars(settled.limit(_PAST))]
    means = sorted(answer.paid_micros // answer.reports for answer in found if answer.reports >= _FEWEST)
    if not means:
        return None
    return PastPayments(
        rounds=len(means), least_micros=means[0], middle_micros=median_low(means), most_micros=means[-1]
    )
