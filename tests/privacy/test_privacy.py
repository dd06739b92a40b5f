"""eps and q: the formula, its inverse, and an outside oracle."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting import NeighboringRelation, RandomizedResponseDpEvent
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from pdqs.model.arrays import Floats
from pdqs.model.errors import TermsError
from pdqs.privacy.contracts import CONTRACTS, contract_named
from pdqs.privacy.loss import cap_q, epsilon, epsilon_slope, epsilon_upper, q_of_epsilon, round_q_down

getcontext().prec = 60
GRID = 1e-5
sizes = st.integers(2, 10_000)


def exact_epsilon(q: Fraction, k: int) -> Decimal:
    ratio = 1 + k * q / (1 - q)
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


@given(exponent=st.floats(-12, -0.31), near_one=st.booleans(), k=sizes)
def test_epsilon_is_accurate_from_1e_12_to_1_minus_1e_12(exponent: float, near_one: Any, k: int) -> None:
    q = 1 - 10.0**exponent if near_one else 10.0**exponent
    assert float(epsilon(np.array(q), k)) == pytest.approx(float(exact_epsilon(Fraction(q), k)), rel=1e-14)


@given(exponent=st.floats(-12, -0.31), near_one=st.booleans(), k=sizes)
def test_the_inverse_gives_q_back(exponent: float, near_one: Any, k: int) -> None:
    q = 1 - 10.0**exponent if near_one else 10.0**exponent
    again = float(q_of_epsilon(epsilon(np.array(q), k), k))
    assert again == pytest.approx(q, rel=1e-12)
    assert 1 - again == pytest.approx(1 - q, rel=1e-3)  # 1 - q itself is known to 1e-16 / (1 - q) only


def test_a_huge_epsilon_does_not_overflow() -> None:
    assert float(q_of_epsilon(np.array(1000.0), 2)) == 1.0


@given(numerator=st.integers(1, 2**32 - 1), k=sizes)
def test_the_epsilon_in_an_offer_is_never_below_the_true_one(numerator: int, k: int) -> None:
    q = Fraction(numerator, 2**32)
    upper = Decimal(float(epsilon_upper(np.array(float(q)), k)))
    assert exact_epsilon(q, k) <= upper <= exact_epsilon(q, k) * (1 + Decimal("3e-15"))


@pytest.mark.parametrize("k", [2, 3, 48, 101])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.9])
def test_epsilon_agrees_with_googles_accounting_of_randomised_response(q: Floats, k: int) -> None:
    accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE, value_discretization_interval=GRID)
    accountant.compose(RandomizedResponseDpEvent(noise_parameter=1 - q, num_buckets=k))
    accounted = accountant.get_epsilon(0.0)
    ours = float(epsilon(np.array(q), k))
    assert ours - 1e-12 <= accounted <= ours + 2 * GRID  # the accountant rounds up onto its grid
    if k > 2:  # the paper's binary formula is off by far more than the grid
        assert accounted > float(epsilon(np.array(q), 2)) * 1.05


@given(q=st.floats(1e-6, 0.999), k=sizes)
def test_the_slopes_of_both_loads_match_finite_differences(q: Floats, k: int) -> None:
    h = 1e-6 * min(q, 1 - q)
    for contract in CONTRACTS.values():
        difference = (contract.load(np.array(q + h), k) - contract.load(np.array(q - h), k)) / (2 * h)
        assert float(contract.slope(np.array(q), k)) == pytest.approx(float(difference), rel=1e-4)
    assert float(epsilon_slope(np.array(q), k)) > 0


@given(st.floats(0, 1, exclude_max=True))
def test_q_is_rounded_down_onto_the_lattice(q: Floats) -> None:
    rounded = float(round_q_down(np.array(q)))
    assert q - 2**-32 < rounded <= q
    assert (rounded * 2**32).is_integer()


def test_an_unknown_contract_is_refused_by_name() -> None:
    with pytest.raises(TermsError, match="unknown contract 'handshake'"):
        contract_named("handshake")


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
@pytest.mark.parametrize("k", [2, 3, 48, 10_000])
@pytest.mark.parametrize("cap", [0.01, 4.0, 14.0])
def test_no_load_is_steeper_than_it_says(contract: str, k: int, cap: float) -> None:
    q_max = cap_q(cap, k)
    q = np.concatenate([np.linspace(0.0, q_max, 2001), q_max * np.geomspace(1e-9, 1.0, 500)])
    slopes = CONTRACTS[contract].slope(q, k)
    assert slopes.max() == pytest.approx(CONTRACTS[contract].steepest(q_max, k), rel=1e-12)
