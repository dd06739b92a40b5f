"""How long a lottery takes to clear, beside a plain sort of the same bids; prints one line a market as JSON.

    python benchmarks/lottery_clearing.py [OWNERS] [ROUNDS]

Sort and clearing take turns in one process, so that both see the same machine; the ratio is that of the least times,
by the clock and by the processor (both threads of a clearing together).
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from pdqs.clearing.lottery import LotteryMarket, apply_lottery, calibrate_lottery, summarise_lottery
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.loss import cap_q


def measured(owners: int, rounds: int, budget_per_owner: float, cap: float) -> dict[str, float]:
    """Least seconds of each step over some rounds."""
    rng = np.random.default_rng(7)
    bids, draws = rng.random(owners), rng.integers(0, 2**32, owners, dtype=np.uint32)
    rule = Lottery(setting=Setting(q_max=cap_q(cap, 2)))
    market = LotteryMarket(rule=rule, budget_micros=int(budget_per_owner * owners * 1e6))
    least = {"sort": np.inf, "summarise": np.inf, "calibrate": np.inf, "apply": np.inf, "clear": np.inf}
    work = {"sort": np.inf, "clear": np.inf}
    for _ in range(rounds):
        clock, cpu = [time.perf_counter()], [time.process_time()]
        np.sort(bids)
        clock.append(time.perf_counter())
        cpu.append(time.process_time())
        summary = summarise_lottery(bids, draws, 0.0, 1.0)
        clock.append(time.perf_counter())
        calibration = calibrate_lottery(summary, market)
        clock.append(time.perf_counter())
        found = apply_lottery(bids, draws, calibration)
        clock.append(time.perf_counter())
        cpu.append(time.process_time())
        steps = np.diff(clock)
        for name, seconds in zip(least, [*steps, steps[1:].sum()], strict=True):
            least[name] = min(least[name], float(seconds))
        for name, seconds in zip(work, np.diff(cpu), strict=True):
            work[name] = min(work[name], float(seconds))
    spent = float(found.price_micros.sum()) / market.budget_micros
    return {"owners": owners, "budget_per_owner": budget_per_owner, "cap": cap, "spent": round(spent, 5)} | {
        **{name: round(seconds, 4) for name, seconds in least.items()},
        "sorts": round(least["clear"] / least["sort"], 2),
        "sorts_of_cpu": round(work["clear"] / work["sort"], 2),
    }


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for budget in (0.05, 0.3):
        print(json.dumps(measured(wanted, times, budget, 2.0)), flush=True)
