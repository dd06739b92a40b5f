"""Which rungs a lottery's owners can have, from its summary alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.lottery.costs import costs_of
from pdqs.clearing.lottery.full_curve import FullRungs
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import LotterySummary
from pdqs.model.arrays import Integers


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LotteryCalibration:
    """What a market found: every rung lies in bottom..top.

    ``totals[g - bottom]`` is A(g). A market at q* of few owners has ``summary`` instead, and adds up a rung when an
    owner needs it: its rungs may be many.
    """

    market: LotteryMarket
    exact: bool
    bottom: int
    top: int
    totals: Integers
    summary: LotterySummary | None


def calibrate_lottery(summary: LotterySummary, market: LotteryMarket) -> LotteryCalibration:
    """Find the rungs that any owner can have, and what the market costs at them."""
    costs = costs_of(summary, market)
    ladder, budget = market.ladder, market.budget_micros

    def aside(rung: int) -> int:
        """The most that an owner's own bid and word could cost."""
        return market.dearest if market.form.plain else int(FullRungs(market, np.array([rung])).largest_charge[0, 0])

    def total(rung: int) -> int:
        return int(costs.totals(np.array([rung]))[0])

    spare = 0 if not summary.exact else aside(ladder.highest)  # B_i(g) is A(g) less at most this
    bottom = _last(lambda g: total(g) + aside(g) <= budget, ladder.lowest - 1, ladder.highest)
    top = _last(lambda g: total(g) - spare <= budget, bottom, ladder.highest)
    if summary.exact and market.form.plain:
        none = np.zeros(0, dtype=np.int64)
        return LotteryCalibration(market=market, exact=True, bottom=bottom, top=top, totals=none, summary=summary)
    totals = np.concatenate([[0], costs.totals(np.arange(bottom + 1, top + 1))])
    return LotteryCalibration(
        market=market, exact=summary.exact, bottom=bottom, top=top, totals=totals.astype(np.int64), summary=None
    )


def _last(holds: Callable[[int], bool], below: int, high: int) -> int:
    """The largest g in (below, high] where a condition that is true up to some point holds; ``below`` if nowhere."""
    above = high + 1
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(middle) else (below, middle)
    return below
