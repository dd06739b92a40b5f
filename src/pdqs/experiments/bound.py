r"""What no rule can reach: the least error of the naive count within the true budget.

Bids U(0, 1), paid as the paper pays (on selection, k = 2). A report tells the truth with probability q and is a fair
coin otherwise, so the naive count is off by (n - sum q)(1/2 - pi) on average, and its mean error is at least that. With
independent bids the expected payment is n E[phi(b) l(q(b))], phi(b) = 2b, so the most that E[q] can be is reached by

.. math:: q(b) = \arg\max_q\; q - m\, l(q), \qquad m = 2b/s, \qquad l'(q) = \ln\frac{1+q}{1-q} + \frac{2q}{1-q^2} = 1/m

with s set so that the budget is spent. It falls in b, so it is a rule; no other buys more truth for the money.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pdqs.model.arrays import Floats

_BIDS = (np.arange(1024) + 0.5) / 1024


def least_count_error(share_of_ones: float, budget_share: float) -> float:
    """The least mean relative error of a naive count, for a budget per owner.

    >>> [round(least_count_error(21 / 2240, share), 1) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    [36.9, 28.3, 23.2, 19.4, 16.5]
    """
    return abs(0.5 - share_of_ones) / share_of_ones * (1.0 - most_truth(budget_share))


@lru_cache(maxsize=64)
def most_truth(budget_share: float) -> float:
    """The largest mean q that this much money per owner can buy."""
    low, high = -30.0, 30.0
    for _ in range(45):
        middle = 0.5 * (low + high)
        q = _best_q(2.0 * _BIDS / np.exp(middle))
        spent = float((2.0 * _BIDS * q * np.log((1.0 + q) / (1.0 - q))).mean())
        low, high = (middle, high) if spent <= budget_share else (low, middle)
    return float(_best_q(2.0 * _BIDS / np.exp(low)).mean())


def _best_q(m: Floats) -> Floats:
    """The root of l'(q) = 1/m, by bisection."""
    low, high = np.zeros_like(m), np.full_like(m, 1.0 - 1e-12)
    for _ in range(45):
        q = 0.5 * (low + high)
        worth = np.log((1.0 + q) / (1.0 - q)) + 2.0 * q / (1.0 - q * q) <= 1.0 / m
        low, high = np.where(worth, q, low), np.where(worth, high, q)
    return low
