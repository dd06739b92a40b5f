"""Recount the six populations from the raw public files and say which figures agree."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from pdqs.experiments import populations
from pdqs.experiments.populations import Population
from pdqs.model.errors import FileError, InputError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """How a population is counted from its raw file: what separates columns, which ones, and how they are read."""

    delimiter: str
    count_column: str
    counted: frozenset[str]
    median_column: str
    rounded: Callable[[float], float]


def half_up(value: float) -> float:
    """Whole numbers, halves upward.

    >>> half_up(22.5), half_up(22.49)
    (23, 22)
    """
    return math.floor(value + 0.5)


def _as_it_is(value: float) -> float:
    return value


def _down_to_5000(value: float) -> float:
    return 5000 * math.floor(value / 5000)


RAW = {
    "obesity": Raw(
        delimiter=",",
        count_column="NObeyesdad",
        counted=frozenset({"Overweight_Level_I", "Overweight_Level_II"}),
        median_column="Age",
        rounded=half_up,
    ),
    "maternal": Raw(
        delimiter=",",
        count_column="RiskLevel",
        counted=frozenset({"high risk"}),
        median_column="Age",
        rounded=_as_it_is,
    ),
    "exam": Raw(
        delimiter=",",
        count_column="test preparation course",
        counted=frozenset({"completed"}),
        median_column="reading score",
        rounded=_as_it_is,
    ),
    "students": Raw(
        delimiter=";",
        count_column="Scholarship holder",
        counted=frozenset({"1"}),
        median_column="Admission grade",
        rounded=half_up,
    ),
    "salaries": Raw(
        delimiter=",",
        count_column="remote_ratio",
        counted=frozenset({"100"}),
        median_column="salary_in_usd",
        rounded=_down_to_5000,
    ),
    "customers": Raw(
        delimiter="\t",
        count_column="Complain",
        counted=frozenset({"1"}),
        median_column="NumStorePurchases",
        rounded=_as_it_is,
    ),
}


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a population: what the package holds, and what the raw file gives."""

    population: str
    name: str
    held: str
    counted: str

    @property
    def agrees(self) -> bool:
        return self.held == self.counted


def verify_populations(directory: Path) -> list[Figure]:
    """Recount every population whose file NAME.csv lies in the directory; at least one must."""
    if not directory.is_dir():
        raise FileError(f"{directory} is not a directory of raw files")
    found = [name for name in populations.names() if (directory / f"{name}.csv").is_file()]
    if not found:
        wanted = ", ".join(f"{name}.csv" for name in populations.names())
        raise FileError(f"{directory} holds none of the raw files: {wanted}")
    return [figure for name in found for figure in recount(populations.load(name), directory / f"{name}.csv")]


def refuse_disagreement(figures: list[Figure]) -> None:
    """Raise for the first figure that does not agree, naming it; a changed file comes before what changed in it."""
    for figure in sorted((each for each in figures if not each.agrees), key=lambda each: each.name != "sha256"):
        if figure.name == "sha256":
            raise FileError(
                f"{figure.population}.csv is not the file that was counted: its sha256 is {figure.counted},"
                f" not {figure.held}"
            )
        raise InputError(f"{figure.population}: {figure.name} is {figure.counted} in the file, {figure.held} here")


def recount(population: Population, path: Path) -> list[Figure]:
    """Every figure of a population against its raw file."""
    raw = RAW[population.name]
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise FileError(f"{path} cannot be read: {fault}") from None
    answers, numbers = _columns(content, raw, path)
    values = [raw.rounded(number) for number in numbers]
    histogram = _histogram(values, population, raw, path)
    middle = sorted(values)[(len(values) - 1) // 2]
    held_and_counted = {
        "sha256": (population.sha256, hashlib.sha256(content).hexdigest()),
        "owners": (population.owners, len(answers)),
        "count": (population.count_ones, sum(answer in raw.counted for answer in answers)),
        "median": (f"{population.median_truth:g}", f"{middle:g}"),
        "histogram": (_digest(population.histogram), _digest(histogram)),
    }
    return [Figure(population.name, name, str(held), str(here)) for name, (held, here) in held_and_counted.items()]


def _columns(content: bytes, raw: Raw, path: Path) -> tuple[list[str], list[float]]:
    """The two columns that the queries need."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as fault:
        raise FileError(f"{path} is not text in UTF-8: {fault.reason} at byte {fault.start}") from None
    reader = csv.reader(lines, delimiter=raw.delimiter)
    head = [name.strip() for name in next(reader, [])]
    for column in (raw.count_column, raw.median_column):
        if column not in head:
            raise FileError(f"{path} has no column {column!r}")
    answer_at, number_at = head.index(raw.count_column), head.index(raw.median_column)
    answers, numbers = [], []
    for row, cells in enumerate(reader, start=1):
        if len(cells) <= max(answer_at, number_at):
            raise InputError(f"{path}: row {row} has {len(cells)} columns, the head has {len(head)}")
        answers.append(cells[answer_at].strip())
        try:
            numbers.append(float(cells[number_at]))
        except ValueError:
            raise InputError(
                f"{path}: row {row}, column {raw.median_column!r}: {cells[number_at]!r} is not a number"
            ) from None
    if not answers:
        raise FileError(f"{path} has no rows")
    return answers, numbers


def _histogram(values: list[float], population: Population, raw: Raw, path: Path) -> tuple[int, ...]:
    counts = Counter(values)
    domain = [float(number) for number in population.median_domain.numbers]
    outside = set(counts) - set(domain)
    if outside:
        row = next(i for i, value in enumerate(values, start=1) if value in outside)
        raise InputError(
            f"{path}: row {row}, column {raw.median_column!r}: {values[row - 1]:g} is not in the domain"
            f" ({population.median_domain})"
        )
    return tuple(counts[number] for number in domain)


def _digest(histogram: tuple[int, ...]) -> str:
    """A histogram in a few characters: its number of values and a hash."""
    digest = hashlib.sha256(",".join(map(str, histogram)).encode()).hexdigest()
    return f"{len(histogram)} values, {digest[:12]}"
