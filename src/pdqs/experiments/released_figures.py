"""The figures that the paper's authors released for the Customers queries, beside ours.

Counts: mean relative error over 100 queries; n = 2240 owners, of whom 21 complained. The release asks one market 100
times; we draw 100 markets, whose mean is the same. exp and log draw their coefficient anew for each query, so their
means differ from release to release by chance: they are compared as draws, by how many standard errors of both lie
between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pdqs.experiments.results import Results
from pdqs.model.names import QueryKind

BUDGETS = (0.1, 0.3, 0.5, 0.7, 0.9)

RELEASED: dict[str, tuple[tuple[float, float], ...]] = {
    "npqm-released": ((38.5, 39.6), (32.2, 33.1), (23.7, 23.9), (14.1, 15.5), (10.1, 11.2)),
    "gpqm-linear": ((47.2, 47.2), (35.2, 35.2), (26.3, 26.3), (25.9, 25.9), (26.2, 26.2)),
    "gpqm-exp": ((44.8, 44.8), (41.5, 41.5), (40.9, 40.9), (39.3, 39.3), (38.5, 38.5)),
    "gpqm-log": ((42.1, 42.1), (40.2, 40.2), (39.3, 39.3), (37.8, 37.8), (38.9, 38.9)),
    "fairquery": ((49.8, 49.8), (46.0, 46.0), (39.6, 39.6), (39.5, 39.5), (39.4, 39.4)),
}
"""Lowest and highest released figure at each budget: NPQM was released as three checkpoints, the others as one run."""

MEDIAN_BUDGETS = (0.3, 0.7)

RELEASED_MEDIANS: dict[str, tuple[tuple[float, float], ...]] = {
    "npqm-released": ((0.925, 0.975), (0.0, 0.0)),
    "gpqm-linear": ((1.0, 1.0), (0.54, 0.54)),
    "gpqm-exp": ((1.02, 1.02), (0.93, 0.93)),
    "gpqm-log": ((1.0, 1.0), (0.82, 0.82)),
    "fairquery": ((1.01, 1.01), (1.0, 1.0)),
}
"""Mean absolute error of the Customers median (truth 5); only two budgets of five were released."""

TOLERANCE = {"npqm-released": 0.10, "gpqm-linear": 0.05, "gpqm-exp": 0.10, "gpqm-log": 0.10, "fairquery": 0.05}


MEDIAN_TOLERANCE = 0.10
"""A tenth of a visit, for mean errors of whole visits; some of the released ones are 0, so shares would say nothing."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One released figure (or span of figures) and ours: of the count, or of the ``median``."""

    mechanism: str
    budget: float
    low: float
    high: float
    ours: float
    standard_error: float
    median: bool = False

    @property
    def span(self) -> str:
        """The released figure, or the lowest to the highest."""
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"

    @property
    def apart(self) -> float:
        """How far ours lies outside the released span; 0 inside."""
        return self.ours - min(max(self.ours, self.low), self.high)

    @property
    def gap(self) -> float:
        """How far ours lies outside the released span, as a share of its nearer end; 0 inside."""
        if self.ours > self.high:
            return self.ours / self.high - 1.0
        return min(self.ours / self.low - 1.0, 0.0)

    @property
    def agrees(self) -> bool:
        """Whether ours is as near as was asked for."""
        if self.median:
            return abs(self.apart) <= MEDIAN_TOLERANCE + 1e-9
        return abs(self.gap) <= TOLERANCE[self.mechanism]

    @property
    def standard_errors(self) -> float:
        """The gap in standard errors, the released mean taken to be as uncertain as ours."""
        return self.apart / (math.sqrt(2.0) * self.standard_error) if self.standard_error else 0.0


def compare_medians(results: Results) -> list[Comparison]:
    """Every released median that the run has a cell for."""
    return _compared(results, "median", RELEASED_MEDIANS, MEDIAN_BUDGETS)


def compare(results: Results) -> list[Comparison]:
    """Every released figure of the count that the run has a cell for."""
    return _compared(results, "count", RELEASED, BUDGETS)


def _compared(
    results: Results, kind: str, released: dict[str, tuple[tuple[float, float], ...]], budgets: tuple[float, ...]
) -> list[Comparison]:
    found = []
    for mechanism, spans in released.items():
        for budget, (low, high) in zip(budgets, spans, strict=True):
            sample = results.at(kind, "customers", kind, mechanism, budget)
            if sample is not None:
                found.append(
                    Comparison(
                        mechanism=mechanism,
                        budget=budget,
                        low=low,
                        high=high,
                        ours=sample.mean_error,
                        standard_error=sample.standard_error,
                        median=kind == QueryKind.MEDIAN,
                    )
                )
    return found
