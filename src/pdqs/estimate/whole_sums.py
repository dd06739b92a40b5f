"""Sums of floats that no order can change: each is rounded down to a whole number of 2^-40, then added exactly."""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats, Integers

UNIT = 2.0**-40
_LIMB_BITS = 30
_ROWS = 2**20  # a float64 holds the sum of this many limbs exactly
_WHOLE = 2.0**62  # below this a sum is a plain whole number

Sums = tuple[int, ...]
"""Whole numbers of units, one for each cell."""


def exact_sums(values: Floats, cells: Integers, size: int) -> Sums:
    """The sum of floor(value 2^40) in each cell, in whole numbers of any length; values may have either sign.

    >>> exact_sums(np.array([0.5, 0.25, -1.0]), np.array([0, 0, 1]), 2) == (3 * 2**38, -(2**40))
    True
    """
    totals = [0] * size
    for start in range(0, values.size, _ROWS):
        units = np.floor(values[start : start + _ROWS] / UNIT)
        at = cells[start : start + _ROWS]
        if float(np.abs(units).max(initial=0.0)) * units.size < _WHOLE:
            few = np.zeros(size, dtype=np.int64)
            np.add.at(few, at, units.astype(np.int64))
            totals = [total + more for total, more in zip(totals, few.tolist(), strict=True)]
            continue
        sign, rest, shift = np.sign(units), np.abs(units), 0
        while rest.any():
            higher = np.floor(rest * 2.0**-_LIMB_BITS)
            limb = sign * (rest - higher * 2.0**_LIMB_BITS)
            part = np.bincount(at, weights=limb, minlength=size).astype(np.int64).tolist()
            totals = [total + (more << shift) for total, more in zip(totals, part, strict=True)]
            rest, shift = higher, shift + _LIMB_BITS
    return tuple(totals)


def added(ours: Sums, theirs: Sums) -> Sums:
    """Cell by cell."""
    return tuple(a + b for a, b in zip(ours, theirs, strict=True))


def as_floats(sums: Sums) -> Floats:
    """The sums as numbers, each rounded once.

    >>> as_floats((3 * 2**38,)).tolist()
    [0.75]
    """
    return np.array([total * UNIT for total in sums], dtype=np.float64)
