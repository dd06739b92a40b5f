"""What if some cheat: the interval that still holds when a share delta of the weight is arbitrary (section 11).

Values cannot be checked. One report made right lies between y_min and y_max, and the g it should have told between
g_min and g_max, so a share delta of the weight moves a mean by at most delta a, a = max(y_max - g_min, g_max - y_min).
It holds for the worst choice of that share; a share of the *owners* when who cheats is settled before the draws.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.checks import number
from pdqs.model.errors import EstimateError

USUAL_CHEATS = 0.05
"""The share of dishonest owners that an answer shows itself against, unless told otherwise."""


def reach_of_shares(q: float, x: Floats) -> Floats:
    """a for shares whose uniform reports say 1 with chance x (a functional's centre), at the least q heard.

    >>> reach_of_shares(0.7616, np.array([0.5])).round(4).tolist()  # 1/2 + 1/(2q): 5.8 points for 5 %
    [1.1565]
    """
    reach: Floats = np.maximum((1.0 - (1.0 - q) * x) / q, 1.0 + (1.0 - q) * x / q)
    return reach


def reach_of_means(q: float, least: float, most: float, centre: float) -> float:
    """a for the mean of numbers (or levels) from ``least`` to ``most`` whose uniform reports average ``centre``.

    >>> reach_of_means(1.0, 0.0, 10.0, 5.0)
    10.0
    """
    return max(centre + (most - centre) / q - least, most - centre + (centre - least) / q)


def checked_share(delta: float) -> float:
    """A share of cheats between 0 and 1, or an error that says so."""
    if not 0.0 <= number(delta, "the share of dishonest owners", EstimateError) <= 1.0:
        raise EstimateError(f"the share of dishonest owners must be from 0 to 1, got {delta}")
    return delta


def interval_if_dishonest(
    low: Floats, high: Floats, delta: float, reach: Floats | float, ends: tuple[float, float] = (0.0, 1.0)
) -> tuple[Floats, Floats]:
    """Both ends moved out by delta a, kept to what is possible. For quantiles move F by delta a instead.

    >>> low, high = interval_if_dishonest(np.array([0.3]), np.array([0.4]), 0.05, 1.2)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.24], [0.46])
    """
    move = checked_share(delta) * reach
    return (low - move).clip(*ends), (high + move).clip(*ends)
