"""Where bids come from. Statistical tests raise a false alarm once in a million runs of another seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pdqs.experiments import bids
from pdqs.model.errors import InputError

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(("name", "sd"), [("normal-1", 1.0), ("normal-0.25", 0.25)])
def test_normal_bids_follow_a_normal_kept_to_the_unit_interval(name: str, sd: float) -> None:
    drawn = bids.draw(name, 20_000, np.random.default_rng(1))
    law = stats.truncnorm(-0.5 / sd, 0.5 / sd, loc=0.5, scale=sd)
    assert stats.kstest(drawn, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("name", "sd"), [("squashed-1", 0.208), ("squashed-0.25", 0.0615)])
def test_squashed_normals_have_sds_that_tell_the_set_ups_apart(name: str, sd: float) -> None:
    drawn = bids.draw(name, 100_000, np.random.default_rng(1))
    assert drawn.std() == pytest.approx(sd, rel=0.02)
    assert stats.kstest(np.log(drawn / (1 - drawn)), stats.norm(0, float(name.split("-")[1])).cdf).pvalue > FALSE_ALARM


def test_the_check_on_normal_bids_would_catch_uniform_ones() -> None:
    drawn = bids.draw("uniform", 20_000, np.random.default_rng(1))
    law = stats.truncnorm(-2.0, 2.0, loc=0.5, scale=0.25)
    assert stats.kstest(drawn, law.cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize("strength", [0.0, 1.0, 4.0])
def test_correlated_bids_are_the_largest_of_one_plus_strength_uniform_draws(strength: float) -> None:
    values = np.repeat([0, 1], 10_000)
    drawn = bids.draw_correlated(values, strength, np.random.default_rng(2))
    assert stats.kstest(drawn[:10_000], "uniform").pvalue > FALSE_ALARM
    assert stats.kstest(drawn[10_000:], lambda b: np.clip(b, 0, 1) ** (1 + strength)).pvalue > FALSE_ALARM


def test_an_unknown_distribution_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="unknown distribution 'cauchy'"):
        bids.draw("cauchy", 3, np.random.default_rng(0))
