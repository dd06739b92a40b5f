"""How near the shares of a histogram are as shown, beside simpler ways of showing them.

    python benchmarks/shown_shares.py --out docs/results/questions/shown --rounds 100 --seed 11

Raw shares are drawn from the law of the reports: everyone is asked the question that the terms choose by themselves, at
one eps. A report's bucket holds each value with its own chance, independently here, and raw shares are made to add up
to 1 again, as they do but for the sizes of buckets; whole values are drawn as they are reported. Errors are sums of
squares over all values, in units of the variance of one raw share. The ways beside ours: the nearest point of the
simplex; all alike; cut off at 0 and divided by the sum, as other libraries do; and the better of projected and drawn
together by Stein's estimate, as this package did before.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

import pdqs
from pdqs.estimate.simplex import on_simplex, shown_shares
from pdqs.privacy.bucket_maps import collision
from pdqs.privacy.loss import cap_q

SIZES, CAPS, OWNERS = (10, 48, 100, 1000), (0.5, 1.0, 2.0, 4.0), (200, 2000, 20000)


def population(kind: str, k: int) -> np.ndarray:
    """The chance of each value."""
    place = (np.arange(k) + 0.5) / k
    hill = place * (1.0 - place) ** 2.5
    hill /= hill.sum()
    falling = (1.0 + np.arange(k)) ** -1.5
    spikes = 0.25 * (np.arange(k) == k // 10) + 0.15 * (np.arange(k) == 7 * k // 10)
    return {
        "smooth": hill,
        "few": falling / falling.sum(),
        "one": 1.0 * (np.arange(k) == k // 3),
        "spikes": 0.6 * hill + spikes,
        "even": np.full(k, 1.0 / k),
    }[kind]


KINDS = ("smooth", "few", "one", "spikes", "even")


@lru_cache
def chances(k: int, eps: float) -> tuple[float, float, bool]:
    """p1 and p0 of the question that is asked by itself, and whether it is the whole value."""
    terms = pdqs.presets.sound(query=pdqs.Histogram(pdqs.Domain.grid(0, k - 1, 1)), budget=1.0, epsilon_max=eps)
    g, whole = terms.kappa, terms.kappa == k
    q = cap_q(eps, g)
    p0 = (1.0 - q) / k if whole else q * collision(k, g) + (1.0 - q) / g
    return q + (1.0 - q) / g, p0, whole


def raw_shares(counts: np.ndarray, k: int, eps: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Raw shares and their standard errors, as an answer has them, of so many owners of each value."""
    n = int(counts.sum())
    p1, p0, whole = chances(k, eps)
    if whole:
        kept = rng.binomial(counts, p1 - p0)
        said = kept + rng.multinomial(n - int(kept.sum()), np.full(k, 1.0 / k))
        raw = (said / n - p0) / (p1 - p0)
    else:
        said = rng.binomial(counts, p1) + rng.binomial(n - counts, p0)
        noise = (said / n - p0) / (p1 - p0) - counts / n
        raw = counts / n + (noise - noise.mean()) * np.sqrt(k / (k - 1))
    at = np.clip(raw, 0.0, 1.0)
    variance = (at * p1 * (1 - p1) + (1 - at) * p0 * (1 - p0)) / (n * (p1 - p0) ** 2)
    return raw, np.sqrt(variance)


