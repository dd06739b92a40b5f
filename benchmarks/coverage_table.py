"""How often intervals under the default terms cover: five patterns of prices, four queries, small and large markets.

    python benchmarks/coverage_table.py --out docs/results/coverage --rounds 2000 --seed 1 [--seconds 3600]

Goes on where an earlier run with the same seed and rounds stopped: every finished cell is a line of cells.jsonl, and
what it comes to is written beside it as table.txt and coverage.csv. Each group of cells has its own generator, made
from the seed and the group's name. Cells of one group share bids, draws and, where they ask the same, reports: within a
cell all rounds are independent, fresh markets. A cell with fewer than 8 answers in its first 400 rounds stops there.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from coverage_design import MISSING, QUERIES, Group, groups
from coverage_markets import Market, market
from coverage_summary import Row, write_summary

import pdqs

LEVEL = 0.95
VALUES = 10
DOMAIN = pdqs.Domain.grid(0, VALUES - 1, 1)
ASKED: dict[str, pdqs.Query] = {
    "count": pdqs.Count(),
    "mean": pdqs.Mean(DOMAIN),
    "median": pdqs.Median(DOMAIN),
    "histogram": pdqs.Histogram(DOMAIN),
}
ROUNDING = 1e-9  # an end that equals the truth holds it
LOOK_AFTER, LEAST_ANSWERS = 400, 8

Outcome = tuple[list[bool], float]
"""Whether each interval of a round held, and the mean half-width."""


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


def of_count(found: pdqs.Answer, values: np.ndarray) -> Outcome:
    """Widths as shares."""
    return [bool(held(values.sum(), found.interval))], half_width(found.interval) / values.size


def of_mean(found: pdqs.Answer, values: np.ndarray) -> Outcome:
    return [bool(held(values.mean(), found.interval))], half_width(found.interval)


def of_median(found: pdqs.Answer, values: np.ndarray) -> Outcome:
    truth = float(np.sort(values)[math.ceil(values.size / 2) - 1])
    return [bool(held(truth, found.interval))], half_width(found.interval)


def of_histogram(found: pdqs.Answer, values: np.ndarray) -> Outcome:
    """Each cell apart, and last whether the simultaneous intervals all held."""
    truth = np.bincount(values, minlength=VALUES)
    all_held = bool(held(truth, found.simultaneous).all())
    return [*held(truth, found.interval).tolist(), all_held], half_width(found.interval) / values.size


JUDGED: dict[str, Callable[[pdqs.Answer, np.ndarray], Outcome]] = {
    "count": of_count,
    "mean": of_mean,
    "median": of_median,
    "histogram": of_histogram,
}

Cells = dict[tuple[str, float], list[Outcome]]


def played(group: Group, made: Market, open_: Cells, rng: np.random.Generator) -> None:
    """One round from bids to answers under the default terms; what is judged is added to the cells that are open."""
    values = made.trait if group.kind == "counts" else values_of(made.trait, rng)
    terms = [pdqs.Terms(query=ASKED[query], budget=group.budget * group.owners) for query in QUERIES[group.kind]]
    offers = pdqs.clear(made.bids, terms[0], draws=rng)
    reports = pdqs.randomise(values, offers, rng)
    arrived = rng.random(group.owners)
    for missing in MISSING:
        got = reports.only(arrived >= missing)
        for one in terms:
            cell = (one.query.kind, missing)
            if cell not in open_:
                continue
            found = pdqs.answer(got, offers, one, level=LEVEL)
            if found.value is not None:
                open_[cell].append(JUDGED[one.query.kind](found, values))


def measure(group: Group, rounds: int, seed: int) -> list[Row]:
    """Fresh markets, one a round, to a row for each cell of the group."""
    rng = np.random.default_rng([seed, zlib.crc32(group.name.encode())])
    open_: Cells = {(query, missing): [] for query in QUERIES[group.kind] for missing in MISSING}
    rows, start, done = [], time.process_time(), 0
    while open_ and done < rounds:
        played(group, market(group.pattern, group.owners, group.share, rng), open_, rng)
        done += 1
        if done in (rounds, LOOK_AFTER):
            over = [cell for cell, given in open_.items() if done == rounds or len(given) < LEAST_ANSWERS]
            rows += [row_of(group, cell, open_.pop(cell), done, rounds, seed) for cell in over]
    spent = (time.process_time() - start) / max(len(rows), 1)
    return [row | {"cpu_seconds": round(spent, 1)} for row in rows]


def row_of(group: Group, cell: tuple[str, float], given: list[Outcome], done: int, rounds: int, seed: int) -> Row:
    """One line: of a histogram ``coverage`` is the mean over its cells and ``least`` the worst of them."""
    query, missing = cell
    row: Row = {
        "query": query,
        "question": "trait" if group.kind == "counts" else "values",
        "pattern": group.pattern,
        "owners": group.owners,
        "budget": group.budget,
        "share": group.share,
        "missing": missing,
        "rounds": rounds,
        "played": done,
        "seed": seed,
        "answers": len(given),
    }
    if not given:
        return row
    rates = np.mean([intervals for intervals, _ in given], axis=0)
    apart = rates[:-1] if query == "histogram" else rates
    row["coverage"] = round(float(apart.mean()), 4)
    row["least"] = round(float(apart.min()), 4)
    row["together"] = round(float(rates[-1]), 4)
    row["half_width"] = round(float(np.mean([width for _, width in given])), 5)
    row["monte_carlo_error"] = round(math.sqrt(LEVEL * (1 - LEVEL) / len(given)), 4)
    return row


def run(arguments: argparse.Namespace) -> list[Row]:
    """Measure what is not yet on file, a line a cell."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    rows = [row for row in lines if (row["rounds"], row["seed"]) == (arguments.rounds, arguments.seed)]
    done = {(row["question"], row["pattern"], row["owners"], row["budget"], row["share"]) for row in rows}
    start = time.monotonic()
    for group in groups():
        question = "trait" if group.kind == "counts" else "values"
        if (question, group.pattern, group.owners, group.budget, group.share) in done:
            continue
        if time.monotonic() - start > arguments.seconds:
            break
        found = measure(group, arguments.rounds, arguments.seed)
        with path.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in found)
        rows += found
        write_summary(rows, arguments.out)
        rates = "  ".join(f"{row['query']} {row['missing']}: {row.get('coverage')}" for row in found)
        print(f"{time.monotonic() - start:,.0f} s  {group.name}  {rates}", flush=True)
    return rows


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no further cell after so long")
    arguments = parser.parse_args()
    print(write_summary(run(arguments), arguments.out))


if __name__ == "__main__":
    main()
