"""What a fuzz comes to, batch by batch: a summary for the record, and the way back from one to go on with."""

from __future__ import annotations

import argparse
import itertools
import json
from collections import Counter

from market.campaign import Line
from market.fuzz.rules import RULES

MOST_SHOWN = 20
SHARES = {"sqlite": 9, "postgresql": 1}
"""Of ten requests nine are made on SQLite: the market says the same there, in less than half the time."""

COUNTS = {
    "faults": "answers_5xx",
    "told wrong": "answers_that_tell_too_much",
    "wrong taken": "wrong_and_taken",
    "wrong refused": "wrong_and_refused",
    "right taken": "right_and_taken",
    "right refused": "right_and_refused",
}


def carried(options: argparse.Namespace) -> list[Line]:
    """What an earlier summary says was done, as a line for each database: its first so many batches."""
    if options.out is None or not options.out.exists():
        return []
    said = json.loads(options.out.read_text())
    if (said.get("seed"), said.get("batch")) != (options.seed, options.batch):
        return []
    if sum(said["batches"].values()) * options.batch != said["requests"]:
        return []  # with a gap in the row it cannot be told which batches were counted
    routes = {
        f"{route} {what}": int(count.replace(",", ""))
        for route, pair in said["routes_taken_and_refused"].items()
        for what, count in zip(("taken", "refused"), pair.split(" / "), strict=True)
    }
    routes |= dict(zip(("no such route taken", "no such route refused"), said["no_such_route"], strict=True))
    counted = {
        "counts": {name: said[field] for name, field in COUNTS.items()},
        "routes": routes,
        "wrong": said["wrong"],
    }
    nothing: Line = {"counts": {}, "routes": {}, "wrong": []}
    return [
        {"database": d, "batches": count, "requests": count * options.batch, **(nothing if place else counted)}
        for place, (d, count) in enumerate(sorted(said["batches"].items()))
    ]


def _in_a_row(lines: list[Line], database: str) -> int:
    """How many batches of a database are done, from the first on without a gap."""
    here = [line for line in lines if line["database"] == database]
    first = max((line["batches"] for line in here if "batches" in line), default=0)
    numbers = {line["number"] for line in here if "number" in line}
    return next(number for number in itertools.count(first) if number not in numbers)


def summary(lines: list[Line], options: argparse.Namespace) -> Line:
    """Counts, and everything that was wrong."""
    counts, routes = Counter[str](), Counter[str]()
    for line in lines:
        counts += Counter(line["counts"])
        routes += Counter(line["routes"])
    asked = {
        rule: [routes[f"{rule} taken"], routes[f"{rule} refused"]] for rule in (f"{r.method} {r.path}" for r in RULES)
    }
    return {
        "command": f"tests/market/fuzz/running.py --requests {options.requests} --batch {options.batch}"
        f" --seed {options.seed}",
        "seed": options.seed,
        "batch": options.batch,
        "batches": {d: _in_a_row(lines, d) for d in SHARES},
        "requests": sum(line["requests"] for line in lines),
        "requests_by_database": {
            d: sum(line["requests"] for line in lines if line["database"] == d) for d in ("sqlite", "postgresql")
        },
        **{field: counts[name] for name, field in COUNTS.items()},
        "routes_taken_and_refused": {rule: " / ".join(f"{n:,}" for n in pair) for rule, pair in asked.items()},
        "routes_not_judged": [f"{rule.method} {rule.path}" for rule in RULES if not rule.judged],
        "no_such_route": [routes["no such route taken"], routes["no such route refused"]],
        "wrong": [wrong for line in lines for wrong in line["wrong"]][:MOST_SHOWN],
    }
