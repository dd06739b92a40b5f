"""Markets in which the coverage of intervals is measured: five ways in which prices may tell of answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PATTERNS = ("independent", "mild", "strong", "threshold", "two-humped")


@dataclass(frozen=True)
class Market:
    """One market: who holds the trait, and what everyone asks."""

    trait: np.ndarray
    bids: np.ndarray


def market(pattern: str, owners: int, share: float, rng: np.random.Generator) -> Market:
    """A fresh market."""
    return Market(*_people(pattern, owners, share, rng))


def _people(pattern: str, n: int, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if pattern == "threshold":  # the dear hold the trait: value = 1[bid > 1 - share]
        bids = rng.random(n)
        return (bids > 1.0 - share).astype(np.int64), bids
    trait = (rng.random(n) < share).astype(np.int64)
    if pattern == "independent":
        return trait, rng.random(n)
    if pattern == "two-humped":  # a dear few who hold the trait, or lack it when most have it
        dear = trait == (1 if share <= 0.5 else 0)
        return trait, np.where(dear, 0.9 + 0.1 * rng.random(n), 0.5 * rng.beta(2, 6, n))
    high, low = {"mild": (2.5, 2.0), "strong": (4.0, 2.0)}[pattern]
    return trait, np.where(trait == 1, rng.beta(high, low, n), rng.beta(low, high, n))
