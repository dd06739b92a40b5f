"""A lottery cleared: summarise, calibrate, then apply to owners batch by batch. The proofs stand beside the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.lottery.calibration import LotteryCalibration, calibrate_lottery
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.prices import posted_prices, pricer
from pdqs.clearing.lottery.summaries import summarise_lottery
from pdqs.clearing.steps import in_batches
from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.model.errors import InputError


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LotteryResult:
    """Arrays in bid order. ``chance_words`` over ``words`` is the chance of being asked, exactly.

    ``q`` and ``price_micros`` are 0 for owners who are not asked. ``beyond_budget`` marks owners whose price at q* is
    more than the whole budget; they, and whoever else has a chance of 0, are the gap of the answer.
    """

    words: int
    chance_words: Integers
    asked: Booleans
    q: Floats
    price_micros: Integers
    beyond_budget: Booleans

    @property
    def chance(self) -> Floats:
        """rho of each owner."""
        chance: Floats = self.chance_words / self.words
        return chance


def clear_by_lottery(bids: Floats, draws: Words, market: LotteryMarket) -> LotteryResult:
    """Summarise, calibrate, apply.

    >>> from pdqs.pricing.rules.lottery import Lottery
    >>> from pdqs.pricing.rules.base import Setting
    >>> market = LotteryMarket(rule=Lottery(setting=Setting(q_max=0.7616)), budget_micros=2_000_000)
    >>> words = np.array([1 << 30, 3 << 30, 1 << 31], dtype=np.uint32)
    >>> found = clear_by_lottery(np.array([0.1, 0.5, 0.9]), words, market)
    >>> found.asked.tolist(), found.price_micros.tolist(), found.chance.round(3).tolist()
    ([True, False, False], [2000000, 0, 0], [1.0, 0.25, 0.083])
    """
    setting = market.form.setting
    summary = summarise_lottery(bids, draws, setting.low, setting.high, bits=market.bits)
    return apply_lottery(bids, draws, calibrate_lottery(summary, market))


def apply_lottery(bids: Floats, draws: Words, calibration: LotteryCalibration) -> LotteryResult:
    """Chances, askings and prices of a batch of owners. Batches are independent: any split gives the same result."""
    market = calibration.market
    _refuse_draws(bids, draws, market)
    price = pricer(calibration)
    found = LotteryResult(
        words=market.words,
        chance_words=np.empty(bids.size, dtype=np.int64),
        asked=np.empty(bids.size, dtype=bool),
        q=np.empty(bids.size),
        price_micros=np.empty(bids.size, dtype=np.int64),
        beyond_budget=np.zeros(bids.size, dtype=bool),
    )

    def fill(part: slice) -> None:
        own = price(bids[part], draws[part])
        found.chance_words[part] = own.chance_words
        found.asked[part] = own.asked
        found.q[part] = own.q
        found.price_micros[part] = own.price_micros
        if not market.pays_any_bid:
            found.beyond_budget[part] = market.reserve(bids[part]) > market.budget_micros

    in_batches(bids.size, fill)
    for array in (found.chance_words, found.asked, found.q, found.price_micros, found.beyond_budget):
        array.flags.writeable = False
    return found


def posted_to_all(bids: Floats, draws: Words, market: LotteryMarket) -> Integers | None:
    """The highest price at which each owner's draw would be asked, whoever is; None where that cannot be said alone.

    It can in markets of up to EXACT owners at q*: there it is the price of the asked, and too little for the others.
    """
    setting = market.form.setting
    summary = summarise_lottery(bids, draws, setting.low, setting.high, bits=market.bits)
    calibration = calibrate_lottery(summary, market)
    return None if calibration.costs is None else posted_prices(bids, draws, calibration)


def _refuse_draws(bids: Floats, draws: Words, market: LotteryMarket) -> None:
    if draws.shape != bids.shape:
        raise InputError(f"column 'draw': {draws.size} draws for {bids.size} bids")
    if draws.dtype.kind not in "ui":
        raise InputError(f"column 'draw': draws are whole words of {market.bits} bits, got {draws.dtype}")
    if np.iinfo(draws.dtype).min == 0 and np.iinfo(draws.dtype).max < market.words:
        return
    if draws.size and (int(draws.max()) >= market.words or int(draws.min()) < 0):
        raise InputError(f"column 'draw': a draw has {market.bits} bits, so it is below {market.words}")
