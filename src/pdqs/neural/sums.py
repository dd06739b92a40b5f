"""Sums whose order no library's threads decide.

A linear algebra library shares a long sum out among its threads, so that the last digit depends on how many there are;
training is chaotic enough to turn a last digit into another curve. These products are added up in NumPy's own order,
which depends on the shapes alone.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats


def product(left: Floats, right: Floats) -> Floats:
    """``left @ right``, the same bits whatever the number of threads.

    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    rows, columns = "ij"[2 - left.ndim :], "jk"[: right.ndim]
    summed: Floats = np.einsum(f"{rows},{columns}->{(rows + columns).replace('j', '')}", left, right, optimize=False)
    return summed