def projected(raw: np.ndarray, error: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """The nearest point."""
    return on_simplex(raw)


def alike(raw: np.ndarray, error: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """1/k for all."""
    return np.full_like(raw, 1.0 / raw.size)


def clipped(raw: np.ndarray, error: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """Cut off at 0, divided by the sum."""
    return np.maximum(raw, 0.0) / np.maximum(raw, 0.0).sum()


def better_of_two(raw: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Projected, or drawn toward 1/k first (James and Stein), by Stein's estimate of the error: the way before."""
    k, variance = raw.size, float(np.mean(error**2))
    apart = raw - 1.0 / k
    spread = float(apart @ apart)
    kept = max(0.0, 1.0 - (k - 3) * variance / spread)
    plain, drawn = on_simplex(raw), on_simplex(1.0 / k + kept * apart)
    some = apart[drawn > 0]
    moved = float(((some - some.mean()) ** 2).sum()) / spread if kept else 0.0
    risk_plain = float(((plain - raw) ** 2).sum()) + 2.0 * variance * (np.count_nonzero(plain) - 1)
    divergence = kept * (some.size - 1) + 2.0 * (1.0 - kept) * moved
    risk_drawn = float(((drawn - raw) ** 2).sum()) + 2.0 * variance * divergence
    return drawn if risk_drawn < risk_plain else plain


WAYS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "shown": shown_shares,
    "projected": projected,
    "alike": alike,
    "clipped": clipped,
    "better of two": better_of_two,
}


def cell(kind: str, k: int, n: int, eps: float, rounds: int, seed: int) -> dict:
    """Mean squared errors of every way, the same noise for all."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{kind}/{k}/{n}/{eps}".encode())])
    off, variances = dict.fromkeys(WAYS, 0.0), 0.0
    for _ in range(rounds):
        counts = rng.multinomial(n, population(kind, k))
        raw, error = raw_shares(counts, k, eps, rng)
        variances += float(np.mean(error**2))
        for name, way in WAYS.items():
            off[name] += float(((way(raw, error) - counts / n) ** 2).sum())
    return {"population": kind, "k": k, "owners": n, "eps": eps, **{name: off[name] / variances for name in WAYS}}


def lines(rows: list[dict]) -> list[str]:
    """The table, and what it comes to."""
    others = [name for name in WAYS if name != "shown"]
    out = [
        f"{'population':10} {'k':>5} {'owners':>6} {'eps':>4}"
        + "".join(f"{name:>14}" for name in WAYS)
        + "  over best of others"
    ]
    ratios, before, worse = [], [], []
    for row in rows:
        best = min(row[name] for name in others)
        ratios.append(row["shown"] / best)
        worse.append((row["shown"] - best, row))
        if row["better of two"] == best:
            before.append(row["shown"] / best)
        place = f"{row['population']:10} {row['k']:5} {row['owners']:6} {row['eps']:4g}"
        out.append(place + "".join(f"{row[name]:14.3f}" for name in WAYS) + f"  {ratios[-1]:.2f}")
    found = np.array(ratios)
    large = [row["shown"] / min(row[name] for name in others) for extra, row in worse if extra > 0.6]
    own = np.array([row["shown"] / row["better of two"] for row in rows])
    out += [
        "",
        f"over the best of the others: geometric mean {np.exp(np.log(found).mean()):.3f}, at most 1.1 in "
        f"{int((found <= 1.1).sum())} of {found.size} cells; more than 1.1 and by more than .6 variances of one share "
        f"in {sum(each > 1.1 for each in large)}",
        f"over the better of two: geometric mean {np.exp(np.log(own).mean()):.3f}, most {own.max():.2f}, above 1.05 in "
        f"{int((own > 1.05).sum())}; where that is the best of the others ({len(before)} cells) most {max(before):.3f}",
    ]
    return out


def main() -> None:
    """Read the command line, measure, write what is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=11)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = [
        cell(kind, k, n, eps, arguments.rounds, arguments.seed)
        for k, n, eps, kind in itertools.product(SIZES, OWNERS, CAPS, KINDS)
    ]
    table = "\n".join(lines(rows)) + "\n"
    print(table, end="")
    (arguments.out / "table.txt").write_text(table)
    (arguments.out / "cells.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["benchmarks/shown_shares.py", *sys.argv[1:]]
    (arguments.out / "summary.json").write_text(json.dumps({"command": command, "rows": len(rows)}) + "\n")


if __name__ == "__main__":
    main()
