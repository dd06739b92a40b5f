"""Markets in which the coverage of intervals is measured: five ways in which prices may tell of answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdqs.auditing.price_patterns import people

PATTERNS = ("independent", "mild", "strong", "threshold", "two-humped")


@dataclass(frozen=True)
class Market:
    """One market: who holds the trait, and what everyone asks."""

    trait: np.ndarray
    bids: np.ndarray


def market(pattern: str, owners: int, share: float, rng: np.random.Generator) -> Market:
    """A fresh market."""
    return Market(*people(pattern, owners, share, rng))
