"""Money: integers that keep promises made in floats."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.model.errors import InputError, TermsError
from pdqs.model.money import budget_micros, exact_money, money_text, parse_money, payment_micros, units


@given(st.floats(0, 1e9))
def test_a_payment_is_never_rounded_below_itself_nor_up_by_more_than_a_micro_unit_and_dust(amount: float) -> None:
    micros = int(payment_micros(np.array([amount]))[0])
    assert amount * 1e6 <= micros <= amount * 1e6 * (1 + 1e-14) + 1


@given(st.integers(0, 10**15))
def test_a_budget_written_in_whole_micro_units_is_read_exactly(micros: int) -> None:
    assert budget_micros(micros / 1e6) == micros


def test_nothing_costs_nothing() -> None:
    assert payment_micros(np.zeros(3)).tolist() == [0, 0, 0]


def test_units_are_a_millionfold() -> None:
    assert units(np.array([2_500_000])).tolist() == [2.5]


def test_a_budget_too_large_to_count_is_refused() -> None:
    with pytest.raises(TermsError, match="too large"):
        budget_micros(1e300)


@given(st.integers(1 - 10**15, 10**15 - 1))
def test_an_exact_amount_read_back_is_the_amount(micros: int) -> None:
    text = exact_money(micros)
    assert parse_money(text.removeprefix("-")) == abs(micros)
    assert text.startswith("-") == (micros < 0)


@given(st.integers(0, 10**15), st.integers(2, 6))
def test_text_with_fewer_decimals_is_off_by_half_of_its_last_digit_at_most(micros: int, decimals: int) -> None:
    shown = Decimal(money_text(micros, decimals, separator=""))
    assert abs(shown * 10**6 - micros) * 2 <= 10 ** (6 - decimals)


@pytest.mark.parametrize("text", ["", ".", "-1", "1e3", "nan", "1.2.3", "twelve", "1234567890", "\u0663", "0.1234567"])
def test_what_is_no_amount_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="price: "):
        parse_money(text, "price")
