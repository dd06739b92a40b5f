"""What smaller questions gain at equal money and eps.

    python benchmarks/questions_table.py --out docs/results/questions --rounds 400 --seed 1

Goes on where an earlier run with the same seed and rounds stopped: every finished cell is a line of cells.jsonl. Each
cell has its own generator, made from the seed and the cell's name, so cells may be run in any order or left out. The
table printed at the end is written beside it as table.txt, with the command in summary.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import questions_rounds as rounds_of

import pdqs
from pdqs.experiments import populations
from pdqs.model.query import Query
from pdqs.rounds.predicted import buckets_for, cell_error, levels_for, mean_error

OWNERS = 2000
BUDGET = 0.3
MEDIAN_BUDGET = 0.5
KINDS = ("smooth", "heaped", "one value", "two humps")
Row = dict[str, float | int | str]


@dataclass(frozen=True)
class Cell:
    """One line: a part of the table and its settings."""

    part: str
    settings: tuple[str | int | float, ...]

    @property
    def name(self) -> str:
        return "/".join(map(str, (self.part, *self.settings)))


def mean_square(errors: list[np.ndarray]) -> float:
    return float(np.mean(np.square(np.concatenate(errors))))


def means(settings: tuple, rounds: int, rng: np.random.Generator) -> Row:
    """MSE of the mean by levels over that by whole values, over four kinds of population in turn."""
    k, cap = settings
    found = [
        rounds_of.mean_errors(rounds_of.people(kind, OWNERS, k, rng), k, BUDGET, cap, rng)
        for _, kind in zip(range(rounds), itertools.cycle(KINDS), strict=False)
    ]
    asked, value = (mean_square([one[name] for one in found]) for name in ("asked", "value"))
    g = min(levels_for(cap), k)
    predicted = mean_error(rounds_of.all_bought(OWNERS, BUDGET, cap, g), g, rounded=g < k)
    row: Row = {
        "ratio": asked / value,
        "error": math.sqrt(asked),
        "simulated/predicted": math.sqrt(asked) / predicted,
        "coverage": float(np.mean([one["held"] for one in found])),
    }
    return as_asked(row, auto(pdqs.Mean(rounds_of.grid(k)), cap))


def histograms(settings: tuple, rounds: int, rng: np.random.Generator) -> Row:
    """MSE of all cells by buckets over that by whole values: raw, and both projected on the simplex."""
    k, cap = settings
    found = [
        rounds_of.histogram_errors(rounds_of.people("smooth", OWNERS, k, rng), k, BUDGET, cap, rng)
        for _ in range(rounds)
    ]
    asked, value, shown = (mean_square([one[name] for one in found]) for name in ("asked", "value", "shown"))
    value_shown = mean_square([one.get("value shown", one["shown"]) for one in found])
    g = buckets_for(cap)
    predicted = cell_error(rounds_of.all_bought(OWNERS, BUDGET, cap, min(g, k)), k, min(g, k), mixed=g < k)
    row: Row = {
        "ratio": asked / value,
        "error": math.sqrt(asked),
        "shown/raw": shown / asked,
        "shown ratio": shown / value_shown,
        "simulated/predicted": math.sqrt(asked) / predicted,
        "coverage": float(np.mean([one["held"].mean() for one in found])),
    }
    return as_asked(row, auto(pdqs.Histogram(rounds_of.grid(k)), cap))


def auto(query: Query, cap: float) -> str:
    """The question that terms with this cap ask unless told otherwise."""
    return pdqs.presets.sound(query=query, budget=1.0, epsilon_max=cap, question="auto").asking.kind


def as_asked(row: Row, kind: str) -> Row:
    """A row with the question that is asked by default, and what that one comes to beside whole values."""
    return {**row, "auto": kind, "auto ratio": 1.0 if kind == "value" else row["ratio"]}


def medians(settings: tuple, rounds: int, rng: np.random.Generator) -> Row:
    """Mean absolute error on one of the six populations, in the units of its domain."""
    name, cap = settings
    population = populations.load(name)
    histogram, step = np.array(population.histogram), population.median_domain.step
    found = [rounds_of.median_errors(histogram, MEDIAN_BUDGET, cap, rng) for _ in range(rounds)]
    row: Row = {name: step * float(np.mean([one[name] for one in found])) for name in found[0]}
    row["bound"] = step * rounds_of.bound_error(histogram, MEDIAN_BUDGET, cap)
    row["ratio"] = float(row["staged"]) / float(row["value"]) if row["value"] else math.nan
    return as_asked(row, auto(pdqs.Median(population.median_domain), cap))


PARTS: dict[str, Callable[[tuple, int, np.random.Generator], Row]] = {
    "means": means,
    "histograms": histograms,
    "medians": medians,
}


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """The chosen parts of the table, each in a shuffled order, so that a stopped run is a fair sample."""
    axes: dict[str, tuple] = {
        "means": (arguments.sizes, arguments.caps),
        "histograms": (arguments.sizes, arguments.caps),
        "medians": (populations.names(), arguments.caps),
    }
    for part in arguments.parts:
        whole = [Cell(part, settings) for settings in itertools.product(*axes[part])]
        yield from sorted(whole, key=lambda cell: zlib.crc32(cell.name.encode()))


def run(arguments: argparse.Namespace) -> list[Row]:
    """Measure what is not yet on file, a line a cell."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    same = (arguments.rounds, arguments.seed)
    done = {row["cell"]: row for row in lines if (row["rounds"], row["seed"]) == same}
    rows, start = [], time.monotonic()
    with path.open("a") as out:
        for cell in cells(arguments):
            if (row := done.get(cell.name)) is None:
                rng = np.random.default_rng([arguments.seed, zlib.crc32(cell.name.encode())])
                measured = PARTS[cell.part](cell.settings, arguments.rounds, rng)
                row = {"cell": cell.name, "rounds": arguments.rounds, "seed": arguments.seed, **measured}
                print(json.dumps(row), file=out, flush=True)
                print(f"{time.monotonic() - start:,.0f} s  {line_of(row)}", flush=True)
            rows.append(row)
    return rows


