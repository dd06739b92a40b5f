"""NPQM in its three forms on the Customers count query: error, objective, money and gains from lying on fresh bids.

    python benchmarks/neural_npqm.py --forms released mended --seeds 1 2 3 4 5

Trains n = 2240 (--owners) for budgets 0.1n ... 0.9n with each seed, then asks 100 queries with fresh U(0, 1) bids per
budget and kept rule. Writes the file after every training, and goes on from it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import pdqs
from pdqs import neural

ONES, QUERIES = 21, 100
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def largest_gain(bids: Any, terms: pdqs.Terms, rng: np.random.Generator, owners: int = 3) -> float:
    """The most that one of a few owners gains by one of 12 lies, over the mean payment."""

    def utility(stated: Any, owner: int, price: float) -> float:
        offers = pdqs.clear(stated, terms)
        return float(offers.payment[owner] - price * terms.setting.load(offers.q[owner]))

    gain = 0.0
    for owner in rng.integers(bids.size, size=owners):
        honest = utility(bids, owner, bids[owner])
        for lie in (np.arange(12) + 0.5) / 12:
            stated = bids.copy()
            stated[owner] = lie
            gain = max(gain, utility(stated, owner, bids[owner]) - honest)
    return gain / float(pdqs.clear(bids, terms).payment.mean())


def measured(rule: neural.Npqm, budget: float, rng: np.random.Generator) -> dict[str, float]:
    """What a rule does on fresh bids."""
    terms = pdqs.presets.npqm(query=pdqs.Count(), budget=budget, rule=rule)
    values = np.zeros(rule.nets.owners, dtype=bool)
    values[:ONES] = True
    errors, spent, loads, told = [], [], [], []
    for _ in range(QUERIES):
        trade = pdqs.trade(rng.permutation(values), rng.random(values.size), terms, rng)
        errors.append(abs(trade.answer.value - ONES) / ONES)
        spent.append(trade.offers.spent / budget)
        loads.append(terms.setting.load(trade.offers.q).sum())
        told.append(trade.offers.q.sum())
    return {
        "error": float(np.mean(errors)),
        "phi": float(np.mean(loads)),
        "expected_to_tell_the_truth": float(np.mean(told)),
        "slope": rule.typical[0],
        "spent_mean": float(np.mean(spent)),
        "spent_worst": float(np.max(spent)),
        "overspent_share": float(np.mean(np.array(spent) > 1)),
        "gain_from_lying": largest_gain(rng.random(values.size), terms, rng),
    }


def rows_of(seed: int, form: str, owners: int, steps: int) -> list[dict[str, Any]]:
    """One training and what each of its kept rules does."""
    budgets = tuple(share * owners for share in SHARES)
    start = time.process_time()
    recipe = neural.RECIPES[form]
    config = neural.NpqmConfig(owners=owners, budgets=budgets, options=recipe, seed=seed, steps=steps, nodes=24)
    trained = neural.train(config)
    seconds = round(time.process_time() - start, 1)
    rows = []
    for share, model in zip(SHARES, trained, strict=True):
        rng = np.random.default_rng([seed, round(10 * share)])
        kept = {name: measured(rule, model.budget, rng) for name, rule in model.rules.items()}
        line = {"seed": seed, "form": form, "budget": share, "warnings": list(model.warnings)}
        rows.append({**line, "training_cpu_seconds": seconds, "kept": kept or "NO ANSWER"})
        print(rows[-1], flush=True)
    return rows


def campaign(seeds: list[int], forms: list[str], owners: int, steps: int, held: Path) -> None:
    """Everything that the file does not hold yet."""
    rows: list[dict[str, Any]] = json.loads(held.read_text())["rows"] if held.exists() else []
    done = {(row["seed"], row["form"]) for row in rows}
    for form in forms:
        for seed in seeds:
            if (seed, form) not in done:
                rows += rows_of(seed, form, owners, steps)
                part = held.with_name(held.name + ".part")
                part.write_text(
                    json.dumps({"owners": owners, "ones": ONES, "queries": QUERIES, "rows": rows}, indent=1)
                )
                os.replace(part, held)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--forms", nargs="+", default=["released", "mended"])
    parser.add_argument("--owners", type=int, default=2240)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--out", type=Path, default=Path("docs/results/neural/npqm.json"))
    arguments = parser.parse_args()
    campaign(arguments.seeds, arguments.forms, arguments.owners, arguments.steps, arguments.out)
