"""What a plan knows of smaller questions: how wide their intervals are in ranks."""

from __future__ import annotations

import numpy as np

from pdqs.estimate.answers import Answer
from pdqs.model.arrays import Floats
from pdqs.rounds.terms import Terms


def ranks_between(found: Answer, terms: Terms, shares: Floats) -> float:
    """Half the share of owners that the guess has between the ends of a quantile's interval.

    An end that lies at a value counts half of those who hold it, so that a single value is an interval of no width.
    """
    low, high = np.asarray(found.interval, dtype=np.float64)
    first, last = ((end - terms.domain.start) / terms.domain.step for end in (low, high))
    heaped = np.concatenate([[0.0], np.cumsum(shares)])
    at = (np.array([first, last]) + 0.5) * (shares.size / terms.domain_size)
    below, above = np.interp(at, np.arange(shares.size + 1), heaped)
    return float(above - below) / 2.0
