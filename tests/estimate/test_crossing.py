"""Where noisy shares come up through p: on a line where they are straight, on a bend where they are not."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.estimate.crossing import crossing_of
from pdqs.model.arrays import Floats

AT = np.arange(0.0, 61.0)
SURE = np.full(AT.size, 100.0)


def found(h: Floats, p: float, variance: float = 1e-4) -> float | None:
    return crossing_of(AT, SURE, SURE * h, np.full(AT.size, variance * 100.0**2), p)


def line_alone(h: Floats) -> float:
    slope, height = np.polyfit(AT, h, 1)
    return float(-height / slope)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_straight_rise_is_crossed_where_it_crosses(p: float) -> None:
    assert found(0.01 * (AT - 17.3), p) == pytest.approx(17.3)


def test_a_tail_is_followed_round_its_bend() -> None:
    """1 - e^(-x/12) is .9 at 27.6; a line through it says so 11 further down."""
    h = 1.0 - np.exp(-AT / 12.0) - 0.9
    assert line_alone(h) == pytest.approx(38.4, abs=0.1)
    assert found(h, 0.9) == pytest.approx(27.6, abs=3.0)


def test_the_lower_tail_is_the_mirror_of_the_upper() -> None:
    h = 1.0 - np.exp(-AT / 12.0) - 0.9
    above = found(h, 0.9)
    below = found(-h[::-1], 0.1)
    assert above is not None
    assert below == pytest.approx(AT[-1] - above)


def test_near_the_median_a_bend_must_be_seen_to_be_believed() -> None:
    """The same slight bend, at 1.2 standard errors: used at p = .9, not at p = .7, and at p = .5 however sure it is."""
    h = 0.01 * (AT - 20.0) - 3e-5 * (AT - 30.0) ** 2
    assert found(h, 0.5, 0.0) == pytest.approx(line_alone(h))
    assert found(h, 0.7, 0.003) == pytest.approx(line_alone(h))
    assert found(h, 0.5, 0.003) == pytest.approx(line_alone(h))
    assert found(h, 0.9, 0.003) != pytest.approx(line_alone(h), abs=0.05)


@pytest.mark.parametrize("h", [-0.01 * (AT - 20.0), np.zeros(AT.size)], ids=["falling", "level"])
def test_what_does_not_rise_is_not_crossed(h: Floats) -> None:
    assert found(h, 0.5) is None


def test_a_high_quantile_of_a_long_tail_is_not_pulled_down_it() -> None:
    """The mean error of 24 rounds: 4.4 values by the bend, 12.1 by the line alone, which would fail. Seeded."""
    domain = pdqs.Domain.grid(0, 90, 1)
    terms = pdqs.Terms(query=pdqs.Quantile(domain, 0.9), budget=400.0)
    off = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        values = np.minimum(np.rint(rng.exponential(12.0, 1000)), 90)
        answer = pdqs.trade(values, rng.random(1000), terms, rng).answer
        off.append(answer.value - np.sort(values)[899])
    assert abs(np.mean(off)) < 8.0
