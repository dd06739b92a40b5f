"""Shares for showing: all at least 0, adding up to 1, and as near the truth as the raw ones allow."""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Booleans, Floats


def shown_shares(raw: Floats, variance: float) -> Floats:
    r"""The raw shares on the simplex, as they are or drawn together first, whichever is expected to be off by less.

    A few large shares among many small ones are found by projection alone. Where all are alike and the noise is not,
    projection keeps the luckiest; drawing every share toward 1/k by what noise adds to their spread (James and Stein),

    .. math:: 1/k + \lambda (x_i - 1/k), \quad \lambda = \max(0, 1 - (k - 3) v / \sum (x_i - 1/k)^2),

    and as they are for k up to 3, is better then. ``variance`` v is that of one raw share. Of the two, the one with the
    smaller of Stein's estimates of its squared error, |shown - raw|^2 + 2 v div(shown) less what they share, is shown.
    Good to look at, and closer on average, but pulled toward each other: no interval is built around it, no mean is
    taken from it, and where all are alike it may leave the raw interval, as the truth does of one in twenty.

    >>> shown_shares(np.array([0.31, 0.27, 0.2, 0.13, 0.09]), 0.01).round(3).tolist()
    [0.245, 0.229, 0.2, 0.171, 0.155]
    >>> shown_shares(np.array([0.9, 0.2, 0.05, -0.1, -0.05]), 0.01).round(3).tolist()
    [0.85, 0.15, 0.0, 0.0, 0.0]
    """
    even = 1.0 / raw.size
    apart = raw - even
    spread = float(apart @ apart)
    kept = max(0.0, 1.0 - (raw.size - 3) * variance / spread) if raw.size > 3 and spread > 0.0 else 1.0
    plain, drawn = on_simplex(raw), on_simplex(even + kept * apart)
    risk_plain = _risk(plain, raw, variance, float(np.count_nonzero(plain) - 1))
    risk_drawn = _risk(drawn, raw, variance, _divergence_drawn(apart, kept, drawn > 0))
    return drawn if risk_drawn < risk_plain else plain


def _divergence_drawn(apart: Floats, kept: float, inside: Booleans) -> float:
    r"""How fast the drawn shares move with the raw ones: with m shares above 0, a_i their distances from 1/k,

    .. math:: \lambda (m - 1) + 2 (1 - \lambda) \sum_{i: shown_i > 0} (a_i - \bar a)^2 / \sum a_i^2,

    the second term because lambda moves too. Where it is 0, and stays so, nothing moves at all.
    """
    if kept in (0.0, 1.0):
        return kept * float(np.count_nonzero(inside) - 1)
    some = apart[inside]
    moved = float(((some - some.mean()) ** 2).sum()) / float(apart @ apart)
    return kept * (some.size - 1) + 2.0 * (1.0 - kept) * moved


def _risk(shown: Floats, raw: Floats, variance: float, divergence: float) -> float:
    return float(((shown - raw) ** 2).sum()) + 2.0 * variance * divergence


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
