"""The adaptive table: jumps, kinks and singular ends without special care."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.pricing.piecewise import fit_tail, fit_value, last_true


@given(jump=st.floats(1e-9, 1.0), known=st.booleans())
def test_the_tail_of_a_step_is_exact_wherever_the_jump_is(jump: Any, known: Any) -> None:
    table = fit_tail(lambda x: np.where(x < jump, 3.0, 0.0), 0.0, 1.0, breaks=(jump,) if known else ())
    x = np.array([0.0, jump / 3, jump * 0.999])
    assert table.tail(x) == pytest.approx(3.0 * (jump - x), rel=1e-9, abs=1e-15)


def test_a_logarithmic_singularity_at_the_end_is_resolved() -> None:
    table = fit_tail(lambda x: -np.log(np.maximum(x, 1e-12)), 0.0, 1.0)
    x = np.array([1e-9, 1e-3, 0.5])
    assert table.tail(x) == pytest.approx(1.0 - x + x * np.log(x), rel=1e-9)


def test_a_square_root_is_tabulated_up_to_its_singular_end() -> None:
    root = fit_value(np.sqrt, 0.0, 2.0)
    x = np.linspace(0.0, 2.0, 1001)
    assert root.value(x) == pytest.approx(np.sqrt(x), abs=1e-12)


def test_noise_that_no_table_can_follow_is_refused_not_endured() -> None:
    shaken = np.random.default_rng(1)
    with pytest.raises(ArithmeticError, match="not smooth enough"):
        fit_tail(lambda x: shaken.random(x.size), 0.0, 1.0)


@given(st.floats(0.0, 1.0))
def test_last_true_finds_the_place_to_the_last_bit(place: Any) -> None:
    found = last_true(lambda x: x <= place, 0.0, 1.0)
    assert found <= place
    assert place - found <= 4 * np.spacing(place) + 1e-18


def test_last_true_gives_the_ends_when_the_condition_never_changes() -> None:
    assert last_true(lambda x: x < 5, 0.0, 1.0) == 1.0
    assert last_true(lambda x: x < -5, 0.0, 1.0) == 0.0
