"""Reports: what came back from owners, or in a simulation what their devices would send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Column, Integers, Values, read_only
from pdqs.model.checks import made, shown
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError
from pdqs.privacy.entropy import Entropy, SeededEntropy
from pdqs.privacy.randomiser import draw_reports, q_numerators
from pdqs.rounds.offers import Offers


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Reports:
    """What came back: a code per owner, and whether it arrived.

    ``selected`` says where the coin chose the truth. Only a simulation knows it; it is empty for reports received.
    The arrays cannot be written to.
    """

    codes: Integers
    arrived: Booleans
    selected: Booleans
    domain: Domain

    def __post_init__(self) -> None:
        for name in ("codes", "arrived", "selected"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return int(self.codes.size)

    @property
    def values(self) -> Values:
        """The reported values as the domain holds them; missing ones are NaN (None for categories)."""
        values = self.domain.decode(self.codes)
        if self.arrived.all():
            return values
        if self.domain.ordered:
            return np.where(self.arrived, values.astype(np.float64), np.nan)
        labels: Values = values.copy()
        labels[~self.arrived] = None
        return labels

    def only(self, arrived: Booleans) -> Reports:
        """The same reports with only these arrived."""
        return Reports(codes=self.codes, arrived=self.arrived & arrived, selected=self.selected, domain=self.domain)

    def __repr__(self) -> str:
        return f"Reports: {int(self.arrived.sum()):,} of {len(self):,} arrived ({self.domain})"


def randomise(values: Column, offers: Offers, rng: np.random.Generator | Entropy) -> Reports:
    """Every owner's report, drawn at her own q.

    ``rng`` is a seeded NumPy generator for simulation, or :class:`SystemEntropy` for real values.

    >>> import pdqs
    >>> offers = pdqs.clear([0.1, 0.2, 0.3], pdqs.Terms(query=pdqs.Count(), budget=1.0))
    >>> len(pdqs.randomise([1, 0, 1], offers, np.random.default_rng(0)))
    3
    """
    made(offers, Offers, "offers", InputError)
    entropy = SeededEntropy(rng) if isinstance(rng, np.random.Generator) else rng
    if isinstance(entropy, type) or not isinstance(entropy, Entropy):
        raise InputError(f"rng must be np.random.default_rng(seed) or SystemEntropy(), got {shown(rng)}")
    codes = offers.domain.encode(values)
    if codes.size != len(offers):
        raise InputError(f"column 'value': {codes.size:,} values for {len(offers):,} offers")
    reports, selected = draw_reports(codes, q_numerators(offers.q), offers.domain.size, entropy)
    arrived = np.ones(codes.size, dtype=bool)
    return Reports(codes=reports, arrived=arrived, selected=selected, domain=offers.domain)


def received(values: Column, domain: Domain, *, column: str = "value") -> Reports:
    """Reports that came from outside; None and NaN stand for those that did not arrive.

    >>> received([1, None, 0], Domain.binary()).arrived.tolist()
    [True, False, True]
    """
    made(domain, Domain, "domain", InputError)
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    arrived = np.array([value is not None and value == value for value in listed], dtype=bool)
    filler = domain.decode(np.array([0]))[0]
    codes = domain.encode(
        [value if there else filler for value, there in zip(listed, arrived, strict=True)], column=column
    )
    return Reports(codes=codes, arrived=arrived, selected=np.zeros(0, dtype=bool), domain=domain)
