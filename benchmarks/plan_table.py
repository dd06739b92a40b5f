"""What is planned against what is seen: mean half-widths of whole rounds beside the plan's, cell by cell.

    python benchmarks/plan_table.py --out docs/results/planning [--seconds 600]

Cells come in a shuffled order, so that a stopped run is a fair sample; a cell that stands in table.jsonl is not run
again. Bids are uniform; values are spread evenly over the domain, as the plan takes them to be; owners are asked for
whole values, but for the way "default", which asks what the default terms ask. ``seen`` is over the rounds with an
answer: 12 of them, then more until its Monte Carlo error (``error``, over seen) is 1 % or 200 rounds were played (40
from 5,000 owners on). A cell is left out of the verdict where fewer than half of the rounds have an answer: the plan
then says "no answer". What it prints is written to table.txt.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import pdqs
from pdqs.planning.typical import Look, typical_width
from pdqs.planning.units import unit_of

SEED = 20_261_116
FIRST_ROUNDS, MOST_ROUNDS, FINE = 12, 200, 0.01
TINY = 1e-9  # a median that is known exactly has a half-width of 0
OWNERS = (50, 200, 1000, 5000, 20_000)
PARTS = (0.2, 0.5)
GRID = pdqs.Domain.grid(0, 10, 1)
QUERIES = {
    "count": pdqs.Count(),
    "mean": pdqs.Mean(GRID),
    "histogram": pdqs.Histogram(GRID),
    "median": pdqs.Median(GRID),
}
WAYS = {
    "lottery unbiased": {"rule": "lottery", "estimator": "unbiased", "epsilon_max": 2.0},
    "default": {"question": "auto"},
    "flat unbiased": {"rule": "flat", "estimator": "unbiased", "epsilon_max": 2.0},
    "optimal weighted": {"rule": "optimal", "estimator": "weighted", "epsilon_max": 4.0},
    "optimal shrunk": {"rule": "optimal", "estimator": "shrunk", "epsilon_max": 4.0},
    "optimal naive": {"rule": "optimal", "estimator": "naive", "epsilon_max": 4.0},
    "robust unbiased": {"rule": "robust", "estimator": "unbiased", "epsilon_max": 4.0},
    "linear weighted": {"rule": "linear", "estimator": "weighted", "epsilon_max": 4.0},
    "step weighted": {"rule": "step", "estimator": "weighted", "epsilon_max": 4.0},
}


def cells() -> list[tuple[str, str, int, float]]:
    """All cells, in a seeded order."""
    every = [(way, query, n, part) for way in WAYS for query in QUERIES for n in OWNERS for part in PARTS]
    return [every[at] for at in np.random.default_rng(SEED).permutation(len(every))]


def seen_widths(terms: pdqs.Terms, owners: int) -> tuple[list[float], int]:
    """Half-widths of whole rounds, in the units of the plan (medians in value units), and how many were played."""
    rng, found = np.random.default_rng([SEED, owners]), []
    scale = owners if terms.query.kind in ("count", "histogram") else 1
    most = MOST_ROUNDS if owners < 5000 else MOST_ROUNDS // 5
    for played in range(1, most + 1):
        values = terms.domain.decode(rng.permutation(np.arange(owners) % terms.domain_size))
        answer = pdqs.trade(values, rng.random(owners), terms, rng).answer
        if answer.value is not None:
            ends = np.atleast_2d(answer.interval)
            found.append(float(np.mean(ends[:, 1] - ends[:, 0])) / 2.0 / scale)
        if played >= FIRST_ROUNDS and (len(found) < played / 4 or error_of(found) <= FINE):
            break
    return found, played


def error_of(widths: list[float]) -> float:
    """The Monte Carlo error of the mean, over the mean."""
    return float(np.std(widths) / math.sqrt(len(widths)) / (np.mean(widths) + TINY)) if widths else math.inf


def measured(cell: tuple[str, str, int, float]) -> dict[str, Any]:
    """One cell: planned, seen, and the processor seconds that the plan took."""
    way, query, owners, part = cell
    terms = pdqs.Terms(query=QUERIES[query], budget=part * owners, **{"question": "value", **WAYS[way]})
    shares = np.full(terms.domain_size, 1.0 / terms.domain_size)
    start = time.process_time()
    found = typical_width(terms, shares, owners, terms.budget, 0.95, Look.WHOLE)
    seconds = time.process_time() - start
    of_values = unit_of(terms.query, guessed=True).of_values
    widths, rounds = seen_widths(terms, owners)
    enough = len(widths) >= rounds / 2
    return {
        "way": way,
        "query": query,
        "owners": owners,
        "part": part,
        "planned": found.value if of_values else found.share,
        "seen": float(np.mean(widths)) if enough else None,
        "error": error_of(widths) if enough else None,
        "answered": len(widths) / rounds,
        "rounds": rounds,
        "seconds": round(seconds, 2),
    }


def printed(rows: list[dict[str, Any]]) -> str:
    """The table, and how many cells are within 5 %."""
    head = f"{'way':18} {'query':10} {'owners':>7} {'budget':>7}"
    lines = [f"{head} {'planned':>9} {'seen':>9} {'ratio':>6} {'error':>6} answered"]
    ratios = []
    for row in sorted(rows, key=lambda r: (r["way"], r["query"], r["owners"], r["part"])):
        head = f"{row['way']:18} {row['query']:10} {row['owners']:7,} {row['part']:6}n"
        if row["seen"] is None:
            said = "no answer" if math.isinf(row["planned"]) else f"{row['planned']:9.4f}"
            lines.append(f"{head} {said:>9} {'-':>9} {'-':>6} {'-':>6} {row['answered']:8.2f}")
            continue
        ratio = (row["planned"] + TINY) / (row["seen"] + TINY)
        ratios.append((abs(ratio - 1), row["error"]))
        lines.append(
            f"{head} {row['planned']:9.4f} {row['seen']:9.4f} {ratio:6.3f} {row['error']:6.3f} {row['answered']:8.2f}"
        )
    within = sum(off <= 0.05 for off, _ in ratios)
    allowing = sum(off <= 0.05 + 2 * error for off, error in ratios)
    lines.append(
        f"{within} of {len(ratios)} cells with an answer within 5 %, {allowing} within 5 % and two Monte Carlo errors;"
        f" {len(rows)} of {len(cells())} cells run"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=math.inf)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "table.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["way"], row["query"], row["owners"], row["part"]) for row in rows}
    until = time.monotonic() + given.seconds
    for cell in cells():
        if cell in done or time.monotonic() > until:
            continue
        rows.append(measured(cell))
        with path.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        (given.out / "table.txt").write_text(printed(rows) + "\n")
    print(printed(rows))


if __name__ == "__main__":
    main()
