"""Which rungs a lottery's owners can have, from its summary alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from pdqs.clearing.lottery.costs import Cells, PlainOwners, costs_of, largest_charge
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import BID_BINS, LotterySummary
from pdqs.clearing.steps import bracket, closer, last_in_strides, last_that
from pdqs.model.arrays import Booleans, Integers

_PER_OCTAVE = 28  # rungs that a large market tries to an octave when its budget is one payment
_TOGETHER, _MOST_TOGETHER = 2**13, 32  # owners times rungs worked out together in a search, and rungs
_NONE: Integers = np.zeros(0, dtype=np.int64)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LotteryCalibration:
    """What a market found: every rung is one of ``rungs``, which rise; at the first anybody fits.

    ``totals`` is A at the rungs of a small market beyond q*; at q* rungs may be many, and ``costs`` adds one up
    when an owner needs it. In a large market an owner of bid bin b climbs to ``rungs[j + 1]`` when her word is
    below ``climbs[j, b]``.
    """

    market: LotteryMarket
    exact: bool
    rungs: Integers
    totals: Integers
    climbs: Integers
    costs: PlainOwners | None

    @property
    def bottom(self) -> int:
        """The lowest rung of anybody."""
        return int(self.rungs[0])

    @property
    def top(self) -> int:
        """The highest rung that anybody can have."""
        return int(self.rungs[-1])


def calibrate_lottery(summary: LotterySummary, market: LotteryMarket) -> LotteryCalibration:
    """Find the rungs that any owner can have, and what the market costs at them."""
    costs = costs_of(summary, market)
    if isinstance(costs, Cells):
        return _of_cells(costs, market)
    if isinstance(costs, PlainOwners):
        return _of_owners(costs, market)
    ladder, budget = market.ladder, market.budget_micros

    def total(rung: int) -> int:
        return int(costs.totals(np.array([rung]))[0])

    bottom = last_that(lambda g: total(g) + largest_charge(market, g) <= budget, ladder.lowest - 1, ladder.highest)
    # Beyond it nobody fits: nothing is left for anyone of what all others cost.
    top = last_that(lambda g: costs.without_the_dearest(g) <= budget, bottom, ladder.highest)
    rungs = np.arange(bottom, top + 1)
    return _found(market, rungs, totals=np.concatenate([[0], costs.totals(rungs[1:])]))


def _of_owners(costs: PlainOwners, market: LotteryMarket) -> LotteryCalibration:
    """The first and the last rung of a small market at q*."""
    ladder, budget, spare = market.ladder, market.budget_micros, market.dearest
    first, above, some = ladder.lowest - 1, ladder.highest + 1, costs
    while above - first > 1:
        held = partial(_within, some, budget - spare)
        first, above = closer(held, first, above, _together(some))
        if above - first > ladder.per_octave:
            some = some.up_to(min(above, ladder.highest))  # fewer owners to go over from here on
    held = partial(_within, costs, budget + spare)
    wide = 1 + 4 * ladder.per_octave * spare // max(budget, 1)
    start, end = bracket(lambda g: bool(held(np.array([g]))[0]), first, ladder.highest, first + wide, wide)
    some = costs.up_to(min(end, ladder.highest))
    last = last_in_strides(partial(_within, some, budget + spare), start, end - 1, _together(some))
    return _found(market, np.array([first, last]), costs=some.up_to(min(last + 1, ladder.highest)))


def _within(costs: PlainOwners, limit: int, rungs: Integers) -> Booleans:
    found: Booleans = costs.totals(rungs) <= limit
    return found


def _together(costs: PlainOwners) -> int:
    return min(max(1, _TOGETHER // max(len(costs), 1)), _MOST_TOGETHER)


def _of_cells(costs: Cells, market: LotteryMarket) -> LotteryCalibration:
    """The rungs of a large market, some apart where the budget makes few payments."""
    ladder, budget, stride = market.ladder, market.budget_micros, stride_of(market)
    below = ladder.lowest - 1

    def total(step: int) -> int:
        return int(costs.totals(np.array([below + step * stride]))[0])

    highest = (ladder.highest - below) // stride
    first = last_that(lambda h: total(h) + largest_charge(market, below + h * stride) <= budget, 0, highest)
    last = last_that(lambda h: total(h) <= budget, first, highest)
    rungs = below + stride * np.arange(first, last + 1)
    climbs = [
        costs.climbing_words(g, total + largest_charge(market, g) - budget)
        for g, total in zip(rungs[1:].tolist(), costs.totals(rungs[1:]).tolist(), strict=True)
    ]
    return _found(market, rungs, climbs=np.array(climbs, dtype=np.int64).reshape(-1, BID_BINS), exact=False)


def stride_of(market: LotteryMarket) -> int:
    """How many rungs a large market takes at a time: what it may lose by that is small beside the payment put aside.

    Of public figures only, as the ladder itself must be. With a budget of K payments the rungs at which some owners fit
    and others do not lie within a factor of 1 + 1/K in cost, or in all of the ladder if K is near 1.
    """
    payments = market.budget_micros / max(largest_charge(market, market.ladder.highest), 1)
    return max(1, int(market.ladder.per_octave / (_PER_OCTAVE * max(payments, 1.0))))


def _found(
    market: LotteryMarket,
    rungs: Integers,
    *,
    totals: Integers = _NONE,
    climbs: Integers = _NONE,
    costs: PlainOwners | None = None,
    exact: bool = True,
) -> LotteryCalibration:
    for array in (rungs, totals, climbs):
        array.flags.writeable = False
    return LotteryCalibration(market=market, exact=exact, rungs=rungs, totals=totals, climbs=climbs, costs=costs)
