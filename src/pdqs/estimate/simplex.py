"""Shares for showing: all at least 0, adding up to 1, and as near the truth as the raw ones allow."""

from __future__ import annotations

import numpy as np

from pdqs.estimate.likely import likely_shares
from pdqs.model.arrays import Floats

_NO_NOISE = 1e-100
"""Up to such a standard error there is no luck to tell from shares, and its square would vanish."""


def shown_shares(raw: Floats, standard_error: Floats) -> Floats:
    """The nearest shares on the simplex to those that are likely (:mod:`pdqs.estimate.likely`).

    Raw shares of an even population differ by luck alone, those of a few large values among many small ones do not; how
    they lie says which it is, and each is drawn as far toward its like as luck explains. Up to three shares say too
    little of each other: they are shown as they are, on the simplex. Good to look at, and closer on average, but no
    interval is built around it, no mean is taken from it, and where all are alike it may leave the raw interval, as the
    truth does of one in twenty.

    >>> shown_shares(np.array([0.31, 0.27, 0.2, 0.13, 0.09]), np.full(5, 0.1)).round(3).tolist()
    [0.234, 0.221, 0.199, 0.178, 0.167]
    >>> shown_shares(np.array([0.9, 0.2, 0.05, -0.1, -0.05]), np.full(5, 0.1)).round(3).tolist()
    [0.905, 0.047, 0.02, 0.013, 0.015]
    """
    if raw.size <= 3 or not float(standard_error.max(initial=0.0)) > _NO_NOISE:
        return on_simplex(raw)
    return on_simplex(likely_shares(raw, standard_error))


def on_simplex(shares: Floats) -> Floats:
    """The projection on the simplex: max(share - lambda, 0) with the one lambda that makes them add up to 1.

    >>> on_simplex(np.array([0.7, 0.5, -0.2])).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, shares.size + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    projected: Floats = np.maximum(shares - excess[kept], 0.0)
    return projected
