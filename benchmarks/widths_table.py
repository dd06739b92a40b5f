"""How wide the default's intervals are beside those of other terms, where prices say nothing about answers.

    python benchmarks/widths_table.py --out docs/results/widths --rounds 400 --seed 1

A count of 2,000 owners with uniform bids, 30 % of whom say yes. Each round makes one market and answers it under every
terms, so ratios are of the same people; the default is also what a cap of 1 is held against.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np

import pdqs

OWNERS, SHARE, LEVEL = 2000, 0.5, 0.95
BUDGETS = (0.05, 0.2, 0.5)
WAYS: dict[str, dict[str, object]] = {
    "default": {},
    "cap 1": {"epsilon_max": 1.0},
    "optimal, cap 4": {"rule": "optimal", "estimator": "weighted", "epsilon_max": 4.0},
    "robust, cap 4": {"rule": "robust", "estimator": "unbiased", "epsilon_max": 4.0},
}
ASKED: dict[tuple[str, str], tuple[float, ...]] = {
    ("default", "optimal, cap 4"): (2.75, 2.0, 1.6),
    ("default", "robust, cap 4"): (0.4, 0.4, 0.62),
    ("cap 1", "default"): (1.25, 1.25, 1.25),
}
"""At most so many times as wide, by budget."""


def widths(budget: float, rounds: int, seed: int) -> dict[str, np.ndarray]:
    """Half-widths, as shares, a round each; not a number where there was no answer."""
    rng = np.random.default_rng([seed, int(1000 * budget)])
    terms = {way: pdqs.Terms(query=pdqs.Count(), budget=budget * OWNERS, **given) for way, given in WAYS.items()}
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        values, bids = rng.random(OWNERS) < SHARE, rng.random(OWNERS)
        for way, one in terms.items():
            answer = pdqs.trade(values, bids, one, rng, level=LEVEL).answer
            low, high = (math.nan, math.nan) if answer.value is None else answer.interval
            found[way].append((high - low) / 2 / OWNERS)
    return {way: np.array(each) for way, each in found.items()}


def ratio_of(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """The ratio of the means over the rounds that both answered, and its Monte Carlo error."""
    both = ~(np.isnan(ours) | np.isnan(theirs))
    a, b = ours[both], theirs[both]
    ratio = float(a.mean() / b.mean())
    return ratio, float(np.std(a - ratio * b) / b.mean() / math.sqrt(both.sum()))


def rows_of(rounds: int, seed: int) -> list[dict[str, object]]:
    """A row for each budget and each promise."""
    rows = []
    for at, budget in enumerate(BUDGETS):
        found = widths(budget, rounds, seed)
        for (ours, theirs), bounds in ASKED.items():
            ratio, error = ratio_of(found[ours], found[theirs])
            rows.append(
                {
                    "budget": budget,
                    "of": ours,
                    "against": theirs,
                    "half_width": round(float(np.nanmean(found[ours])), 5),
                    "other": round(float(np.nanmean(found[theirs])), 5),
                    "ratio": round(ratio, 4),
                    "error": round(error, 4),
                    "at_most": bounds[at],
                    "answered": [int(np.isfinite(found[way]).sum()) for way in (ours, theirs)],
                    "rounds": rounds,
                    "seed": seed,
                }
            )
    return rows


def printed(rows: list[dict[str, object]]) -> str:
    """The table, each row with its verdict."""
    lines = [
        f"{'budget':>6}  {'width of':<9} {'against':<15} {'points':>7} {'other':>7} {'ratio':>7} {'error':>6}"
        f" {'at most':>8}"
    ]
    for row in rows:
        verdict = "holds" if float(row["ratio"]) <= float(row["at_most"]) else "FAILS"
        lines.append(
            f"{row['budget']:>5}n  {row['of']:<9} {row['against']:<15} {100 * row['half_width']:>7.2f}"
            f" {100 * row['other']:>7.2f} {row['ratio']:>7.3f} {row['error']:>6.3f} {row['at_most']:>8} {verdict}"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the command line, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = rows_of(given.rounds, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "widths.json").write_text(json.dumps(rows, indent=1) + "\n")
    (given.out / "table.txt").write_text(printed(rows) + "\n")
    print(printed(rows))


if __name__ == "__main__":
    main()
