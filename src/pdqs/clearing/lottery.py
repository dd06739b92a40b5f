r"""Truthful and within budget for every draw: the leave-one-out ladder over bids and draws (section 9 of docs/theory).

Money is micro-units and draws are words k in 0..2^bits - 1. With R(b; g) the number of words at which bid b is asked at
rung g, T(k; g) the highest price asked at word k, c = b l* rounded up, and all P_j, A, B whole numbers:

*At q\** (the cap is at most eps\*), for markets of up to EXACT owners:

    P_j(g) = T(k_j; g) if k_j < R(b_j; g), else 0;   A(g) = sum_j P_j(g);   B_i(g) = A(g) - P_i(g)
    G_i = the largest g with B_i(g) + c_i <= beta;   chance_i = R(b_i; G_i);   asked iff k_i < chance_i
    price_i = max_g min(beta - B_i(g), T(k_i; g))

**Theorem.** For every bid vector and every draw no misreport gains anything, nobody is paid less than she asks, and
the budget holds. *Proof.* She is asked iff some g has k_i < R(b_i; g) and c_i <= beta - B_i(g), that is, iff
c_i <= price_i; and price_i does not read b_i. If asked, price_i >= c_i >= b_i l\*; if not, then
price_i <= c_i - 1 < b_i l\*, so a lie that gets her asked loses. Budget: price_i <= P_i(g_i) at the largest g_i that
attains the maximum; with m the owner whose g_i is largest, sum_i price_i <= beta - B_m(g_m) + sum_{i != m} P_i(g_m)
= beta. []  The chance is exact: B_i reads neither her bid nor her word, so she is asked at exactly chance_i of the
2^bits words that she might have drawn.

*Beyond q\**: rung_i = the largest g with B_i(g) + P(lo, k_i; g) <= beta, where P is that of
:mod:`pdqs.clearing.lottery_full`. It reads her word but not her bid: truthful to the micro-unit by which payments are
rounded up. With v_g the first word at which P(lo, .; g) fits, she is asked at the words of the union of [v_g, R(b; g)).

*More than EXACT owners*: costs by cell (:mod:`pdqs.clearing.lottery_summary`), and the largest payment is put aside in
place of c_i: rung_i = the largest g with A(g) - P_cell(i)(g) + P(lo, 0; g) <= beta reads neither her bid nor her word.

Three steps, so that streams and clusters share them: :func:`summarise_lottery`, :func:`calibrate_lottery`,
:func:`apply_lottery`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing.lottery_calibration import LotteryCalibration, calibrate_lottery
from pdqs.clearing.lottery_prices import posted_prices, pricer
from pdqs.clearing.lottery_summary import EXACT, summarise_lottery
from pdqs.clearing.lottery_words import BITS, LotteryMarket
from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.model.errors import InputError

__all__ = [
    "BITS",
    "EXACT",
    "LotteryCalibration",
    "LotteryMarket",
    "LotteryResult",
    "apply_lottery",
    "calibrate_lottery",
    "clear_by_lottery",
    "posted_prices",
    "summarise_lottery",
]

_BATCH = 2**15


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
        chance_words=np.zeros(bids.size, dtype=np.int64),
        asked=np.zeros(bids.size, dtype=bool),
        q=np.zeros(bids.size),
        price_micros=np.zeros(bids.size, dtype=np.int64),
        beyond_budget=np.zeros(bids.size, dtype=bool),
    )

    def fill(start: int) -> None:
        part = slice(start, start + _BATCH)
        own = price(bids[part], draws[part].astype(np.int64))
        found.chance_words[part] = own.chance_words
        found.asked[part] = own.asked
        found.q[part] = own.q
        found.price_micros[part] = own.price_micros
        if not market.pays_any_bid:
            found.beyond_budget[part] = market.reserve(bids[part]) > market.budget_micros

    starts = range(0, bids.size, _BATCH)
    if len(starts) > 8:
        with ThreadPoolExecutor(max_workers=2) as pool:  # NumPy lets go of the interpreter while it computes
            list(pool.map(fill, starts))
    else:
        for start in starts:
            fill(start)
    for array in (found.chance_words, found.asked, found.q, found.price_micros, found.beyond_budget):
        array.flags.writeable = False
    return found


def _refuse_draws(bids: Floats, draws: Words, market: LotteryMarket) -> None:
    if draws.shape != bids.shape:
        raise InputError(f"column 'draw': {draws.size} draws for {bids.size} bids")
    if draws.dtype.kind not in "ui":
        raise InputError(f"column 'draw': draws are whole words of {market.bits} bits, got {draws.dtype}")
    if draws.size and (int(draws.max()) >= market.words or int(draws.min()) < 0):
        raise InputError(f"column 'draw': a draw has {market.bits} bits, so it is below {market.words}")
