"""The gap rule: owners whom no report can speak for widen the interval by all they could be (section 9 of docs/theory).

z is the share of owners who ask more than anyone who reported, or can never be asked. What was estimated holds for the
other 1 - z; those in the gap may all be at either end.
"""

from __future__ import annotations

from pdqs.model.arrays import Floats


def widened(low: Floats, high: Floats, z: float, ends: tuple[float, float] = (0.0, 1.0)) -> tuple[Floats, Floats]:
    """[(1-z) L + z least, (1-z) U + z most]: for shares the ends are 0 and 1, for means the ends of the range.

    >>> import numpy as np
    >>> low, high = widened(np.array([0.2]), np.array([0.4]), 0.1)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.18], [0.46])
    """
    return (1.0 - z) * low + z * ends[0], (1.0 - z) * high + z * ends[1]


def shifted(p: float, z: float) -> tuple[float, float]:
    """What "F(j) >= p" and "F(j) < p" over everyone mean for the F of those heard: at least (p-z)/(1-z), below p/(1-z).

    >>> [round(x, 3) for x in shifted(0.5, 0.1)]
    [0.444, 0.556]
    """
    if z >= 1.0:
        return 0.0, 1.0
    return max((p - z) / (1.0 - z), 0.0), min(p / (1.0 - z), 1.0)
