"""Markets in which the coverage of intervals is measured: five ways in which prices may tell of answers.

Until a market clears by lottery, a stand-in draws who is asked: rho(b) = min(1, c / sqrt(2 b)) on bids in [0, 1], c set
so that the expected payments l (b rho(b) + integral of rho from b to 1), with load l = eps, meet the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PATTERNS = ("independent", "mild", "strong", "threshold", "two-humped")


@dataclass(frozen=True)
class Market:
    """One market: who holds the trait, what everyone asks, and the chance with which each is asked."""

    trait: np.ndarray
    bids: np.ndarray
    chances: np.ndarray


def market(pattern: str, owners: int, budget: float, share: float, epsilon: float, rng: np.random.Generator) -> Market:
    """A fresh market; ``budget`` is in units of n."""
    trait, bids = _people(pattern, owners, share, rng)
    return Market(trait, bids, _chances(bids, budget * owners, epsilon))


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


def _chances(bids: np.ndarray, budget: float, load: float) -> np.ndarray:
    low, high = 0.0, 2.0
    for _ in range(30):
        c = 0.5 * (low + high)
        low, high = (low, c) if load * _expected(bids, c).sum() > budget else (c, high)
    words = np.floor(2.0**32 * _rho(bids, low))
    return words / 2.0**32


def _rho(bids: np.ndarray, c: float) -> np.ndarray:
    return np.minimum(1.0, c / np.sqrt(2.0 * np.maximum(bids, 1e-12)))


def _expected(bids: np.ndarray, c: float) -> np.ndarray:
    """b rho(b) + integral of rho from b to 1: what an owner is paid on average, for each unit of load."""
    knee = min(0.5 * c * c, 1.0)
    beyond = np.maximum(bids, knee)
    tail = c * np.sqrt(2.0) * (1.0 - np.sqrt(beyond))
    return bids * _rho(bids, c) + np.maximum(knee - bids, 0.0) + tail
