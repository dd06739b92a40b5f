"""Large markets by lottery: what share of the budget is spent, and whether anybody gains by a lie; JSON lines.

    python benchmarks/lottery_large.py [OWNERS] [LIARS]

Budgets from a thousandth of a unit an owner to nine tenths. Of each market some owners, half of them asked and half
not, try twenty lies each: the most that any of them gained is given in micro-units, and must not pass what rounding
gives away.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from pdqs.clearing.lottery import LotteryMarket, apply_lottery, calibrate_lottery, clear_by_lottery, summarise_lottery
from pdqs.clearing.lottery.summaries import LotterySummary, count_cells
from pdqs.model.arrays import Floats, Words
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.loss import cap_q

LIES = 20


def most_gained(bids: Floats, draws: Words, market: LotteryMarket, liars: int, rng: np.random.Generator) -> float:
    """The most that any of some owners gains by any of some lies. Only her own cell of the summary changes."""
    setting = market.form.setting
    summary = summarise_lottery(bids, draws, setting.low, setting.high)
    found = clear_by_lottery(bids, draws, market)
    most = -np.inf
    asked, others = np.flatnonzero(found.asked), np.flatnonzero(~found.asked)
    chosen = np.append(rng.choice(asked, liars - liars // 2), rng.choice(others, liars // 2))
    for i in chosen.tolist():
        own = slice(i, i + 1)
        loads = setting.load(found.q[own])
        honest = float(found.price_micros[i]) - bids[i] * float(loads[0]) * 1e6
        without = summary.cells - count_cells(bids[own], draws[own], setting.low, setting.high, market.bits)
        for lie in np.append(rng.random(LIES - 2), [setting.low, setting.high]):
            told = np.array([lie])
            cells = without + count_cells(told, draws[own], setting.low, setting.high, market.bits)
            moved = LotterySummary(
                low=summary.low,
                high=summary.high,
                bits=summary.bits,
                owners=summary.owners,
                bids=summary.bids,
                draws=summary.draws,
                cells=cells,
            )
            lied = apply_lottery(told, draws[own], calibrate_lottery(moved, market))
            gained = float(lied.price_micros[0]) - bids[i] * float(setting.load(lied.q)[0]) * 1e6
            most = max(most, gained - honest)
    return most


def measured(owners: int, budget_per_owner: float, cap: float, liars: int) -> dict[str, float]:
    """One market."""
    rng = np.random.default_rng(11)
    bids, draws = rng.random(owners), rng.integers(0, 2**32, owners, dtype=np.uint32)
    rule = Lottery(setting=Setting(q_max=cap_q(cap, 2)))
    market = LotteryMarket(rule=rule, budget_micros=int(budget_per_owner * owners * 1e6))
    found = clear_by_lottery(bids, draws, market)
    spent = int(found.price_micros.sum())
    return {
        "owners": owners,
        "budget_per_owner": budget_per_owner,
        "cap": cap,
        "spent": round(spent / market.budget_micros, 5),
        "within_budget": spent <= market.budget_micros,
        "asked": int(found.asked.sum()),
        "liars": liars,
        "most_gained_micros": round(most_gained(bids, draws, market, liars, rng), 6) if liars else 0.0,
    }


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    probes = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for cap in (2.0, 4.0):
        for budget in (0.001, 0.01, 0.1, 0.3, 0.9):
            print(json.dumps(measured(wanted, budget, cap, probes)), flush=True)
