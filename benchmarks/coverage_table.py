"""How often intervals under the default terms cover: five patterns of prices, four queries, small and large markets.

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
import random
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from coverage_markets import PATTERNS, Market, market

import pdqs

LEVEL = 0.95
TARGET = 0.94
VALUES = 10
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


def played(query: pdqs.Query, values: np.ndarray, made: Market, cell: Cell, rng: np.random.Generator) -> pdqs.Answer:
    """One round under the default terms, from bids to answer, some of the reports lost."""
    terms = pdqs.Terms(query=query, budget=cell.budget * cell.owners)
    offers = pdqs.clear(made.bids, terms, draws=rng)
    reports = pdqs.randomise(values, offers, rng)
    return pdqs.answer(reports.only(rng.random(cell.owners) >= cell.missing), offers, terms, level=LEVEL)


def values_of(trait: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values 0..9: high for those with the trait, low for the others."""
    return rng.binomial(VALUES - 1, np.where(trait == 1, 0.8, 0.25))


def held(truth: np.ndarray | float, interval: np.ndarray) -> np.ndarray:
    """Where the truth lies within."""
    low, high = np.asarray(interval).T
    return (low - ROUNDING <= truth) & (truth <= high + ROUNDING)


def half_width(interval: np.ndarray) -> float:
    """Half the (mean) distance of the ends."""
    low, high = np.asarray(interval).T
    return float(np.mean(high - low)) / 2


def count(made: Market, cell: Cell, rng: np.random.Generator) -> Outcome | None:
    """One round of a count; widths as shares."""
    found = played(pdqs.Count(), made.trait, made, cell, rng)
    if found.value is None:
        return None
    return [bool(held(made.trait.sum(), found.interval))], half_width(found.interval) / cell.owners


def histogram(made: Market, cell: Cell, rng: np.random.Generator) -> Outcome | None:
    """One round of a histogram: each cell apart, and last whether the simultaneous intervals all held."""
    values = values_of(made.trait, rng)
    found = played(pdqs.Histogram(DOMAIN), values, made, cell, rng)
    if found.value is None:
        return None
    truth = np.bincount(values, minlength=VALUES)
    all_held = bool(held(truth, found.simultaneous).all())
    return [*held(truth, found.interval).tolist(), all_held], half_width(found.interval) / cell.owners


def mean(made: Market, cell: Cell, rng: np.random.Generator) -> Outcome | None:
    """One round of a mean."""
    values = values_of(made.trait, rng)
    found = played(pdqs.Mean(DOMAIN), values, made, cell, rng)
    return None if found.value is None else ([bool(held(values.mean(), found.interval))], half_width(found.interval))


def median(made: Market, cell: Cell, rng: np.random.Generator) -> Outcome | None:
    """One round of a median."""
    values = values_of(made.trait, rng)
    found = played(pdqs.Median(DOMAIN), values, made, cell, rng)
    truth = float(np.sort(values)[math.ceil(values.size / 2) - 1])
    return None if found.value is None else ([bool(held(truth, found.interval))], half_width(found.interval))


DOMAIN = pdqs.Domain.grid(0, VALUES - 1, 1)
QUERIES: dict[str, Callable[[Market, Cell, np.random.Generator], Outcome | None]] = {
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
        made = market(cell.pattern, cell.owners, cell.share, rng)
        outcomes.append(QUERIES[cell.query](made, cell, rng))
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
    """The table's rows in an order shuffled by the seed: a run that is stopped has measured a fair sample of them."""
    chosen = (arguments.owners, arguments.queries, PATTERNS, arguments.budgets, arguments.shares, arguments.missing)
    rows = list(itertools.product(*chosen))
    random.Random(arguments.seed).shuffle(rows)
    for owners, query, pattern, budget, share, missing in rows[: arguments.most]:
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
    parser.add_argument("--most", type=int, default=None, help="the first so many cells of the shuffled table")
    parser.add_argument("--owners", type=int, nargs="+", default=[50, 200, 1000, 5000, 20_000])
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.05, 0.2, 0.5, 0.9])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.1, 0.3, 0.7, 0.99])
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.3])
    parser.add_argument("--queries", nargs="+", choices=list(QUERIES), default=list(QUERIES))
    arguments = parser.parse_args()
    print(summarise(run(arguments), arguments.out))


if __name__ == "__main__":
    main()
