"""How often intervals under the default terms cover: five patterns of prices, four queries, small and large markets.

    python benchmarks/coverage_table.py --out docs/results/coverage --rounds 2000 --seed 1 [--blocks 1] [--seconds 3600]

Rounds come in parts of 500: the first part of every group of a block (coverage_design.py), then its second and so on to
``--rounds``, then the next block. It goes on where an earlier run with the same seed stopped: every finished part of a
cell is a line of parts.jsonl, and what they come to is written beside it as table.txt and coverage.csv. Each part has
its own generator, made from the seed, the group's name and the part. Cells of one group share bids, draws and, where
they ask the same, reports: within a cell all rounds are independent, fresh markets. A cell with fewer than 10 answers
in its first part is not played further, one without any in the first 100 rounds of a part leaves it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from coverage_design import MISSING, QUERIES, Group, parts
from coverage_markets import Market, market
from coverage_summary import Row, write_summary

import pdqs
from pdqs.estimate import in_stages
from pdqs.estimate.answers import answer_from_evidence, evidence_for

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
PART, LEAST_ANSWERS, SILENT = 500, 10, 100

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


@lru_cache(maxsize=1)
def terms_of(group: Group) -> list[pdqs.Terms]:
    """The default terms of each query, but for whole values where the group asks for those."""
    question = "value" if group.kind == "values" else "auto"
    budget = group.budget * group.owners
    return [pdqs.Terms(query=ASKED[query], budget=budget, question=question) for query in QUERIES[group.kind]]


def question_of(group: Group) -> str:
    """What owners are asked: the trait itself, a value of ten, or less."""
    asked = terms_of(group)[0].asking
    return "trait" if group.kind == "counts" else str(asked.kind) if asked.whole else f"{asked.kind}:{asked.kappa}"


def played(group: Group, made: Market, open_: Cells, rng: np.random.Generator) -> None:
    """One round from bids to answers under the default terms; what is judged is added to the cells that are open.

    Answers are those of ``pdqs.answer``, whose two steps are taken apart here: what whole values add up to is the same
    for every query of a group.
    """
    values = made.trait if group.kind == "counts" else values_of(made.trait, rng)
    terms = terms_of(group)
    offers = pdqs.clear(made.bids, terms[0], draws=rng)
    reports = None if terms[0].asking.stages > 1 else pdqs.randomise(values, offers, rng)
    arrived = rng.random(group.owners)
    for missing in MISSING:
        here = arrived >= missing
        if reports is None:  # what is asked next depends on who has reported
            told, got = in_stages(
                offers, terms[0], lambda known, here=here: pdqs.randomise(values, known, rng).only(here)
            )
        else:
            told, got = offers, reports.only(here)
        wanted = [one for one in terms if (one.query.kind, missing) in open_]
        if not wanted:
            continue
        evidence = evidence_for(got, told, terms[0])
        for one in wanted:
            found = answer_from_evidence(evidence, one, level=LEVEL)
            if found.value is not None:
                open_[one.query.kind, missing].append(JUDGED[one.query.kind](found, values))


def measure(group: Group, part: int, wanted: list[tuple[str, float]], seed: int) -> list[Row]:
    """Fresh markets, one a round, to a row for each of the wanted cells of the group."""
    rng = np.random.default_rng([seed, zlib.crc32(group.name.encode()), part])
    open_: Cells = {cell: [] for cell in wanted}
    start, rows, done = time.process_time(), [], 0
    while open_ and done < PART:
        played(group, market(group.pattern, group.owners, group.share, rng), open_, rng)
        done += 1
        if done in (SILENT, PART):
            over = [cell for cell, given in open_.items() if done == PART or not given]
            rows += [row_of(group, cell, open_.pop(cell), done) for cell in over]
    spent = round((time.process_time() - start) / len(wanted), 1)
    return [row | {"part": part, "seed": seed, "seconds": spent} for row in rows]


def row_of(group: Group, cell: tuple[str, float], given: list[Outcome], rounds: int) -> Row:
    """One line: how many of the intervals held, cell by cell of a histogram and last all of them jointly."""
    query, missing = cell
    return {
        "query": query,
        "question": question_of(group),
        "pattern": group.pattern,
        "owners": group.owners,
        "budget": group.budget,
        "share": group.share,
        "missing": missing,
        "rounds": rounds,
        "answers": len(given),
        "held": np.sum([held for held, _ in given], axis=0).tolist() if given else [],
        "half_widths": float(np.sum([width for _, width in given])),
    }


def still_wanted(group: Group, part: int, rows: list[Row]) -> list[tuple[str, float]]:
    """The cells of a group that this part is to be played for: not played yet, and answered often enough so far."""
    at = (question_of(group), group.pattern, group.owners, group.budget, group.share)
    here = [r for r in rows if (r["question"], r["pattern"], r["owners"], r["budget"], r["share"]) == at]
    done = {(r["query"], r["missing"]) for r in here if r["part"] == part}
    mute = {(r["query"], r["missing"]) for r in here if r["part"] == 0 and r["answers"] < LEAST_ANSWERS}
    every = [(query, missing) for query in QUERIES[group.kind] for missing in MISSING]
    return [cell for cell in every if cell not in done | mute]


def run(arguments: argparse.Namespace) -> list[Row]:
    """Play what is not yet on file, a line for each part of a cell."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "parts.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    rows = [row for row in lines if row["seed"] == arguments.seed]
    start = time.monotonic()
    for group, part in parts(math.ceil(arguments.rounds / PART), arguments.blocks):
        wanted = still_wanted(group, part, rows) if group.kind in arguments.kinds else []
        if not wanted:
            continue
        if time.monotonic() - start > arguments.seconds:
            break
        found = measure(group, part, wanted, arguments.seed)
        with path.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in found)
        rows += found
        write_summary(rows, arguments.out)
        print(f"{time.monotonic() - start:,.0f} s  {group.name}  part {part + 1}", flush=True)
    return rows


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=list(QUERIES), default=list(QUERIES), help="only groups of these")
    parser.add_argument("--blocks", type=int, help="play only so many blocks, the first of them the corners too")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no further cell after so long")
    arguments = parser.parse_args()
    print(write_summary(run(arguments), arguments.out))


if __name__ == "__main__":
    main()
