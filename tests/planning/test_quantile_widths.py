"""A quantile's planned width is the mean of what its interval would be, though its ends go in steps."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.estimate.readings import Estimated
from pdqs.planning.quantile_widths import value_half_width


def test_the_mean_over_many_samples_is_foretold(rng: np.random.Generator) -> None:
    """300 reports, each the value with chance .3 and else anything: what 4,000 such samples give, within a twentieth.

    Their mean is known to 1 %, the plan's paths to 1.5 %: off by more than that once in 100 seeds, and it is seeded.
    """
    numbers, p, q, reports = np.array([0.0, 1.0, 3.0, 4.0, 6.0]), 0.4, 0.3, 300
    truth, even = np.array([0.15, 0.32, 0.45, 0.8, 1.0]), np.arange(1, 6) / 5
    said = q * truth + (1 - q) * even
    errors = np.sqrt(said * (1 - said) / reports) / q
    wide = 1.96 * errors
    counts = rng.multinomial(reports, np.diff(said, prepend=0.0), size=4000)
    seen = (np.cumsum(counts, axis=1) / reports - (1 - q) * even) / q
    first = (seen + wide >= p).argmax(axis=1)
    last = np.array([max([0, *(at + 1 for at in range(4) if low[at] < p)]) for low in seen - wide])
    widths = np.abs(numbers[last] - numbers[first]) / 2.0

    def foretold(times: float) -> float:
        low, high = truth - times * wide, truth + times * wide
        found = Estimated(estimate=truth, low=low, high=high, standard_error=times * errors, reach=errors)
        return value_half_width(found, truth, said, numbers, p)

    assert foretold(1.0) == pytest.approx(widths.mean(), rel=0.05)
    assert foretold(1.2) != pytest.approx(widths.mean(), rel=0.05)  # a fifth more noise would be noticed


def test_a_little_more_money_narrows_a_median_a_little() -> None:
    """Eight typical answers whose ends are whole values had the same width for budgets 2 % apart, or a wider one."""
    terms = pdqs.presets.sound(query=pdqs.Median(pdqs.Domain.grid(0, 10, 1)), budget=1.0, question="value")
    even = [1.0] * 11
    widths = [pdqs.plan(terms, owners=500, budget=150.0 * 1.02**step, guess=even).half_width for step in range(4)]
    assert (np.diff(widths) < 0).all()
    assert widths[0] < 1.1 * widths[-1]
