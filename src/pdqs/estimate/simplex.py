"""Shares for showing: the nearest point at which all are at least 0 and they add up to 1."""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats


def on_simplex(shares: Floats) -> Floats:
    """The projection on the simplex: max(share - lambda, 0) with the one lambda that makes them add up to 1.

    Good to look at, and closer on average (its squared error is .09 of the raw one at k = 100, eps 1), but pulled
    toward each other: no interval is built around it, and no mean is taken from it.

    >>> on_simplex(np.array([0.7, 0.5, -0.2])).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, shares.size + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    projected: Floats = np.maximum(shares - excess[kept], 0.0)
    return projected
