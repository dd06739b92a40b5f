"""Money: integers that keep promises made in floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.errors import TermsError
from pdqs.money import budget_micros, payment_micros, units


@given(st.floats(0, 1e9))
def test_a_payment_is_never_rounded_below_itself_nor_up_by_more_than_a_micro_unit_and_dust(amount):
    micros = int(payment_micros(np.array([amount]))[0])
    assert amount * 1e6 <= micros <= amount * 1e6 * (1 + 1e-14) + 1


@given(st.integers(0, 10**15))
def test_a_budget_written_in_whole_micro_units_is_read_exactly(micros):
    assert budget_micros(micros / 1e6) == micros


def test_nothing_costs_nothing():
    assert payment_micros(np.zeros(3)).tolist() == [0, 0, 0]


def test_units_are_a_millionfold():
    assert units(np.array([2_500_000])).tolist() == [2.5]


def test_a_budget_too_large_to_count_is_refused():
    with pytest.raises(TermsError, match="too large"):
        budget_micros(1e300)
