"""How often the staged interval of a quantile covers: independent prices, and the lottery with prices that tell.

    python benchmarks/staged_coverage.py --out docs/results/questions/coverage --rounds 1000 --seed 1

A group is (prices, population, owners, cap); its cells are the sizes of the domain and the quantiles. One round of a
group draws and clears one market, and its cells ask about the same people, each with stages and answers of its own:
within a cell all rounds are independent. The grid comes in four blocks. In each a group meets every size and every
quantile once, paired by a shift that depends on the group, so that any two levels of any two factors meet in every
block; the hardest corners stand in the first. It goes on where an earlier run with the same seed and rounds stopped:
every finished cell is a line of cells.jsonl, and each block of a group has its own generator. What is on file so far
is summed up in table.txt.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import questions_rounds as rounds_of

from pdqs.estimate.side_intervals import answer_reach, point, window

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
POINTED = 5  # the point is read in one round of so many: it costs as much as the interval
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

    @property
    def shift(self) -> int:
        """Which quantile goes with which size, differently from group to group."""
        axes = ((PRICES, self.prices), (KINDS, self.kind), (OWNERS, self.owners), (CAPS, self.cap))
        return sum(levels.index(level) for levels, level in axes)

    def pairs(self, block: int) -> list[Pair]:
        """Every size once and every quantile once; in the first block also the ends at the fewest owners."""
        turned = [(k, SHARES[(i + self.shift + block) % 4]) for i, k in enumerate(SIZES)]
        hard = self.owners == min(OWNERS) and self.cap == min(CAPS)
        ends = itertools.product((SIZES[0], SIZES[-1]), (SHARES[0], SHARES[-1])) if hard else ()
        if block == 0:
            return list(dict.fromkeys([*turned, *ends]))
        return [pair for pair in turned if pair not in set(ends)]


def units() -> Iterator[tuple[int, Group]]:
    """Blocks one after the other, the groups of each in a shuffled order."""
    groups = [Group(*each) for each in itertools.product(PRICES, KINDS, OWNERS, CAPS)]
    for block in range(4):
        random.Random(block).shuffle(groups)
        yield from ((block, group) for group in groups)


def name_of(group: Group, pair: Pair) -> str:
    return f"{group.name}/{pair[0]}/{pair[1]}"


def market_of(group: Group, x: np.ndarray, rng: np.random.Generator) -> rounds_of.Asked:
    """A fresh market of these people."""
    if group.prices == "independent":
        return rounds_of.independent(group.owners, BUDGET, group.cap, rng)
    return rounds_of.drawn(x, BUDGET, group.cap, rng)


def measure(group: Group, pairs: list[Pair], rounds: int, rng: np.random.Generator) -> dict[Pair, Row]:
    """How often the interval held, its mean width, and the point's mean error, both in parts of the range."""
    lottery, answers, start = group.prices == "lottery", 0, time.process_time()
    reach = answer_reach(lottery=lottery)
    held, width, error = (dict.fromkeys(pairs, 0.0) for _ in range(3))
    for _ in range(rounds):
        x = rounds_of.positions(group.kind, group.owners, rng)
        market = market_of(group, x, rng)
        if market.q.size < LEAST_REPORTS or market.information < LEAST_INFORMATION:
            continue
        for k, p in pairs:
            codes = rounds_of.coded(x, k)
            tally = rounds_of.staged(codes, market, k, p, rng)
            found, truth = window(tally, k, reach, lottery=lottery), rounds_of.quantile(codes, k, p)
            held[k, p] += found.low <= truth <= found.high
            width[k, p] += (found.high - found.low) / (k - 1)
            if answers % POINTED == 0:
                error[k, p] += abs(point(tally, k, lottery=lottery) - truth) / (k - 1)
        answers += 1
    seconds, pointed = (time.process_time() - start) / len(pairs), math.ceil(answers / POINTED)
    if not answers:
        return {pair: {"answers": 0, "seconds": round(seconds, 1)} for pair in pairs}
    return {
        pair: {
            "answers": answers,
            "held": int(held[pair]),
            "width": width[pair] / answers,
            "error": error[pair] / pointed,
            "seconds": round(seconds, 1),
        }
        for pair in pairs
    }


def run(arguments: argparse.Namespace) -> None:
    """Measure what is not yet on file, a line a cell, and sum up after each group."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    rows = {row["cell"]: row for row in lines if (row["rounds"], row["seed"]) == (arguments.rounds, arguments.seed)}
    start = time.monotonic()
    for block, group in units():
        pairs = group.pairs(block)
        if all(name_of(group, pair) in rows for pair in pairs):
            continue
        if time.monotonic() - start > arguments.seconds:
            break
        rng = np.random.default_rng([arguments.seed, zlib.crc32(group.name.encode()), block])
        same: Row = {"rounds": arguments.rounds, "seed": arguments.seed}
        found = measure(group, pairs, arguments.rounds, rng)
        new = {name_of(group, pair): {"cell": name_of(group, pair), **same, **row} for pair, row in found.items()}
        with path.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in new.values())
        rows |= new
        print(f"{time.monotonic() - start:,.0f} s  block {block + 1}  {group.name}", flush=True)
        (arguments.out / "table.txt").write_text("\n".join(summary(list(rows.values()))) + "\n")


def summary(rows: list[Row]) -> list[str]:
    """How far it came, the least coverage and the cells below the target, by prices and by level; then every cell."""
    whole = list(dict.fromkeys(group for _, group in units()))
    done = {row["cell"] for row in rows}
    lines = []
    for block in range(4):
        cells = [name_of(group, pair) for group in whole for pair in group.pairs(block)]
        lines.append(f"block {block + 1}: {sum(cell in done for cell in cells)} of {len(cells)} cells")
    answered = [row for row in rows if row["answers"]]
    lines += [told for i, levels in enumerate(AXES) for level in levels if (told := by_level(answered, i, level))]
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
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no further group after so long")
    arguments = parser.parse_args()
    run(arguments)
    print((arguments.out / "table.txt").read_text(), end="")


if __name__ == "__main__":
    main()
