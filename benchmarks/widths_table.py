"""How wide the default's intervals are beside those of other terms, where prices say nothing about answers.

    python benchmarks/widths_table.py --out docs/results/widths --rounds 300 --seed 1

Counts of 2,000 owners with uniform bids. Each round makes one market and answers it under every terms, so ratios are of
the same people. ``bound`` is the ratio that the offers alone allow at a share of one half, sqrt(1/I - 1/n) over the
other's, I the information for the estimator: it leaves out what small samples and the gap add.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pdqs

OWNERS, LEVEL = 2000, 0.95
SHARES = (0.3, 0.5)
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


@dataclass
class Seen:
    """What the rounds of one terms came to; a half-width is not a number where there was no answer."""

    half_widths: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    information: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        """sqrt(1/I - 1/n), I the mean information."""
        return math.sqrt(max(1.0 / float(np.mean(self.information)) - 1.0 / OWNERS, 0.0))


def played(budget: float, share: float, rounds: int, seed: int) -> dict[str, Seen]:
    """Whole rounds under each of the terms; half-widths as shares."""
    rng = np.random.default_rng([seed, int(1000 * budget), int(1000 * share)])
    terms = {way: pdqs.Terms(query=pdqs.Count(), budget=budget * OWNERS, **given) for way, given in WAYS.items()}
    found = {way: Seen() for way in WAYS}
    for _ in range(rounds):
        values, bids = rng.random(OWNERS) < share, rng.random(OWNERS)
        for way, one in terms.items():
            done = pdqs.trade(values, bids, one, rng, level=LEVEL)
            silent = done.answer.value is None
            low, high = (math.nan, math.nan) if silent else done.answer.interval
            found[way].half_widths.append((high - low) / 2 / OWNERS)
            found[way].information.append(done.offers.information_for(one.estimator))
            if not silent:
                found[way].held.append(bool(low <= values.sum() <= high))
    return found


def compared(ours: Seen, theirs: Seen) -> dict[str, float | None]:
    """The ratio of mean widths over the rounds that both answered, with its Monte Carlo error."""
    a, b = np.array(ours.half_widths), np.array(theirs.half_widths)
    both = np.isfinite(a) & np.isfinite(b)
    bound = round(ours.error / theirs.error, 3)
    if both.sum() < 2:
        return {"ratio": None, "error": None, "bound": bound}
    a, b = a[both], b[both]
    ratio = float(a.mean() / b.mean())
    error = float(np.std(a - ratio * b) / b.mean() / math.sqrt(both.sum()))
    return {"ratio": round(ratio, 4), "error": round(error, 4), "bound": bound}


def told(way: str, seen: Seen) -> dict[str, object]:
    """One terms by itself."""
    widths = np.array(seen.half_widths)
    some = widths[np.isfinite(widths)]
    return {
        "terms": way,
        "answered": len(seen.held),
        "half_width": round(float(some.mean()), 5) if some.size else None,
        "coverage": round(float(np.mean(seen.held)), 3) if seen.held else None,
    }


def rows_of(rounds: int, seed: int) -> list[dict[str, Any]]:
    """A row for each share, budget and promise."""
    rows = []
    for share, (at, budget) in itertools.product(SHARES, enumerate(BUDGETS)):
        found = played(budget, share, rounds, seed)
        for (ours, theirs), bounds in ASKED.items():
            both = {"of": told(ours, found[ours]), "against": told(theirs, found[theirs])}
            asked = {"at_most": bounds[at], "rounds": rounds, "seed": seed}
            rows.append({"share": share, "budget": budget, **both, **compared(found[ours], found[theirs]), **asked})
    return rows


def verdict(row: dict[str, Any]) -> str:
    """Whether the promise holds; within two Monte Carlo errors of it nothing can be said."""
    if row["ratio"] is None:
        return "the other gives no answer"
    off = row["ratio"] - row["at_most"]
    if abs(off) <= 2 * row["error"]:
        return "at the line"
    return "holds" if off < 0 else "FAILS"


def points(one: dict[str, Any]) -> str:
    """Half-width in points and coverage."""
    if one["half_width"] is None:
        return f"{'-':>6} {'-':>5}"
    return f"{100 * one['half_width']:>6.2f} {one['coverage']:>5.3f}"


def printed(rows: list[dict[str, Any]]) -> str:
    """The table, each row with its verdict."""
    lines = [
        f"share budget  {'width of':<9} {'points cover':>12}  {'against':<15} {'points cover':>12}"
        f" {'ratio':>6} {'error':>6} {'bound':>6} {'at most':>8}"
    ]
    for row in rows:
        ratio, error = (f"{row[name]:.3f}" if row[name] is not None else "-" for name in ("ratio", "error"))
        lines.append(
            f"{row['share']:>5} {row['budget']:>5}n  {row['of']['terms']:<9} {points(row['of'])}"
            f"  {row['against']['terms']:<15} {points(row['against'])}"
            f" {ratio:>6} {error:>6} {row['bound']:>6.3f} {row['at_most']:>8} {verdict(row)}"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the command line, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = rows_of(given.rounds, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "widths.json").write_text(json.dumps(rows, indent=1) + "\n")
    (given.out / "table.txt").write_text(printed(rows) + "\n")
    print(printed(rows))


if __name__ == "__main__":
    main()
