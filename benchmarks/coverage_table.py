"""How often the intervals of a lottery's answers cover: five patterns of prices, four queries, small and large markets.

    python benchmarks/coverage_table.py --out docs/results/coverage --rounds 2000 --seed 1

Goes on where an earlier run with the same seed and rounds stopped: every finished cell is a line of cells.jsonl. The
table printed at the end is written beside it as coverage.csv and summary.json. Each cell has its own generator, made
from the seed and the cell's name, so cells may be run in any order or left out.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from coverage_markets import PATTERNS, Market, market

from pdqs.estimate.chances import ChanceTally, sampled, tally_chances
from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.functionals import NumberMean, Shares
from pdqs.estimate.guarded import guarded_histogram, guarded_mean, guarded_quantile, guarded_shares
from pdqs.estimate.strata import cut, summarise_prices

EPSILON = 2.0
LEVEL = 0.95
TARGET = 0.94
VALUES = 10
LEVELS = 3
ROUNDING = 1e-9  # an end that equals the truth holds it


@dataclass(frozen=True)
class Cell:
    """One row of the table; ``budget`` is in units of n."""

    query: str
    pattern: str
    owners: int
    budget: float
    share: float
    missing: float

    @property
    def name(self) -> str:
        return "/".join(str(part) for part in asdict(self).values())


Outcome = tuple[list[bool], float]
"""Whether each interval of a round held, and the mean half-width. No outcome: there was no answer."""


def reported(
    made: Market, codes: np.ndarray, k: int, missing: float, rng: np.random.Generator
) -> tuple[ChanceTally, bool]:
    """Draw who is asked, what they report, and what goes missing."""
    n = codes.size
    asked = rng.random(n) < made.chances
    arrived = asked & (rng.random(n) >= missing)
    q = np.full(n, math.expm1(EPSILON) / (math.exp(EPSILON) + k - 1))
    told = np.where(rng.random(n) < q, codes, rng.integers(0, k, n))
    tally = tally_chances(
        cut(summarise_prices(made.bids, made.chances, arrived)),
        bids=made.bids,
        chances=made.chances,
        q=q,
        asked=asked,
        codes=told,
        arrived=arrived,
        domain_size=k,
    )
    enough = not why_no_answer(int(tally.reported.sum()), sampled(Shares(k), tally).information)
    return tally, enough


def values_of(trait: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values 0..9: high for those with the trait, low for the others."""
    return rng.binomial(VALUES - 1, np.where(trait == 1, 0.8, 0.25))


def held(truth: np.ndarray, low: np.ndarray | float, high: np.ndarray | float) -> np.ndarray:
    """Where the truth lies within."""
    return (low - ROUNDING <= truth) & (truth <= high + ROUNDING)


def count(made: Market, missing: float, rng: np.random.Generator) -> Outcome | None:
    """One round of a count."""
    tally, enough = reported(made, made.trait, 2, missing, rng)
    if not enough:
        return None
    ends = guarded_shares(Shares(2), tally, LEVEL)
    return [bool(held(made.trait.mean(), ends.low, ends.high)[1])], float(ends.high[1] - ends.low[1]) / 2


def histogram(made: Market, missing: float, rng: np.random.Generator) -> Outcome | None:
    """One round of a histogram: each cell apart, and last whether the simultaneous intervals all held."""
    values = values_of(made.trait, rng)
    tally, enough = reported(made, values, VALUES, missing, rng)
    if not enough:
        return None
    statistic = Shares(VALUES)
    truth = np.bincount(values, minlength=VALUES) / values.size
    apart, together = guarded_shares(statistic, tally, LEVEL), guarded_histogram(statistic, tally, LEVEL)
    all_held = held(truth, together.low, together.high).all()
    return [*held(truth, apart.low, apart.high).tolist(), bool(all_held)], float(np.mean(apart.high - apart.low)) / 2


def mean(made: Market, missing: float, rng: np.random.Generator) -> Outcome | None:
    """One round of a mean, values rounded at random to three levels."""
    values = values_of(made.trait, rng)
    top = VALUES - 1
    scaled = values * (LEVELS - 1) / top
    codes = np.minimum(np.floor(scaled) + (rng.random(values.size) < scaled % 1.0), LEVELS - 1).astype(np.int64)
    tally, enough = reported(made, codes, LEVELS, missing, rng)
    if not enough:
        return None
    statistic = NumberMean(np.linspace(0.0, top, LEVELS))
    _, low, high = guarded_mean(statistic, tally, LEVEL, level_gap=top / (LEVELS - 1))
    return [bool(held(values.mean(), low, high))], (high - low) / 2


