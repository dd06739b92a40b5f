"""How accurate smaller questions are beside other libraries' local mechanisms, all owners at one eps.

    python benchmarks/peers_accuracy.py --out docs/results/questions/peers --rounds 10 --seed 1

Histograms are compared as each library gives them: raw where it gives raw shares, and shown (none below 0, sum 1) where
it gives those; the raw ones of others are projected on the simplex to be shown. Means and medians of a peer are read
off its histogram, for none of them has a question of its own for them but OpenDP's noise on each value. A library that
is not installed is left out and named. Every cell has its own generator, made from the seed and its name; peers draw
from NumPy's global one or the system's and are not seeded. Cells on file are kept; --again measures those named anew,
each in the place of the old one. To have the other libraries, run this in an environment of its own::

    python -m venv build/peers
    build/peers/bin/pip install -e . opendp pure-ldp statsmodels scikit-learn 'xxhash<3.3' multi-freq-ldpy
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression

import pdqs
from pdqs.estimate import in_stages
from pdqs.estimate.simplex import on_simplex
from pdqs.model.query import Query
from pdqs.privacy.loss import cap_q
from pdqs.rounds.offers import make_offers
from pdqs.rounds.stages import dealt

OWNERS = 2000
Shares = np.ndarray
Peer = Callable[[np.ndarray, int, float], Shares]


def smooth(k: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of a smooth population, lopsided."""
    return np.rint(rng.beta(2.0, 3.5, OWNERS) * (k - 1)).astype(np.int64)


