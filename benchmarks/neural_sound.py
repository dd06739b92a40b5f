"""The sound learned rule against the optimal rule, prior known and prior wrong, on fresh bids.

    python benchmarks/neural_sound.py --seed 7 --out docs/results/neural

Past bids 5000, fresh markets of 5000 owners (three of them), sum q^2 per owner by the ladder at equal budgets. Writes
sound.json, population by population; a rule that the market cannot price is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pdqs
from pdqs import neural
from pdqs.model import priors
from pdqs.pricing.rules import Optimal

OWNERS, PAST, MARKETS = 5000, 5000, 3
BUDGETS = (0.05, 0.1, 0.3, 0.5, 0.9)
Draw = Callable[[int], Any]


def populations(rng: np.random.Generator) -> Iterator[tuple[str, Draw, priors.Prior | None]]:
    """Name, how bids are drawn, and the true prior where the core has it."""
    normal = priors.TruncatedNormal(0.5, 0.25)

    def bimodal(n: int) -> Any:
        noise = rng.standard_normal(n)
        return np.clip(np.where(rng.random(n) < 0.5, 0.15 + 0.04 * noise, 0.75 + 0.05 * noise), 0, 1)

    def heavy(n: int) -> Any:
        return np.minimum(0.02 * ((1 - rng.random(n)) ** (-1 / 1.2) - 0.5), 1.0)

    yield "uniform", rng.random, priors.Uniform()
    yield "normal", lambda n: normal.quantile(rng.random(n)), normal
    yield "bimodal", bimodal, None
    yield "heavy-tailed", heavy, None


def rules_for(past: Any, contract: str, prior: priors.Prior | None) -> dict[str, Any]:
    """Every rule that is compared."""
    found: dict[str, Any] = {} if prior is None else {"optimal, prior known": Optimal(prior=prior)}
    found["optimal, prior uniform"] = Optimal(prior=priors.Uniform())
    found["optimal, prior fitted"] = Optimal(prior=priors.fit(past))
    found["learned spline"] = neural.learn(past, neural.LearnConfig(contract=contract))
    for curve in ("spline", "logistic"):
        config = neural.LearnConfig(contract=contract, curve=curve, link="sigmoid")
        found[f"learned {curve}, sigmoid link"] = neural.learn(past, config)
    return found


def campaign(seed: int, out: Path) -> None:
    """All populations under both contracts."""
    rows: list[dict[str, Any]] = []
    for contract in ("on-report", "on-selection"):
        rng = np.random.default_rng(seed)
        for name, draw, prior in populations(rng):
            past, fresh = draw(PAST), [draw(OWNERS) for _ in range(MARKETS)]
            for label, rule in rules_for(past, contract, prior).items():
                line: dict[str, Any] = {"contract": contract, "bids": name, "rule": label}
                try:
                    line["information"] = [_information(rule, contract, share, fresh) for share in BUDGETS]
                except pdqs.model.errors.PdqsError as fault:
                    line["fault"] = str(fault)
                rows.append(line)
                print(line, flush=True)
            facts = {"seed": seed, "owners": OWNERS, "past": PAST, "budgets": BUDGETS, "rows": rows}
            part = out / "sound.json.part"
            part.write_text(json.dumps(facts, indent=1))
            os.replace(part, out / "sound.json")


def _information(rule: Any, contract: str, share: float, fresh: list[Any]) -> float:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=share * OWNERS, rule=rule, contract=contract)
    return float(np.mean([pdqs.clear(bids, terms).information / OWNERS for bids in fresh]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("docs/results/neural"))
    arguments = parser.parse_args()
    campaign(arguments.seed, arguments.out)
