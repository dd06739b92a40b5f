"""Quantiles of what a lottery bought: every value that no test of its cumulative share rules out.

The target is Q = min{j : F(j) >= p}. L is the *first* j from below whose "F(j) >= p" stands, U the first from above
whose "F(j-1) < p" stands (section 10 of docs/theory): L > Q only if the test at Q itself fails, so each side keeps its
level whatever the other values say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.chances import Sampled
from pdqs.estimate.drawn import refuses_at_least, refuses_at_most
from pdqs.estimate.functionals import CumulativeShares
from pdqs.estimate.gap import shifted
from pdqs.model.arrays import Floats


@final
@dataclass(frozen=True)
class CodeInterval:
    """Codes of the domain: the quantile and the ends of its interval. ``shares`` is the monotone estimate of F."""

    code: int
    low: int
    high: int
    shares: Floats


def quantile_interval(
    found: Sampled, p: float, level: float, *, gap: float = 0.0, dishonest: Floats | float = 0.0
) -> CodeInterval:
    """The p-quantile. ``gap`` is the share of owners nothing speaks for, ``dishonest`` how far cheats may move an F."""
    from scipy.optimize import isotonic_regression  # a slow import, needed by quantiles only

    size = found.mean.shape[1]
    statistic = CumulativeShares(size)
    least, most = shifted(p, gap)
    below = refuses_at_least(statistic, found, np.maximum(least - dishonest, 0.0), level)
    above = refuses_at_most(statistic, found, np.minimum(most + dishonest, 1.0), level)
    below[-1] = False  # everyone is at or below the last value
    possible_from = int(np.argmin(below))
    # "F(j-1) < p" stands for j = 0, where F(-1) = 0.
    stands = np.concatenate([[True], ~above[:-1]])
    possible_to = size - 1 - int(np.argmax(stands[::-1]))
    low, high = sorted((possible_from, possible_to))
    shares = isotonic_regression(found.estimate).x
    shares[-1] = 1.0
    code = int(np.argmax(shares >= p))
    return CodeInterval(min(max(code, low), high), low, high, shares)
