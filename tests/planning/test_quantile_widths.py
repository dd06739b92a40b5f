"""A quantile's planned width is the mean of what its interval would be, though its ends go in steps."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.estimate.readings import Estimated
from pdqs.planning.quantile_widths import value_half_width


def test_the_mean_over_many_estimates_is_foretold(rng: np.random.Generator) -> None:
    """20,000 estimates give the mean half-width to .005, four errors of which are allowed: one alarm in 16,000."""
    numbers, p = np.array([0.0, 1.0, 3.0, 4.0, 6.0]), 0.4
    truth, errors = np.array([0.15, 0.32, 0.45, 0.8, 1.0]), np.array([0.06, 0.05, 0.08, 0.06, 0.0])
    wide = 1.96 * errors
    found = Estimated(estimate=truth, low=truth - wide, high=truth + wide, standard_error=errors, reach=errors)
    # All points of a cumulative share move together, or its ends would not come in order.
    drawn = truth + errors * rng.standard_normal((20_000, 1))
    at_least = (drawn + wide >= p)[:, :-1]
    at_most = (drawn - wide <= p)[:, :-1]
    first, last = (~at_least).sum(axis=1), at_most.sum(axis=1)
    widths = (numbers[last] - numbers[first]) / 2.0
    error = widths.std() / np.sqrt(widths.size)
    assert value_half_width(found, truth, numbers, p) == pytest.approx(widths.mean(), abs=4 * error)
    assert value_half_width(found, truth, numbers, p) != pytest.approx(widths.mean() * 1.05, abs=4 * error)


def test_a_little_more_money_narrows_a_median_a_little() -> None:
    """Eight typical answers whose ends are whole values had the same width for budgets 2 % apart, or a wider one."""
    terms = pdqs.presets.sound(query=pdqs.Median(pdqs.Domain.grid(0, 10, 1)), budget=1.0, question="value")
    even = [1.0] * 11
    widths = [pdqs.plan(terms, owners=500, budget=150.0 * 1.02**step, guess=even).half_width for step in range(4)]
    assert (np.diff(widths) < 0).all()
    assert widths[0] < 1.1 * widths[-1]
