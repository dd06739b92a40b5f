"""The variance of one report made right, for the questions whose reports are not the value itself.

What an estimate's interval is made from after the round, and what is predicted before it (section 10 of docs/theory).
"""

from __future__ import annotations

from typing import TypeVar

from pdqs.model.arrays import Floats

Noise = TypeVar("Noise", float, Floats)


def side_noise(q: Floats, p: float) -> Floats:
    """v, the variance of h = (Y - (1-q)/2)/q - p where F(m) = p: pi (1 - pi)/q^2, pi = q p + (1 - q)/2.

    >>> import numpy as np
    >>> side_noise(np.array([0.5]), 0.5).tolist()
    [1.0]
    """
    pi = q * p + (1.0 - q) / 2.0
    v: Floats = pi * (1.0 - pi) / q**2
    return v


def bucket_noise(w2: Noise, w2_q: Noise, w2_qq: Noise, c: float, g: int) -> tuple[Noise, Noise]:
    """sum w^2 p(1-p)/(p1-p0)^2 at p = p1 and at p = p0, from the sums of w^2, w^2/q and w^2/q^2.

    p1 and p0 are the chances that the reported one of g buckets holds a cell, for owners who are in it and who are not
    (two values share a bucket with chance c). Both are 1/g + slope q, so p(1-p)/q^2 is a quadratic in 1/q.
    """
    x = 1.0 / g

    def at(slope: float) -> Noise:
        total: Noise = x * (1.0 - x) * w2_qq + slope * (1.0 - 2.0 * x) * w2_q - slope * slope * w2
        return total / (1.0 - c) ** 2

    return at(1.0 - x), at(c - x)