def few(k: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of a population that mostly holds a few of the values, spread over all of them."""
    chances = (1.0 + np.arange(k)) ** -1.5
    return (7 * rng.choice(k, OWNERS, p=chances / chances.sum()) + k // 3) % k


POPULATIONS = {"smooth": smooth, "few": few}


def ours(query: Query, codes: np.ndarray, eps: float, rng: np.random.Generator, question: str) -> pdqs.Answer:
    """Everyone asked the same at the same eps, stages included."""
    terms = pdqs.presets.sound(query=query, budget=1.0, epsilon_max=eps, question=question)
    q = np.full(codes.size, cap_q(eps, terms.kappa))
    offers = make_offers(np.zeros(codes.size), q, np.zeros(codes.size), terms.asking, 0)
    offers = dealt(offers, int(rng.integers(2**32)), None, source=terms.hash)
    offers, reports = in_stages(offers, terms, lambda known: pdqs.randomise(codes, known, rng))
    return pdqs.answer(reports, offers, terms)


def pure_ldp_unary(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Optimal unary encoding, raw."""
    module = importlib.import_module("pure_ldp.frequency_oracles.unary_encoding")
    return _pure(module.UEClient(eps, k, use_oue=True), module.UEServer(eps, k, use_oue=True), codes, k)


def pure_ldp_hashing(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Optimal local hashing, raw."""
    module = importlib.import_module("pure_ldp.frequency_oracles.local_hashing")
    return _pure(module.LHClient(eps, k, use_olh=True), module.LHServer(eps, k, use_olh=True), codes, k)


def _pure(client: object, server: object, codes: np.ndarray, k: int) -> Shares:
    for code in codes.tolist():
        server.aggregate(client.privatise(code + 1))  # its values are numbered from 1
    return np.array([server.estimate(j + 1, suppress_warnings=True) for j in range(k)]) / codes.size


def multi_subset(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Subset selection, made to be shares."""
    module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.SS")
    return np.asarray(module.SS_Aggregator_MI([module.SS_Client(int(code), k, eps) for code in codes], k, eps))


def multi_unary(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Optimal unary encoding, made to be shares."""
    module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.UE")
    return np.asarray(module.UE_Aggregator_MI([module.UE_Client(int(code), k, eps) for code in codes], eps))


def multi_hashing(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Optimal local hashing, made to be shares."""
    module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.LH")
    return np.asarray(module.LH_Aggregator_MI([module.LH_Client(int(code), k, eps) for code in codes], k, eps))


def opendp_response(codes: np.ndarray, k: int, eps: float) -> Shares:
    """Randomised response on the categories, made right here: raw."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    truth = math.exp(eps) / (math.exp(eps) + k - 1)
    other = (1 - truth) / (k - 1)
    mechanism = dp.m.make_randomized_response(list(range(k)), truth)
    reports = np.array([mechanism(code) for code in codes.tolist()])
    return (np.bincount(reports, minlength=k) / codes.size - other) / (truth - other)


RAW: dict[str, Peer] = {
    "OpenDP randomised response": opendp_response,
    "pure-ldp unary": pure_ldp_unary,
    "pure-ldp hashing": pure_ldp_hashing,
}
SHOWN: dict[str, Peer] = {
    "multi-freq-ldpy subset": multi_subset,
    "multi-freq-ldpy unary": multi_unary,
    "multi-freq-ldpy hashing": multi_hashing,
}


def opendp_noise(codes: np.ndarray, k: int, eps: float) -> float:
    """The mean of values with Laplace noise on each, OpenDP's local way to a mean."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    mechanism = dp.m.make_laplace(*space, scale=(k - 1) / eps)
    return float(np.mean([mechanism(float(code)) for code in codes.tolist()]))


def read_off(shares: Shares) -> tuple[float, float]:
    """Mean and median, as codes, of estimated shares."""
    k = shares.size
    below = isotonic_regression(np.cumsum(shares)).x
    below[-1] = max(1.0, below[-1])
    return float(np.clip(shares @ np.arange(k), 0, k - 1)), float(np.argmax(below >= 0.5))


def cell(
    people: Callable[[int, np.random.Generator], np.ndarray],
    k: int,
    eps: float,
    rounds: int,
    rng: np.random.Generator,
    absent: set[str],
) -> dict[str, dict[str, float]]:
    """Root mean squared errors: of a cell's share, and of mean and median in parts of the range."""
    errors: dict[str, dict[str, list[float]]] = {}
    domain = pdqs.Domain.grid(0, k - 1, 1)

    def note(name: str, figure: str, error: float) -> None:
        errors.setdefault(name, {}).setdefault(figure, []).append(error)

    for _ in range(rounds):
        codes = people(k, rng)
        truth = np.bincount(codes, minlength=k) / OWNERS
        mean, median = codes.mean(), float(np.argmax(np.cumsum(truth) >= 0.5 - 1e-12))

        def of_points(name: str, found: tuple[float, float], mean: float = mean, median: float = median) -> None:
            note(name, "mean", ((found[0] - mean) / (k - 1)) ** 2)
            note(name, "median", ((found[1] - median) / (k - 1)) ** 2)

        for question, name in (("auto", "pdqs"), ("value", "pdqs whole values")):
            answered = ours(pdqs.Histogram(domain), codes, eps, rng, question)
            if answered.value is None:
                continue  # so little information that no answer is given
            shares = np.asarray(answered.raw) / OWNERS
            note(name, "raw", float(np.mean((shares - truth) ** 2)))
            note(name, "shown", float(np.mean((np.asarray(answered.value) / OWNERS - truth) ** 2)))
            found = [ours(query, codes, eps, rng, question).value for query in (pdqs.Mean(domain), pdqs.Median(domain))]
            of_points(name, (found[0], found[1]))
        for name, peer in {**RAW, **SHOWN}.items():
            if name in absent:
                continue
            try:
                shares = peer(codes, k, eps)
            except ImportError as missing:
                absent.add(name)
                print(f"{name}: left out, {missing}", flush=True)
                continue
            note(name, "raw" if name in RAW else "shown", float(np.mean((shares - truth) ** 2)))
            if name in RAW:
                note(name, "shown", float(np.mean((on_simplex(shares) - truth) ** 2)))
            of_points(name, read_off(shares))
        note("OpenDP noise on values", "mean", ((np.clip(opendp_noise(codes, k, eps), 0, k - 1) - mean) / (k - 1)) ** 2)
    return {
        name: {figure: math.sqrt(float(np.mean(found))) for figure, found in held.items()}
        for name, held in errors.items()
    }


def lines(rows: list[dict]) -> list[str]:
    """A row for each mechanism, under its k and eps; beside each figure its ratio to ours."""
    out = [
        "| population | k | eps | mechanism | cell, raw | cell, shown | mean | median |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        own = row["errors"]["pdqs"]
        for name, errors in row["errors"].items():
            told = [
                f"{errors[figure]:.3g} ({errors[figure] / own[figure]:.2f})"
                if figure in errors and own[figure]
                else "-"
                for figure in ("raw", "shown", "mean", "median")
            ]
            out.append(f"| {row['population']} | {row['k']} | {row['eps']:g} | {name} | " + " | ".join(told) + " |")
    return out


def main() -> None:
    """Read the command line, measure what is not yet on file, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 48, 100, 1000])
    parser.add_argument("--caps", type=float, nargs="+", default=[0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--again", action="store_true", help="measure these cells anew, even those on file")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "cells.jsonl"
    held = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    here = (arguments.rounds, arguments.seed)
    done = {(row["population"], row["k"], row["eps"]): row for row in held if (row["rounds"], row["seed"]) == here}
    other = [row for row in held if (row["rounds"], row["seed"]) != here]
    absent: set[str] = set()
    for k, eps, kind in itertools.product(arguments.sizes, arguments.caps, POPULATIONS):
        if (kind, k, eps) in done and not arguments.again:
            continue
        start = time.monotonic()
        rng = np.random.default_rng([arguments.seed, zlib.crc32(f"{kind}/{k}/{eps}".encode())])
        found = cell(POPULATIONS[kind], k, eps, arguments.rounds, rng, absent)
        asked = {"population": kind, "k": k, "eps": eps, "rounds": arguments.rounds, "seed": arguments.seed}
        done[kind, k, eps] = {**asked, "errors": found}
        path.write_text("".join(json.dumps(row) + "\n" for row in [*other, *done.values()]))
        print(f"{kind}, k {k}, eps {eps:g}: {time.monotonic() - start:.0f} s", flush=True)
    rows = [done[key] for key in sorted(done)]  # every cell on file
    (arguments.out / "table.md").write_text(
        "\n".join(["# Errors at one eps, beside other libraries", "", *lines(rows)]) + "\n"
    )
    command = ["benchmarks/peers_accuracy.py", *sys.argv[1:]]
    (arguments.out / "summary.json").write_text(json.dumps({"command": command, "rows": len(rows)}) + "\n")


if __name__ == "__main__":
    main()
