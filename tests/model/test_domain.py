"""Domains: codes in, values out, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs import Domain
from pdqs.model.arrays import Floats
from pdqs.model.errors import DomainError, InputError


@given(start=st.integers(-1000, 1000), size=st.integers(2, 500), step=st.sampled_from([1, 2, 0.5, 0.1, 5000]))
def test_every_value_of_a_grid_comes_back_from_its_code(start: float, size: int, step: float) -> None:
    domain = Domain.grid(start, start + step * (size - 1), step)
    codes = np.arange(size)
    assert domain.size == size
    assert domain.encode(domain.decode(codes)).tolist() == codes.tolist()


@given(st.lists(st.text(max_size=5) | st.integers(), min_size=2, max_size=30, unique=True))
def test_every_category_comes_back_from_its_code(labels: Any) -> None:
    domain = Domain.categories(labels)
    assert domain.decode(domain.encode(labels)).tolist() == labels


@pytest.mark.parametrize("column", [list, np.array, pd.Series, pl.Series, pa.array])
def test_columns_of_every_kind_are_encoded(column: Any) -> None:
    assert Domain.grid(10, 12, 1).encode(column([10, 12, 11])).tolist() == [0, 2, 1]
    assert Domain.categories(["a", "b"]).encode(column(["b", "a"])).tolist() == [1, 0]


def test_a_predicates_answer_may_be_a_bool() -> None:
    assert Domain.binary().encode([True, False]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Domain.categories([]), "at least 2 categories, got 0"),
        (lambda: Domain.categories(["only"]), "at least 2 categories, got 1"),
        (lambda: Domain.categories(["a", "b", "a"]), "category 3 repeats 'a'"),
        (lambda: Domain.grid(0, 0, 1), "at least 2 values"),
        (lambda: Domain.grid(5, 0, 1), "a stop above its start, got 5 to 0"),
        (lambda: Domain.grid(0, 10, 0), "step above 0"),
        (lambda: Domain.grid(0, 10, 3), "not a whole number of steps"),
        (lambda: Domain.grid(0, float("nan"), 1), "finite"),
        (lambda: Domain.grid(0, 1e18, 1), "too large"),
    ],
)
def test_a_domain_that_cannot_be_asked_about_is_refused(make: Any, says: str) -> None:
    with pytest.raises(DomainError, match=says):
        make()


@pytest.mark.parametrize(
    ("domain", "values", "says"),
    [
        (Domain.binary(), [0, 1, 2], "row 3, column 'value': 2 is not in the domain"),
        (Domain.grid(10, 20, 1), [10, 10.5], "row 2, column 'value': 10.5 is not in the domain"),
        (Domain.grid(10, 20, 1), [10, float("nan")], "row 2, column 'value': nan is not in the domain"),
        (Domain.grid(10, 20, 1), [10, "x"], "row 2, column 'value': 'x' is not a number"),
        (Domain.categories(["a", "b"]), ["a", "c"], "row 2, column 'value': 'c' is not in the domain"),
    ],
)
def test_a_value_outside_the_domain_is_refused_with_its_row(domain: Domain, values: Floats, says: str) -> None:
    with pytest.raises(InputError, match=says):
        domain.encode(values)


@pytest.mark.parametrize("make", [list, np.array, pd.Series], ids=["list", "numpy", "pandas"])
def test_yes_and_no_are_answers_to_a_predicate_and_to_nothing_else(make: Any) -> None:
    words = ["yes", "NO", "y", " n", "True", "false", "t", "F", "1", "0"]
    assert Domain.binary().encode(make(words)).tolist() == [1, 0] * 5
    with pytest.raises(InputError, match="row 2, column 'value': 'maybe' is no answer to a yes-or-no question"):
        Domain.binary().encode(make(["yes", "maybe"]))
    with pytest.raises(InputError, match="row 1, column 'value': 'yes' is not a number"):
        Domain.grid(0, 1, 1).encode(make(["yes", "no"]))


def test_categories_have_no_mean() -> None:
    with pytest.raises(DomainError, match="no mean"):
        _ = Domain.categories(["a", "b"]).numbers
