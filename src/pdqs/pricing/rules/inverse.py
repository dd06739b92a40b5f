"""Solving m(q) = m for a falling m, many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pdqs.model.arrays import Floats


def falling_inverse(f: Callable[[Floats], Floats], wanted: Floats, low: float, high: float) -> Floats:
    """x in [low, high] with f(x) = wanted for a falling f; the nearer end where there is none.

    Plain bisection to the last bit: it is called only while a table is built.

    >>> falling_inverse(lambda x: 1.0 - x, np.array([0.25, 5.0]), 0.0, 1.0).round(12).tolist()
    [0.75, 0.0]
    """
    left = np.full_like(wanted, low)
    right = np.full_like(wanted, high)
    for _ in range(60):
        middle = 0.5 * (left + right)
        above = f(middle) > wanted
        left = np.where(above, middle, left)
        right = np.where(above, right, middle)
    return 0.5 * (left + right)
