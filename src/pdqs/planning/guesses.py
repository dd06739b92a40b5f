"""What values owners may have: the guess that a plan is made at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.checks import number, shown
from pdqs.model.errors import PlanError
from pdqs.model.query import Count, Query

MOST_CELLS = 2**16
"""An even spread over a larger domain is described by so many cells of it."""

Guess = float | Sequence[float] | Floats
"""The share who say 1, for a count; for other queries the share of each value of the domain, in its order."""


def shares_of(guess: Guess | None, query: Query) -> Floats:
    """The share of each value. Left out: one half of a count, where it is hardest to know; else all values alike.

    >>> shares_of(0.3, Count()).tolist(), shares_of(None, Count()).tolist()
    ([0.7, 0.3], [0.5, 0.5])
    """
    size = query.question.domain.size
    if guess is None:
        even = min(size, MOST_CELLS)
        return np.full(even, 1.0 / even)
    if isinstance(query, Count):
        share = number(guess, "guess", PlanError)
        if not 0 <= share <= 1:
            raise PlanError(f"guess must be a share from 0 to 1 of owners who say 1, got {share:g}")
        return np.array([1.0 - share, share])
    if isinstance(guess, str | float | int) or not isinstance(guess, Sequence | np.ndarray) or len(guess) != size:
        raise PlanError(f"guess must hold a share for each of the {size:,} values of the domain, got {shown(guess)}")
    shares = np.array([number(share, f"guess {at}", PlanError) for at, share in enumerate(guess, start=1)])
    if (shares < 0).any() or not shares.sum() > 0:
        raise PlanError("guess must hold shares of at least 0 that do not all vanish")
    return np.asarray(shares / shares.sum())


def typical_codes(shares: Floats, owners: int, domain_size: int | None = None) -> Integers:
    """Codes of so many owners, as near to the shares as whole owners can be.

    Where the shares are of fewer cells than the domain has values, codes are spread over it evenly.

    >>> typical_codes(np.array([0.7, 0.3]), 10).tolist()
    [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    """
    middles = (np.arange(owners) + 0.5) / owners
    if domain_size is not None and shares.size < domain_size:
        return np.minimum(middles * domain_size, domain_size - 1).astype(np.int64)
    codes = np.searchsorted(np.cumsum(shares), middles)
    return np.minimum(codes, shares.size - 1).astype(np.int64)


def coarser(shares: Floats) -> Floats:
    """Shares of pairs of neighbours.

    >>> coarser(np.array([0.2, 0.3, 0.5])).tolist()
    [0.5, 0.5]
    """
    return np.add.reduceat(shares, np.arange(0, shares.size, 2))
