"""Who holds the trait and what everyone asks: ways in which prices may tell of answers.

One place for all who measure coverage: the audit, the demonstration and the benchmarks. Prices are places in 0..1 of
the bid range. Of each pattern it is said in a word how hard it is on an estimate that hears the cheap alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from pdqs.model.arrays import Floats, Integers

DEARER = 1.65
"""How many times more the holders of a trait ask in the pattern that newcomers try first: one standard deviation."""

_MEDIAN_PRICE = 0.25
_SPREAD = 0.5  # of the log of prices

Pattern = Callable[[int, float, np.random.Generator], tuple[Integers, Floats]]
"""How many owners and the share with the trait, to 0 or 1 and a price for each owner."""


def dearer_prices(trait: Integers, rng: np.random.Generator) -> Floats:
    """Lognormal prices, the holders of the trait asking DEARER times more; nobody asks more than 1.

    >>> prices = dearer_prices(np.repeat([0, 1], 5000), np.random.default_rng(0))
    >>> round(float(np.median(prices[5000:]) / np.median(prices[:5000])), 1)
    1.7
    """
    prices = _MEDIAN_PRICE * np.exp(_SPREAD * rng.standard_normal(trait.size)) * np.where(trait == 1, DEARER, 1.0)
    return np.minimum(prices, 1.0)


def _held_at_random(n: int, share: float, rng: np.random.Generator) -> Integers:
    return (rng.random(n) < share).astype(np.int64)


def _independent(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """Prices say nothing."""
    trait = _held_at_random(n, share, rng)
    return trait, rng.random(n)


def _beta(n: int, share: float, rng: np.random.Generator, high: float, low: float) -> tuple[Integers, Floats]:
    """Beta(high, low) for holders of the trait, Beta(low, high) for others."""
    trait = _held_at_random(n, share, rng)
    return trait, np.where(trait == 1, rng.beta(high, low, n), rng.beta(low, high, n))


def _mild(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    return _beta(n, share, rng, 2.5, 2.0)


def _strong(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    return _beta(n, share, rng, 4.0, 2.0)


def _dearer(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    trait = _held_at_random(n, share, rng)
    return trait, dearer_prices(trait, rng)


def _threshold(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """The dear hold the trait: value = 1[price > 1 - share]."""
    prices = rng.random(n)
    return (prices > 1.0 - share).astype(np.int64), prices


def _two_humped(n: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """A dear few hold the trait, or lack it when most have it; all others are cheap."""
    trait = _held_at_random(n, share, rng)
    dear = trait == (1 if share <= 0.5 else 0)
    return trait, np.where(dear, 0.9 + 0.1 * rng.random(n), 0.5 * rng.beta(2, 6, n))


PATTERNS: Mapping[str, Pattern] = MappingProxyType(
    {
        "independent": _independent,
        "mild": _mild,
        "strong": _strong,
        "dearer": _dearer,
        "threshold": _threshold,
        "two-humped": _two_humped,
    }
)
"""Every pattern by its name; ``strong`` is Beta(4, 2) against Beta(2, 4), ``dearer`` is lognormal and DEARER times."""


def people(pattern: str, owners: int, share: float, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """A fresh market: who holds the trait, and what everyone asks.

    >>> trait, prices = people("threshold", 1000, 0.4, np.random.default_rng(0))
    >>> bool((prices[trait == 1].min() > 0.6) and (prices[trait == 0].max() <= 0.6))
    True
    """
    return PATTERNS[pattern](owners, share, rng)


def codes_of(trait: Integers, domain_size: int, rng: np.random.Generator) -> Integers:
    """The trait itself where there are two values; else codes that are high for its holders, low for the others.

    >>> codes_of(np.array([0, 1, 1]), 2, np.random.default_rng(0)).tolist()
    [0, 1, 1]
    """
    if domain_size == 2:
        return trait
    codes: Integers = rng.binomial(domain_size - 1, np.where(trait == 1, 0.8, 0.25))
    return codes
