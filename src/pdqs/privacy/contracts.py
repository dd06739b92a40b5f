"""What an owner is paid for: the two contracts, each a load and its slope (section 2 of docs/theory)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.names import ContractName, chosen
from pdqs.privacy.loss import epsilon, epsilon_slope


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


ON_REPORT = Contract(name=ContractName.ON_REPORT.value, load=epsilon, slope=epsilon_slope, hides_coin=True)
"""Paid P for a valid report, whatever the coin did: load eps(q). The broker sees the report and nothing else."""


ON_SELECTION = Contract(
    name=ContractName.ON_SELECTION.value, load=_selected_load, slope=_selected_slope, hides_coin=False
)
"""The paper's: paid P/q if the coin chose the truth, else nothing: load q eps(q). The payment gives the coin away."""


CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {contract.name: contract for contract in (ON_REPORT, ON_SELECTION)}
)


def contract_named(name: str) -> Contract:
    """The contract of that name.

    >>> contract_named("on-report").hides_coin
    True
    """
    return CONTRACTS[chosen("contract", name, ContractName)]
