"""The embedded populations say what the public files say."""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pdqs
from pdqs.experiments import populations
from pdqs.model.errors import InputError

RAW = Path(__file__).resolve().parents[2] / "shared" / "data"
EVERY = pytest.mark.parametrize("name", populations.names())


def half_up(text: str) -> float:
    return float(np.floor(float(text) + 0.5))


# column of the median, how a cell becomes a value, and the count predicate: read off the raw files afresh.
READINGS: dict[str, tuple[str, str, Callable[[str], float], str, Callable[[str], bool]]] = {
    "obesity": (",", "Age", half_up, "NObeyesdad", lambda cell: cell.startswith("Overweight_Level")),
    "maternal": (",", "Age", float, "RiskLevel", lambda cell: cell == "high risk"),
    "exam": (",", "reading score", float, "test preparation course", lambda cell: cell == "completed"),
    "students": (";", "Admission grade", half_up, "Scholarship holder", lambda cell: cell == "1"),
    "salaries": (",", "salary_in_usd", lambda cell: float(cell) // 5000 * 5000, "remote_ratio", lambda c: c == "100"),
    "customers": ("\t", "NumStorePurchases", float, "Complain", lambda cell: cell == "1"),
}


def test_there_are_the_six_of_the_paper() -> None:
    assert set(populations.names()) == set(READINGS)


@EVERY
def test_every_owner_stands_in_the_histogram_once(name: str) -> None:
    population = populations.load(name)
    assert sum(population.histogram) == population.owners
    assert len(population.histogram) == population.median_domain.size
    assert min(population.histogram) >= 0


@EVERY
def test_the_median_of_the_histogram_is_the_stated_truth(name: str) -> None:
    population = populations.load(name)
    running = 0
    for value, owners in zip(population.median_domain.numbers, population.histogram, strict=True):
        running += owners
        if 2 * running >= population.owners:
            assert value == population.median_truth
            break


@EVERY
def test_counts_lie_within_the_population(name: str) -> None:
    population = populations.load(name)
    assert 0 < population.count_ones < population.owners
    assert all(population.count_ones < wider < population.owners for wider in population.alternative_counts.values())


@EVERY
def test_rebuilt_values_belong_to_their_domains_and_give_the_truths(name: str) -> None:
    population = populations.load(name)
    ones, values = population.count_values(), population.median_values()
    assert ones.size == values.size == population.owners
    assert pdqs.Domain.binary().encode(ones).sum() == population.count_ones
    codes = population.median_domain.encode(values)
    assert np.bincount(codes, minlength=population.median_domain.size).tolist() == list(population.histogram)


@EVERY
def test_the_arrays_are_fresh_each_time(name: str) -> None:
    population = populations.load(name)
    population.count_values()[:] = 7
    population.median_values()[:] = -1
    assert population.count_values().max() == 1
    assert population.median_values().min() >= population.median_domain.start


@EVERY
def test_sources_are_named(name: str) -> None:
    population = populations.load(name)
    assert population.title
    assert population.source
    assert population.licence
    assert len(population.sha256) == 64


@EVERY
def test_the_figures_are_those_of_the_public_file(name: str) -> None:
    path = RAW / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the raw file of {name} is not beside the repository")
    raw = path.read_bytes()
    population = populations.load(name)
    assert hashlib.sha256(raw).hexdigest() == population.sha256
    delimiter, column, value_of, predicate_column, holds = READINGS[name]
    rows = list(csv.DictReader(raw.decode("utf-8-sig").splitlines(), delimiter=delimiter))
    assert len(rows) == population.owners
    assert sum(holds(row[predicate_column]) for row in rows) == population.count_ones
    assert sorted(value_of(row[column]) for row in rows) == population.median_values().tolist()


def test_an_unknown_population_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match=r"unknown population 'mars': choose one of obesity, maternal"):
        populations.load("mars")


def test_populations_need_numpy_only() -> None:
    script = (
        "import sys, pdqs.experiments.populations as p; p.load('exam').median_values();"
        " print([m for m in ('matplotlib', 'pandas', 'pyarrow', 'typer', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
