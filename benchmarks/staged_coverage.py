"""How often the staged interval of a quantile covers: independent prices, and the lottery with prices that tell.

    python benchmarks/staged_coverage.py --out docs/results/questions/coverage --rounds 1000 --seed 1

A group is (prices, population, owners, cap); its 16 cells are four sizes of the domain by four quantiles. One round of
a group draws and clears one market, and its cells ask about the same people, each with stages and answers of its own:
within a cell all rounds are independent. The 72 groups come in six blocks of 12, in each of which any two levels of
any two factors meet. It goes on where an earlier run with the same seed and rounds stopped: every finished cell is a
line of cells.jsonl, and each group has its own generator. What is on file so far is summed up in table.txt.

Stages of a batch of rounds are played together (staged_batches.py) and judged by the package's own test of "F(j) >= p".
In one round of twenty the answers go through the package's exact sums as well: its window must be the same, and the
error is that of its point. The gap rule of a lottery, which only widens, is left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import questions_rounds as rounds_of
from staged_batches import Batch, play

PRICES = ("independent", "lottery")
KINDS = ("smooth", "heaped", "one value", "two humps")
OWNERS = (100, 1000, 5000)
CAPS = (1.0, 2.0, 4.0)
SIZES = (10, 48, 100, 1000)
SHARES = (0.05, 0.25, 0.5, 0.9)
AXES = (PRICES, KINDS, OWNERS, CAPS, SIZES, SHARES)
NAMES = ("prices", "population", "owners", "cap", "k", "p")
BUDGET = 0.3
LEAST_REPORTS, LEAST_INFORMATION = 5, 4.0  # below these there is no answer
BATCH = 20
TARGET = 0.94
Row = dict[str, float | int | str]
Pair = tuple[int, float]
"""The size of the domain and the quantile."""


@dataclass(frozen=True)
class Group:
    """Cells that share their markets."""

    prices: str
    kind: str
    owners: int
    cap: float

    @property
    def name(self) -> str:
        return f"{self.prices}/{self.kind}/{self.owners}/{self.cap}"


PAIRS = tuple(itertools.product(SIZES, SHARES))


def blocks() -> list[list[Group]]:
    """A sixth of the groups each: prices and cap follow from population and owners, differently from block to block."""
    made = []
    for turn, shift in itertools.product((1, 0), range(3)):
        groups = [
            Group(PRICES[(i + j + turn) % 2], kind, owners, CAPS[(i + j + shift) % 3])
            for i, kind in enumerate(KINDS)
            for j, owners in enumerate(OWNERS)
        ]
        random.Random(shift).shuffle(groups)
        made.append(groups)
    return made


def name_of(group: Group, pair: Pair) -> str:
    return f"{group.name}/{pair[0]}/{pair[1]}"


def market_of(group: Group, x: np.ndarray, rng: np.random.Generator) -> rounds_of.Asked:
    """A fresh market of these people."""
    if group.prices == "independent":
        return rounds_of.independent(group.owners, BUDGET, group.cap, rng)
    return rounds_of.drawn(x, BUDGET, group.cap, rng)


def answered(group: Group, rng: np.random.Generator) -> tuple[np.ndarray, rounds_of.Asked] | None:
    """A fresh round: where its people stand and who is asked; None where that is too little for an answer."""
    x = rounds_of.positions(group.kind, group.owners, rng)
    market = market_of(group, x, rng)
    enough = market.q.size >= LEAST_REPORTS and market.information >= LEAST_INFORMATION
    return (x, market) if enough else None


def measure(group: Group, rounds: int, rng: np.random.Generator) -> dict[Pair, Row]:
    """How often the interval held, its mean width, and the point's mean error, both in parts of the range."""
    start, answers, pointed = time.process_time(), 0, 0
    held, width, error = (dict.fromkeys(PAIRS, 0.0) for _ in range(3))
    for first in range(0, rounds, BATCH):
        made = [answered(group, rng) for _ in range(min(BATCH, rounds - first))]
        if not (given := [one for one in made if one is not None]):
            continue
        answers, pointed = answers + len(given), pointed + 1
        of_size = {k: [(rounds_of.coded(x, k), market) for x, market in given] for k in SIZES}
        for k, p in PAIRS:
            batch = Batch.of(of_size[k], k, p)
            outcome = play(batch, rng)
            held[k, p] += outcome.held
            width[k, p] += outcome.width / (k - 1)
            error[k, p] += outcome.error / (k - 1)
    same: Row = {"answers": answers, "seconds": round((time.process_time() - start) / len(PAIRS), 1)}
    if not answers:
        return dict.fromkeys(PAIRS, same)
    return {
        pair: {**same, "held": int(held[pair]), "width": width[pair] / answers, "error": error[pair] / pointed}
        for pair in PAIRS
    }


