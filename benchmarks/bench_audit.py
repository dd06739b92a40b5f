"""How the cost of one misreport grows with the market: at most as n log n.

A misreport is one lie of one owner, put to the mechanism afresh: ``Mechanism.deal``. Its cost is timed for markets of
growing size, as a ratio to the smallest, and a straight line is fitted through the logarithms of cost and of n log n:
its slope is the exponent, 1 for n log n itself. Run it by itself for the table and the fit::

    python benchmarks/bench_audit.py --out docs/results/audit/growth.json
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

import pdqs
from pdqs.auditing.mechanism import SHIPPED

SIZES = (100, 300, 1_000, 3_000, 10_000, 20_000, 40_000, 60_000)
TERMS = {
    "sound": pdqs.presets.sound,
    "gpqm-linear": pdqs.presets.gpqm_linear,
    "fairquery": pdqs.presets.fairquery,
}


def lie(name: str, n: int, seed: int = 1):
    """A market of n owners, and a function that puts one more lie of the first owner to it."""
    rng = np.random.default_rng(seed)
    terms = TERMS[name](query=pdqs.Count(), budget=0.1 * n)
    bids = rng.random(n)

    def once() -> None:
        bids[0] = rng.random()
        SHIPPED.deal(bids, 0, terms)

    once()  # the tables of the ladder's rungs are made once for a market, not once for a lie
    return once


@pytest.mark.parametrize("n", SIZES[:5])
@pytest.mark.parametrize("name", TERMS)
def test_one_misreport(benchmark, name, n):
    benchmark(lie(name, n))


def seconds(once, repeats: int = 60) -> float:
    """The least of several CPU times: what it costs when nothing else is going on."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        once()
        taken.append(time.process_time() - start)
    return min(taken)


def growth(name: str) -> dict[str, object]:
    """Cost by size, and the exponent of (n log n) that fits it: 1 is n log n itself, below 1 is slower growth."""
    costs = [seconds(lie(name, n)) for n in SIZES]
    work = [math.log(n * math.log(n)) for n in SIZES]
    exponent = float(np.polyfit(work, np.log(costs), 1)[0])
    tail = float(np.polyfit(work[-4:], np.log(costs[-4:]), 1)[0])
    ratios = [cost / costs[0] for cost in costs]
    allowed = [n * math.log(n) / (SIZES[0] * math.log(SIZES[0])) for n in SIZES]
    return {
        "sizes": SIZES,
        "cost_over_smallest": [round(ratio, 2) for ratio in ratios],
        "n_log_n_over_smallest": [round(ratio, 2) for ratio in allowed],
        "exponent_of_n_log_n": round(exponent, 3),
        "exponent_from_10000_on": round(tail, 3),
        "milliseconds_at_10000": round(1e3 * costs[SIZES.index(10_000)], 2),
    }


def main() -> None:
    """Print the fits, and write them if asked to."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path)
    out = options.parse_args().out
    found = {
        "command": f"python benchmarks/bench_audit.py --out {out.as_posix() if out else ''}",
        "seed": 1,
        **{n: growth(n) for n in TERMS},
    }
    text = json.dumps(found, indent=2) + "\n"
    print(text, end="")
    if out is not None:
        out.write_text(text)


if __name__ == "__main__":
    main()
