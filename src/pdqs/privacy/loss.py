"""How much privacy a report costs, and what an owner is paid for: eps <-> q, and the two contracts.

Throughout, k is the number of values in the public domain and q the chance that the report is the true value; otherwise
the report is uniform on the k values, the true one included.
"""

from __future__ import annotations

import math

import numpy as np

from pdqs.model.arrays import Floats

Q_UNITS = 2**32
"""q is held on multiples of 1/Q_UNITS, so that a device can flip its coin by comparing integers."""

LEAST_Q = 2.0**-16
"""A smaller q tells nothing: no estimator counts it, and an owner who is offered it counts as not asked."""

LEAST_LIFTED_Q = 2.0**-12
"""The same where reports are weighed by 1/q^2 or 1/q^3, which exact sums of fixed size must hold."""


def epsilon(q: Floats, domain_size: int) -> Floats:
    r"""Privacy loss of one report (section 1 of docs/theory).

    With probability q the report is the value, else uniform on the k values, so the likelihood ratio of any report
    is at most (q + (1-q)/k) / ((1-q)/k):

    .. math:: \varepsilon(q) = \ln\left(1 + \frac{k q}{1 - q}\right)

    >>> epsilon(np.array([0.0, 0.5]), 2).round(4).tolist()
    [0.0, 1.0986]
    """
    q = np.asarray(q, dtype=np.float64)
    loss: Floats = np.log1p(domain_size * q / (1.0 - q))
    return loss


def q_of_epsilon(eps: Floats, domain_size: int) -> Floats:
    r"""The inverse of :func:`epsilon`: the chance of truth that a privacy loss allows.

    .. math:: q = \frac{e^\varepsilon - 1}{e^\varepsilon + k - 1}

    >>> q_of_epsilon(np.array([0.0, 4.0]), 2).round(4).tolist()
    [0.0, 0.964]
    """
    eps = np.asarray(eps, dtype=np.float64)
    truth = -np.expm1(-eps)  # written with e^-eps so that a large eps does not overflow
    q: Floats = truth / (truth + domain_size * np.exp(-eps))
    return q


def cap_q(epsilon_max: float, domain_size: int) -> float:
    """The largest q that a cap on eps allows.

    >>> round(cap_q(4.0, 2), 4)
    0.964
    """
    return float(q_of_epsilon(np.array(epsilon_max), domain_size))


def cap_epsilon(q_max: float, domain_size: int) -> float:
    """The eps of a cap on q.

    >>> round(cap_epsilon(0.5, 2), 4)
    1.0986
    """
    return float(epsilon(np.array(q_max), domain_size))


def epsilon_slope(q: Floats, domain_size: int) -> Floats:
    """d eps / d q = k / ((1 - q)(1 + (k - 1) q)).

    >>> epsilon_slope(np.array([0.0, 0.5]), 2).round(4).tolist()
    [2.0, 2.6667]
    """
    slope: Floats = domain_size / ((1.0 - q) * (1.0 + (domain_size - 1) * q))
    return slope


def epsilon_upper(q: Floats, domain_size: int) -> Floats:
    """eps(q) rounded up by a few ulps, so that e^eps is never below the true likelihood ratio.

    >>> bool(epsilon_upper(np.array([0.5]), 2) >= epsilon(np.array([0.5]), 2))
    True
    """
    upper: Floats = epsilon(q, domain_size) * (1.0 + 2.0**-50)
    return upper


NANOS_PER_EPSILON = 10**9
"""Accounts count eps in whole billionths, so that a sum of many is exact."""


def epsilon_nanos(numerator: int, domain_size: int) -> int:
    """eps(N / 2^32) in whole billionths, rounded up: what one report is charged.

    >>> epsilon_nanos(2**31, 2)
    1098612289
    """
    return math.ceil(float(epsilon_upper(np.array(numerator / Q_UNITS), domain_size)) * NANOS_PER_EPSILON)


def round_q_down(q: Floats) -> Floats:
    """q on multiples of 2^-32, downward: a device may tell the truth less often than priced, never more.

    >>> round_q_down(np.array([1 / 3])).tolist()[0] * 2**32
    1431655765.0
    """
    rounded: Floats = np.floor(q * Q_UNITS) * (1.0 / Q_UNITS)
    return rounded