def median(made: Market, missing: float, rng: np.random.Generator) -> Outcome | None:
    """One round of a median of reported values."""
    values = values_of(made.trait, rng)
    tally, enough = reported(made, values, VALUES, missing, rng)
    if not enough:
        return None
    ends = guarded_quantile(tally, VALUES, 0.5, LEVEL)
    truth = int(np.sort(values)[math.ceil(values.size / 2) - 1])
    return [ends.low <= truth <= ends.high], (ends.high - ends.low) / 2


QUERIES: dict[str, Callable[[Market, float, np.random.Generator], Outcome | None]] = {
    "count": count,
    "mean": mean,
    "median": median,
    "histogram": histogram,
}


def measure(cell: Cell, rounds: int, seed: int) -> dict[str, float | int | str]:
    """Fresh markets, one a round. ``coverage`` is of the worst cell of a histogram, ``together`` of all at once."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    outcomes = []
    for _ in range(rounds):
        made = market(cell.pattern, cell.owners, cell.budget, cell.share, EPSILON, rng)
        outcomes.append(QUERIES[cell.query](made, cell.missing, rng))
    given = [outcome for outcome in outcomes if outcome is not None]
    row: dict[str, float | int | str] = {**asdict(cell), "rounds": rounds, "seed": seed, "answers": len(given)}
    if not given:
        return row
    rates = np.mean([intervals for intervals, _ in given], axis=0)
    apart = rates[:-1] if cell.query == "histogram" else rates
    row["coverage"] = round(float(apart.mean()), 4)
    row["least"] = round(float(apart.min()), 4)
    row["together"] = round(float(rates[-1]), 4)
    row["half_width"] = round(float(np.mean([width for _, width in given])), 5)
    row["monte_carlo_error"] = round(math.sqrt(0.95 * 0.05 / len(given)), 4)
    return row


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """The table's rows, small markets first."""
    chosen = (arguments.owners, arguments.queries, PATTERNS, arguments.budgets, arguments.shares, arguments.missing)
    for owners, query, pattern, budget, share, missing in itertools.product(*chosen):
        yield Cell(query, pattern, owners, budget, share, missing)


def run(arguments: argparse.Namespace) -> list[dict[str, float | int | str]]:
    """Measure what is not yet on file, a line a cell."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    names = ("query", "pattern", "owners", "budget", "share", "missing")
    done = {
        Cell(**{name: row[name] for name in names}): row
        for row in lines
        if (row["rounds"], row["seed"]) == (arguments.rounds, arguments.seed)
    }
    wanted, rows, start = list(cells(arguments)), [], time.monotonic()
    with path.open("a") as out:
        for number, cell in enumerate(wanted, start=1):
            row = done.get(cell)
            if row is None:
                row = measure(cell, arguments.rounds, arguments.seed)
                print(json.dumps(row), file=out, flush=True)
                spent = time.monotonic() - start
                print(f"{number:,} of {len(wanted):,}  {cell.name}  {row.get('coverage')}  {spent:,.0f} s", flush=True)
            rows.append(row)
    return rows


def summarise(rows: list[dict[str, float | int | str]], out: Path) -> str:
    """The table by query and pattern: the least coverage of a cell, and how many lie below the target."""
    lines = [f"{'query':<10} {'pattern':<12} {'cells':>6} {'mean':>7} {'least':>7} {'below':>6}"]
    figures = []
    for query, pattern in itertools.product(QUERIES, PATTERNS):
        some = [r for r in rows if (r["query"], r["pattern"]) == (query, pattern) and int(r["answers"]) >= 200]
        if some:
            rates = [float(r["coverage"]) for r in some]
            # Below by more than three of its own standard errors: what chance alone does in 1 cell of 700.
            below = [r for r in some if float(r["coverage"]) < TARGET - 3 * float(r["monte_carlo_error"])]
            lines.append(
                f"{query:<10} {pattern:<12} {len(some):>6} {np.mean(rates):>7.4f} {min(rates):>7.4f} {len(below):>6}"
            )
            figures.append({"query": query, "pattern": pattern, "cells": len(some), "least": min(rates)})
    names = list(dict.fromkeys(name for row in rows for name in row))
    with (out / "coverage.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    (out / "summary.json").write_text(json.dumps({"command": sys.argv, "figures": figures}, indent=1) + "\n")
    return "\n".join(lines)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--owners", type=int, nargs="+", default=[50, 200, 1000, 5000, 20_000])
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.05, 0.2, 0.5, 0.9])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.1, 0.3, 0.7, 0.99])
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.3])
    parser.add_argument("--queries", nargs="+", choices=list(QUERIES), default=list(QUERIES))
    arguments = parser.parse_args()
    print(summarise(run(arguments), arguments.out))


if __name__ == "__main__":
    main()
