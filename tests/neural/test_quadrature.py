"""A few weighted bids stand for thousands."""

from __future__ import annotations

import numpy as np
import pytest

from pdqs.neural.logistic import load, tail
from pdqs.neural.quadrature import gauss_rule, tail_rule


@pytest.fixture
def bids() -> np.ndarray:
    return np.random.default_rng(4).beta(0.7, 2.0, 3000)


def test_sums_of_polynomials_up_to_degree_2m_minus_1_are_exact(bids: np.ndarray) -> None:
    places, weights = gauss_rule(bids, 10)
    for degree in range(20):
        assert weights @ places**degree == pytest.approx((bids**degree).sum(), rel=1e-11, abs=1e-30)


def test_one_degree_more_is_not_exact(bids: np.ndarray) -> None:
    places, weights = gauss_rule(bids, 4)
    assert weights @ places**8 != pytest.approx((bids**8).sum(), rel=1e-9, abs=0)


@pytest.mark.parametrize("slope", [0.0, 1.0, 10.0, 30.0])
def test_forty_eight_places_give_what_all_owners_are_paid_for(bids: np.ndarray, slope: float) -> None:
    places, weights = gauss_rule(bids, 48)
    wanted = load(2.0 - slope * bids).sum()
    assert weights @ load(2.0 - slope * places) == pytest.approx(wanted, rel=1e-8, abs=0)


def test_few_distinct_bids_are_their_own_rule() -> None:
    places, weights = gauss_rule(np.array([0.25, 0.5, 0.25]), 5)
    assert weights.sum() == 3
    assert weights @ np.exp(places) == pytest.approx(2 * np.exp(0.25) + np.exp(0.5))


@pytest.mark.parametrize("slope", [0.0, 1.0, 10.0, 30.0])
def test_one_rule_gives_what_all_owners_are_paid_beyond_their_bids(bids: np.ndarray, slope: float) -> None:
    places, weights = tail_rule(bids, 48)
    wanted = tail(bids, 1.0, np.full(bids.size, slope), np.full(bids.size, 2.0)).sum()
    assert weights @ load(2.0 - slope * places) == pytest.approx(wanted, rel=1e-8, abs=0)


def test_a_rule_of_the_bids_themselves_does_not(bids: np.ndarray) -> None:
    places, weights = gauss_rule(bids, 48)
    wanted = tail(bids, 1.0, np.full(bids.size, 10.0), np.full(bids.size, 2.0)).sum()
    assert weights @ load(2.0 - 10.0 * places) != pytest.approx(wanted, rel=1e-2)
