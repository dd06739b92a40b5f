"""The six populations of the paper's experiments, as the figures that its queries need.

``data/populations.toml`` holds, for each, how many owners there are, how many satisfy the count predicate, and how many
hold each value of the ordered domain of the median query. No row of any person is there; the arrays that simulations
need are rebuilt from the figures, in ascending order (shuffle them with a generator of your own where order matters).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, final

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """One population: its source, the answers to the two queries, and the histogram behind the second.

    ``sha256`` is of the raw public file that the figures were counted from. ``alternative_counts`` are wider readings
    of the predicate that the paper's words would also allow.

    >>> load("obesity").count_ones, load("obesity").median_truth
    (580, 23.0)
    """

    name: str
    title: str
    source: str
    licence: str
    sha256: str
    owners: int
    count_ones: int
    count_predicate: str
    count_in_words: str
    alternative_counts: dict[str, int] = field(hash=False)
    median_domain: Domain
    median_column: str
    median_in_words: str
    median_unit: str
    median_truth: float
    histogram: tuple[int, ...]

    def count_values(self) -> Integers:
        """The answers to the predicate, an owner each: zeros, then ones.

        >>> load("customers").count_values().sum().item()
        21
        """
        values = np.zeros(self.owners, dtype=np.int64)
        values[self.owners - self.count_ones :] = 1
        return values

    def median_values(self) -> Floats:
        """The values that the median is of, an owner each, ascending.

        >>> np.median(load("maternal").median_values()).item()
        26.0
        """
        return np.repeat(self.median_domain.numbers, self.histogram)


def names() -> tuple[str, ...]:
    """The populations there are.

    >>> names()
    ('obesity', 'maternal', 'exam', 'students', 'salaries', 'customers')
    """
    return tuple(_figures())


@cache
def load(name: str) -> Population:
    """The population of that name.

    >>> load("exam").median_domain.size
    101
    """
    try:
        found = _figures()[name]
    except KeyError:
        raise InputError(f"unknown population {name!r}: choose one of {', '.join(names())}") from None
    count, median = found["count"], found["median"]
    return Population(
        name=name,
        title=found["title"],
        source=found["source"],
        licence=found["licence"],
        sha256=found["sha256"],
        owners=found["owners"],
        count_ones=count["ones"],
        count_predicate=count["predicate"],
        count_in_words=count["in_words"],
        alternative_counts={key: ones for key, ones in count.items() if isinstance(ones, int) and key != "ones"},
        median_domain=Domain.grid(**median["domain"]),
        median_column=median["column"],
        median_in_words=median["in_words"],
        median_unit=median["unit"],
        median_truth=float(median["truth"]),
        histogram=tuple(median["histogram"]),
    )


@cache
def _figures() -> dict[str, Any]:
    file = resources.files("pdqs.experiments").joinpath("data", "populations.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
