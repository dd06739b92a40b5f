"""What the coverage table comes to: written by the run itself, from its rows alone."""

from __future__ import annotations

import csv
import itertools
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

LEVEL, TARGET = 0.95, 0.94
ENOUGH = 200
"""Cells with fewer answers are listed and not judged: their Monte Carlo error is beyond .015."""

ERRORS, ERRORS_OF_WORST = 3.0, 3.6
"""A cell is below when it is so many of its own standard errors under the target: by chance 1 in 700 at a coverage of
just .94, for the worst of a histogram's ten cells as for a cell alone."""

Row = dict[str, Any]
FACTORS = ("query", "question", "pattern", "owners", "budget", "share", "missing")


def merged(rows: list[Row]) -> list[Row]:
    """The parts of each cell added up: of a histogram ``coverage`` is the mean of its cells, ``least`` the worst."""
    by_cell: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        by_cell[tuple(row[name] for name in FACTORS)].append(row)
    found = []
    for cell, some in by_cell.items():
        answers = sum(row["answers"] for row in some)
        one: Row = dict(zip(FACTORS, cell, strict=True))
        one |= {"rounds": sum(row["rounds"] for row in some), "answers": answers}
        if answers:
            rates = np.sum([row["held"] for row in some if row["held"]], axis=0) / answers
            apart = rates[:-1] if one["query"] == "histogram" else rates
            one |= {"coverage": round(float(apart.mean()), 4), "least": round(float(apart.min()), 4)}
            one |= {"together": round(float(rates[-1]), 4)}
            one |= {"half_width": round(sum(row["half_widths"] for row in some) / answers, 5)}
            one |= {"monte_carlo_error": round(math.sqrt(LEVEL * (1 - LEVEL) / answers), 4)}
        found.append(one)
    return found


def is_below(row: Row) -> bool:
    """Beyond chance, in any of the three ways a row can be."""
    error = float(row["monte_carlo_error"])
    return (
        min(float(row["coverage"]), float(row["together"])) < TARGET - ERRORS * error
        or float(row["least"]) < TARGET - ERRORS_OF_WORST * error
    )


def described(row: Row) -> str:
    """A cell in a line."""
    at = f"{row['query']:<10} {row['question']:<7} {row['pattern']:<12} {row['owners']:>6} {row['budget']:>5}n"
    rates = [f"{float(row[name]):.4f}" if name in row else "-" for name in ("coverage", "least", "together")]
    error = f"{float(row['monte_carlo_error']):.4f}" if "monte_carlo_error" in row else "-"
    shown = " ".join(f"{text:>8}" for text in (*rates, error))
    return f"{at} {row['share']:>5} {row['missing']:>7} {row['answers']:>6} of {row['rounds']:>5} {shown}"


HEAD = (
    f"{'query':<10} {'asked':<7} {'pattern':<12} {'owners':>6} {'budget':>6} {'share':>5} {'missing':>7}"
    f" {'answers of rounds':>15} {'covered':>8} {'worst':>8} {'jointly':>8} {'error':>8}"
)


def by_query(judged: list[Row]) -> list[str]:
    """Query by question: the intervals of all cells together, the least cell, and how many rounds a cell has."""
    lines = [
        f"{'query':<10} {'asked':<7} {'cells':>6} {'intervals':>10} {'covered':>8} {'least':>7} {'worst':>7}"
        f" {'jointly':>8} {'under .94':>10} {'beyond chance':>14} {'rounds a cell':>14}"
    ]
    for query, question in sorted({(str(row["query"]), str(row["question"])) for row in judged}):
        some = [r for r in judged if (r["query"], r["question"]) == (query, question)]
        answers = [int(r["answers"]) for r in some]
        least, worst, jointly = (min(float(r[name]) for r in some) for name in ("coverage", "least", "together"))
        rounds = sorted(int(r["rounds"]) for r in some)
        lines.append(
            f"{query:<10} {question:<7} {len(some):>6} {sum(answers):>10,}"
            f" {np.average([float(r['coverage']) for r in some], weights=answers):>8.4f} {least:>7.4f} {worst:>7.4f}"
            f" {jointly:>8.4f} {sum(float(r['coverage']) < TARGET for r in some):>10} {sum(map(is_below, some)):>14}"
            f" {f'{rounds[0]:,} to {rounds[-1]:,}' if rounds[0] < rounds[-1] else f'{rounds[0]:,}':>14}"
        )
    return lines


def by_pattern(judged: list[Row]) -> list[str]:
    """Query by pattern: how many cells, their mean, the least, how many under the target, how many beyond chance."""
    lines = [
        f"{'query':<10} {'asked':<7} {'pattern':<12} {'cells':>6} {'mean':>7} {'least':>7} {'under .94':>10}"
        f" {'beyond chance':>14}"
    ]
    keys = sorted({(str(row["query"]), str(row["question"]), str(row["pattern"])) for row in judged})
    for query, question, pattern in keys:
        some = [r for r in judged if (r["query"], r["question"], r["pattern"]) == (query, question, pattern)]
        rates = [float(r["coverage"]) for r in some]
        under = sum(rate < TARGET for rate in rates)
        below = sum(map(is_below, some))
        lines.append(
            f"{query:<10} {question:<7} {pattern:<12} {len(some):>6} {np.mean(rates):>7.4f} {min(rates):>7.4f}"
            f" {under:>10} {below:>14}"
        )
    return lines


def summary(rows: list[Row]) -> str:
    """The whole text: figures by query and pattern, the cells below, every cell."""
    judged = [row for row in rows if int(row["answers"]) >= ENOUGH]
    few = [row for row in rows if 0 < int(row["answers"]) < ENOUGH]
    below = [row for row in judged if is_below(row)]
    parts = [
        [
            f"{len(rows)} cells: {len(judged)} with {ENOUGH} answers or more, {len(few)} with fewer, "
            f"{len(rows) - len(judged) - len(few)} with none. {len(below)} below {TARGET} beyond chance."
        ],
        by_query(judged) if judged else [],
        by_pattern(judged) if judged else [],
        ["Below beyond chance:", HEAD, *map(described, below)] if below else [],
        ["Every cell judged:", HEAD, *map(described, sorted(judged, key=key))],
        ["Fewer answers than are judged:", HEAD, *map(described, sorted(few, key=key))],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def key(row: Row) -> tuple[str, ...]:
    """Rows in order of their factors."""
    return tuple(f"{row[name]:>10}" for name in FACTORS)


def write_summary(parts: list[Row], out: Path) -> str:
    """coverage.csv and table.txt from the parts that were played; the text."""
    rows = merged(parts)
    names = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    with (out / "coverage.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = summary(rows)
    (out / "table.txt").write_text(text + "\n")
    return text