def run(arguments: argparse.Namespace) -> None:
    """Measure what is not yet on file, a line a cell, and sum up after each group."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    rows = {row["cell"]: row for row in lines if (row["rounds"], row["seed"]) == (arguments.rounds, arguments.seed)}
    start = time.monotonic()
    for group in itertools.chain(*blocks()):
        if group.prices not in arguments.prices or all(name_of(group, pair) in rows for pair in PAIRS):
            continue
        if time.monotonic() - start > arguments.seconds:
            break
        rng = np.random.default_rng([arguments.seed, zlib.crc32(group.name.encode())])
        same: Row = {"rounds": arguments.rounds, "seed": arguments.seed}
        found = measure(group, arguments.rounds, rng)
        new = {name_of(group, pair): {"cell": name_of(group, pair), **same, **row} for pair, row in found.items()}
        with path.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in new.values())
        rows |= new
        print(f"{time.monotonic() - start:,.0f} s  {group.name}", flush=True)
        (arguments.out / "table.txt").write_text("\n".join(summary(list(rows.values()))) + "\n")


def summary(rows: list[Row]) -> list[str]:
    """How far it came, the least coverage and the cells below the target, by prices and by level; then every cell."""
    done = {row["cell"] for row in rows}
    lines = []
    for number, groups in enumerate(blocks(), start=1):
        cells = [name_of(group, pair) for group in groups for pair in PAIRS]
        lines.append(f"block {number}: {sum(cell in done for cell in cells)} of {len(cells)} cells")
    with_answers = [row for row in rows if row["answers"]]
    lines += [told for i, levels in enumerate(AXES) for level in levels if (told := by_level(with_answers, i, level))]
    return [*lines, *sorted(line_of(row) for row in rows)]


def coverage(row: Row) -> float:
    return float(row["held"]) / float(row["answers"])


def by_level(rows: list[Row], axis: int, level: float | str) -> str:
    """One level of one factor: its cells, their mean and least coverage, and how many are below the target."""
    some = [row for row in rows if str(row["cell"]).split("/")[axis] == str(level)]
    if not some:
        return ""
    worst = min(some, key=coverage)
    below = [row for row in some if coverage(row) < TARGET]
    clear = [r for r in below if coverage(r) < TARGET - 2 * math.sqrt(TARGET * (1 - TARGET) / float(r["answers"]))]
    mean = float(np.mean([coverage(row) for row in some]))
    return (
        f"{NAMES[axis]} {level}: {len(some)} cells, mean {mean:.4f}, least {coverage(worst):.3f} ({worst['cell']});"
        f" {len(below)} below {TARGET}, {len(clear)} by more than two standard errors"
    )


def line_of(row: Row) -> str:
    """One cell."""
    if not row["answers"]:
        return f"{row['cell']:<44} no answers"
    return (
        f"{row['cell']:<44} answers {row['answers']}  coverage {coverage(row):.3f}"
        f"  width {float(row['width']):.4f}  error {float(row['error']):.4f}"
    )


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prices", nargs="+", choices=PRICES, default=list(PRICES), help="only groups of these")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no further group after so long")
    arguments = parser.parse_args()
    run(arguments)
    print((arguments.out / "table.txt").read_text(), end="")


if __name__ == "__main__":
    main()
