"""Columns from outside: every kind is taken, and a bad row is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pdqs
from pdqs.model.arrays import Floats
from pdqs.model.errors import InputError

TERMS = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
BIDS = [0.1, 0.5, 0.3]


@pytest.mark.parametrize(
    "column",
    [list, tuple, np.array, pd.Series, pl.Series, pa.array, lambda rows: pa.chunked_array([rows[:1], rows[1:]])],
    ids=["list", "tuple", "numpy", "pandas", "polars", "arrow", "chunked arrow"],
)
def test_a_market_clears_from_any_kind_of_column(column: Any) -> None:
    expected = pdqs.clear(BIDS, TERMS)
    offers = pdqs.clear(column(BIDS), TERMS)
    assert offers.payment_micros.tolist() == expected.payment_micros.tolist()
    done = pdqs.trade(column([1, 0, 1]), column(BIDS), TERMS, np.random.default_rng(0))
    assert len(done.reports) == 3


def test_whole_numbers_and_float32_are_bids_too() -> None:
    assert pdqs.clear([0, 1, 1], TERMS).q[0] > 0
    assert pdqs.clear(np.array(BIDS, dtype=np.float32), TERMS).bids.dtype == np.float64


@pytest.mark.parametrize(
    ("bids", "says"),
    [
        ([0.1, float("nan")], "row 2, column 'bid': nan is not a finite number"),
        ([0.1, float("inf")], "row 2, column 'bid': inf is not a finite number"),
        ([0.1, -float("inf")], "row 2, column 'bid': -inf is not a finite number"),
        ([0.1, None], "row 2, column 'bid'"),
        ([0.1, "dear"], "row 2, column 'bid': 'dear' is not a number"),
        ([0.1, 1.5], "row 2, column 'bid': 1.5 is outside the bid range 0 to 1"),
        ([0.1, 0.2, -0.1], "row 3, column 'bid': -0.1 is outside the bid range 0 to 1"),
        ([], "at least 2 owners, got 0"),
        ([0.5], "at least 2 owners, got 1"),
        ([[0.1, 0.2]], "one number per owner"),
        (0.5, "one number per owner"),
        (object(), "expected a column of numbers"),
    ],
)
@pytest.mark.parametrize("clearing", ["ladder", "greedy", "fairquery", "open"])
def test_a_bad_bid_is_refused_with_its_row_by_every_clearing(bids: Floats, says: str, clearing: str) -> None:
    with pytest.raises(InputError, match=says):
        pdqs.clear(bids, pdqs.presets.sound(query=pdqs.Count(), budget=1.0, clearing=clearing))


def test_clearing_does_not_touch_the_callers_array() -> None:
    bids = np.array([0.9, 0.1, 0.5])
    pdqs.clear(bids, TERMS)
    assert bids.tolist() == [0.9, 0.1, 0.5]


@pytest.mark.parametrize(
    ("bids", "says"),
    [
        (None, "expected one number per owner, got None"),
        (0.5, "expected one number per owner, got 0.5"),
        ("bids.csv", "expected a column of numbers, got 'bids.csv'"),
        (b"01", "expected a column of numbers, got b'01'"),
        (pd.to_datetime(pd.Series(["2024-01-31", "2024-02-01"])), "dates are not numbers"),
        (np.array([1, 2], "timedelta64[s]"), "spans of time are not numbers"),
        (np.array([0.1 + 1j, 0.2]), "complex values are not numbers"),
        (pd.Series([True, False]), "got truth values: were values and bids swapped?"),
    ],
)
def test_what_is_no_column_of_numbers_is_not_read_as_one(bids: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        pdqs.clear(bids, TERMS)
    assert says in str(refused.value)


@pytest.mark.parametrize("rng", [7, None, np.random.RandomState(1), np.random])
def test_a_round_asks_for_a_generator_by_its_name(rng: Any) -> None:
    with pytest.raises(InputError, match=r"^rng must be np.random.default_rng\(seed\) or SystemEntropy\(\), got"):
        pdqs.trade([1, 0, 1], BIDS, TERMS, rng)