def line_of(row: Row) -> str:
    """One row of the table."""
    figures = {name: value for name, value in row.items() if name not in ("cell", "rounds", "seed")}
    return f"{row['cell']:<48} " + "  ".join(
        f"{name} {value if isinstance(value, str) else format(value, '.3g')}" for name, value in figures.items()
    )


def summarise(rows: list[Row]) -> list[str]:
    """What the targets are about: geometric means and worst ratios."""
    lines = [line_of(row) for row in sorted(rows, key=lambda row: str(row["cell"]))]
    for cap in (1.0, 4.0):
        some = [row for row in rows if str(row["cell"]).startswith("medians/") and str(row["cell"]).endswith(f"/{cap}")]
        gain = [float(row["value"]) / float(row["staged"]) for row in some if float(row["staged"]) > 0]
        over = [float(row["staged"]) / float(row["bound"]) for row in some if float(row["bound"]) > 0]
        if gain:
            lines.append(f"medians at cap {cap}: whole values over staged, geometric mean {geometric(gain):.2f}, least")
            lines[-1] += f" {min(gain):.2f}; staged over the bound, geometric mean {geometric(over):.2f}"
            asked = max(float(row["auto ratio"]) for row in some)
            lines.append(f"medians at cap {cap}: what is asked by default over whole values, worst {asked:.2f}")
    for part in ("means", "histograms"):
        some = [row for row in rows if str(row["cell"]).startswith(f"{part}/")]
        if some:
            worst = max(some, key=lambda row: float(row["auto ratio"]))
            lines.append(f"{part}: what is asked by default over whole values, worst {worst['auto ratio']:.2f}")
            lines[-1] += f" ({worst['cell']})"
    return lines


def geometric(figures: list[float]) -> float:
    """The geometric mean; a figure of 0 makes it 0."""
    return math.exp(float(np.mean(np.log(figures)))) if min(figures) > 0 else 0.0


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 48, 50, 100, 1000])
    parser.add_argument("--caps", type=float, nargs="+", default=[0.5, 1.0, 2.0, 4.0])
    arguments = parser.parse_args()
    lines = summarise(run(arguments))
    (arguments.out / "table.txt").write_text("\n".join(lines) + "\n")
    command = ["benchmarks/questions_table.py", *sys.argv[1:]]
    (arguments.out / "summary.json").write_text(json.dumps({"command": command, "lines": len(lines)}) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
