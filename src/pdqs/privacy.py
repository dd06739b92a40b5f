"""How much privacy a report costs, and what an owner is paid for: eps <-> q, and the two contracts.

Throughout, k is the number of values in the public domain and q the chance that the report is the true value; otherwise
the report is uniform on the k values, the true one included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pdqs.errors import TermsError
from pdqs.types import Floats

Q_UNITS = 2**32
"""q is held on multiples of 1/Q_UNITS, so that a device can flip its coin by comparing integers."""


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


def round_q_down(q: Floats) -> Floats:
    """q on multiples of 2^-32, downward: a device may tell the truth less often than priced, never more.

    >>> round_q_down(np.array([1 / 3])).tolist()[0] * 2**32
    1431655765.0
    """
    rounded: Floats = np.floor(q * Q_UNITS) * (1.0 / Q_UNITS)
    return rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What an owner is paid for.

    ``load(q, k)`` is the privacy she is taken to lose when she reports truly with chance q; ``slope`` is its
    derivative in q. ``hides_coin`` says whether the payment is the same whatever the coin did.
    """

    name: str
    load: Callable[[Floats, int], Floats]
    slope: Callable[[Floats, int], Floats]
    hides_coin: bool

    def steepest(self, q_max: float, domain_size: int) -> float:
        """The largest slope of the load on [0, q_max].

        At one of the ends for both contracts: eps' = k / ((1 - q)(1 + (k - 1) q)) is one over a concave function, and
        q eps(q) is steepest at the cap. For many values eps is steepest at 0, where its slope is k.

        >>> round(ON_REPORT.steepest(0.9, 10_000)), round(ON_REPORT.steepest(0.9, 2), 1)
        (10000, 10.5)
        """
        return float(self.slope(np.array([0.0, q_max]), domain_size).max())


def _selected_load(q: Floats, domain_size: int) -> Floats:
    return q * epsilon(q, domain_size)


def _selected_slope(q: Floats, domain_size: int) -> Floats:
    return epsilon(q, domain_size) + q * epsilon_slope(q, domain_size)


ON_REPORT = Contract(name="on-report", load=epsilon, slope=epsilon_slope, hides_coin=True)
"""Paid P for a valid report, whatever the coin did: load eps(q). The broker sees the report and nothing else."""

ON_SELECTION = Contract(name="on-selection", load=_selected_load, slope=_selected_slope, hides_coin=False)
"""The paper's: paid P/q if the coin chose the truth, else nothing: load q eps(q). The payment gives the coin away."""

CONTRACTS = {contract.name: contract for contract in (ON_REPORT, ON_SELECTION)}


def contract_named(name: str) -> Contract:
    """The contract of that name.

    >>> contract_named("on-report").hides_coin
    True
    """
    try:
        return CONTRACTS[name]
    except KeyError:
        raise TermsError(f"unknown contract {name!r}: choose one of {', '.join(sorted(CONTRACTS))}") from None
