"""What came out of a run, read back, and the statistics that figures and verdicts are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

from pdqs.experiments.setups import Cell, Plan
from pdqs.experiments.store import NO_ANSWER, Store
from pdqs.model.arrays import Floats
from pdqs.model.errors import FileError

Z95 = 1.959963984540054
RESAMPLES = 4000


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rounds of one cell, as columns."""

    columns: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    @property
    def truth(self) -> float:
        """The true answer."""
        return float(self["truth"][0])

    @property
    def error(self) -> Floats:
        """|answer - truth| / unit: relative for counts, in the domain's own unit for medians."""
        return np.asarray(np.abs(self["answer"] - self["truth"]) / self["unit"])

    @property
    def weighted_error(self) -> Floats:
        """The error that the weighted estimator would have made with the same reports."""
        return np.asarray(np.abs(self["weighted"] - self["truth"]) / self["unit"])

    @property
    def mean_error(self) -> float:
        """What most of the paper's figures show."""
        return float(self.error.mean())

    @property
    def relative(self) -> Sample:
        """The same rounds with errors relative to the truth: what the paper's figures of other bids show."""
        return Sample({**self.columns, "unit": np.abs(self["truth"])})

    @property
    def standard_error(self) -> float:
        """Of the mean error."""
        return float(self.error.std(ddof=1) / math.sqrt(self.error.size))

    def summary(self) -> dict[str, float]:
        """One row of figures for the cell."""
        low, middle, high = np.quantile(self["answer"], [0.025, 0.5, 0.975])
        covered = (self["low"] <= self["truth"]) & (self["truth"] <= self["high"])
        return {
            "queries": float(self.error.size),
            "truth": self.truth,
            "error": self.mean_error,
            "standard_error": self.standard_error,
            "error_if_weighted": float(self.weighted_error.mean()),
            "answer_mean": float(self["answer"].mean()),
            "answer_low": float(low),
            "answer_median": float(middle),
            "answer_high": float(high),
            "coverage": float(covered.mean()),
            "spent_share": float((self["spent"] / self["budget"]).mean()),
            "overspent": float((self["spent"] > self["budget"]).mean()),
            "overpaid": float((self["paid"] > self["budget"]).mean()),
            "bought_share": float((self["bought"] / self["owners"]).mean()),
            "information": float(self["information"].mean()),
            "epsilon": float(self["epsilon"].mean()),
            "epsilon_claimed": float(self["epsilon_claimed"].mean()),
            "warned": float(self["warned"].mean()),
        }


@final
@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Every finished cell of a plan, the cells for which a training gave NO ANSWER, and what audits found."""

    plan: Plan
    samples: Mapping[Cell, Sample]
    unanswered: frozenset[Cell] = frozenset()
    promises: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)

    def at(self, experiment: str, population: str, kind: str, mechanism: str, level: float) -> Sample | None:
        """The rounds of a cell, if it was run."""
        return self.samples.get(Cell(experiment, population, kind, mechanism, level))


def read(path: Path, plan: Plan) -> Results:
    """The table of a run, cut back into its cells."""
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, ValueError) as fault:
        raise FileError(f"{path} cannot be read as results: {fault}") from None
    names = ("experiment", "population", "kind", "mechanism", "level")
    missing = sorted({*names, "answer", "truth", "unit"} - set(table.column_names))
    if missing:
        raise FileError(f"{path} has no column {missing[0]!r}: it is not a table of results")
    keys = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    figures = [name for name in table.column_names if name not in (*names, "query")]
    columns = {name: table.column(name).to_numpy().astype(np.float64) for name in figures}
    # Cells lie one after another, so a cell starts wherever the key changes.
    starts = [row for row in range(len(keys)) if row == 0 or keys[row] != keys[row - 1]]
    samples = {
        Cell(*keys[start]): Sample({name: column[start:stop] for name, column in columns.items()})
        for start, stop in zip(starts, [*starts[1:], len(keys)], strict=True)
    }
    unanswered = json.loads((table.schema.metadata or {}).get(NO_ANSWER.encode(), b"[]"))
    promises = Store(path.parent).promises()
    return Results(plan, samples, frozenset(Cell(*each) for each in unanswered), promises)


@final
@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of mean errors, or the geometric mean of several, with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} (95 % interval {self.low:.2f} to {self.high:.2f})"

    @property
    def span(self) -> str:
        """The interval in words that say no more than is known.

        >>> Ratio(3.0, 2.0, math.inf).span, Ratio(3.0, 0.0, math.inf).span, Ratio(3.0, 2.0, 4.0).span
        ('2.0 or more', 'too few errors to say', '2.0 to 4.0')
        """
        if math.isfinite(self.high):
            return f"{self.low:.1f} to {self.high:.1f}"
        return f"{self.low:.1f} or more" if self.low > 0.05 else "too few errors to say"


Blend = tuple[tuple[float, Floats], ...]
"""Errors of one or more samples with weights that sum to 1: their mean is the weighted geometric mean of theirs."""


def ratio_of_means(above: Floats, below: Blend) -> float:
    """mean(above) / mean(below).

    >>> ratio_of_means(np.array([4.0]), ((0.5, np.array([1.0])), (0.5, np.array([4.0]))))
    2.0
    """
    return math.exp(math.log(above.mean()) - sum(weight * math.log(under.mean()) for weight, under in below if weight))


def geometric_ratio(above: Sequence[Floats], below: Sequence[Blend], seed: int = 0) -> Ratio:
    """The geometric mean over pairs of mean(above) / mean(below), with a bootstrap interval (rounds drawn again).

    >>> rng = np.random.default_rng(1)
    >>> found = geometric_ratio([2 + rng.random(100)], [((1.0, 1 + rng.random(100)),)])
    >>> bool(found.low < found.value < found.high)
    True
    """
    rng = np.random.default_rng(seed)
    logs = np.zeros(RESAMPLES)
    for over, unders in zip(above, below, strict=True):
        # A resample without a single error makes a ratio infinite, as it should; one without any says nothing.
        with np.errstate(divide="ignore", invalid="ignore"):
            logs += np.log(_resampled_means(over, rng)) / len(above)
            for weight, under in unders:
                if weight:
                    logs -= weight * np.log(_resampled_means(under, rng)) / len(above)
    low, high = np.exp(np.nanquantile(logs, [0.025, 0.975], method="nearest"))
    value = math.prod(ratio_of_means(*pair) ** (1.0 / len(above)) for pair in zip(above, below, strict=True))
    return Ratio(value, float(low), float(high))


def _resampled_means(values: Floats, rng: np.random.Generator) -> Floats:
    means: Floats = values[rng.integers(0, values.size, (RESAMPLES, values.size))].mean(axis=1)
    return means
