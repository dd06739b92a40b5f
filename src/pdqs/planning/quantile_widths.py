"""How wide the interval of a quantile will be, in the units of the values, on average over what reports may say.

Its ends are values of the domain, so a few typical answers say little: most have the very same ends. But the lower end
lies above v_j exactly where "F(j) >= p" is refused, that is where the upper end of the interval of F(j) is below p, and
likewise from above. With the estimate of F(j) normal about what it aims at and its ends as far from it as in a typical
answer, each of those chances is known, and the mean of an end is a sum of steps times chances.
"""

from __future__ import annotations

import numpy as np

from pdqs.estimate.readings import Estimated
from pdqs.model.arrays import Floats

_LEAST_ERROR = 1e-12  # a cumulative share that is known for certain: its chances are 0 or 1


def value_half_width(found: Estimated, aims: Floats, numbers: Floats, p: float) -> float:
    """The mean half-width, if the estimates of the cumulative shares lie about ``aims``.

    >>> ends = np.array([[0.15, 0.55, 1.0], [0.05, 0.45, 1.0]])
    >>> errors, middle = np.array([0.025, 0.025, 0.0]), np.array([0.1, 0.5, 1.0])
    >>> found = Estimated(estimate=middle, high=ends[0], low=ends[1], standard_error=errors, reach=errors)
    >>> round(value_half_width(found, middle, np.array([0.0, 1.0, 2.0]), 0.5), 3)  # 1 to 2, seldom just one of them
    0.477
    """
    from scipy.special import ndtr  # a slow import, needed by quantiles only

    errors = np.maximum(found.standard_error, _LEAST_ERROR)
    refused_above = ndtr((p - aims - (found.high - found.estimate)) / errors)[:-1]
    refused_below = ndtr((aims - (found.estimate - found.low) - p) / errors)[:-1]
    steps = np.diff(numbers)
    return float(numbers[-1] - numbers[0] - steps @ (refused_above + refused_below)) / 2.0
