"""Confidence levels."""

from __future__ import annotations

from statistics import NormalDist

from pdqs.model.checks import number
from pdqs.model.errors import TermsError


def z_of(level: float) -> float:
    """How many standard errors either side make an interval of this level.

    >>> round(z_of(0.95), 4)
    1.96
    """
    if not 0 < number(level, "level") < 1:
        raise TermsError(f"level must be above 0 and below 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)
