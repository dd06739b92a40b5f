"""What offers promise is what answers then are, also where owners are asked in stages."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import pdqs
from pdqs.planning.asking import ranks_between
from pdqs.planning.forecasts import forecast_half_width
from pdqs.planning.promised import promised_half_width

AGES = pdqs.Domain.grid(0, 100, 1)
EVEN = np.full(101, 1 / 101)


@pytest.mark.parametrize("preset", [pdqs.presets.sound, pdqs.presets.honest])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_a_quantile_in_stages_is_promised_about_as_sharp_as_it_becomes(
    preset: Callable[..., pdqs.Terms], p: float, rng: np.random.Generator
) -> None:
    """It was promised three times as sharp and more: as a share of one half is, that all are asked about."""
    terms = preset(query=pdqs.Quantile(AGES, p=p), budget=800.0)
    assert terms.asking.stages == 4
    ratios, before = [], []
    for _ in range(6):
        found = pdqs.trade(rng.integers(0, 101, 2000), rng.random(2000), terms, rng)
        became = ranks_between(found.answer, terms, EVEN)
        ratios.append(promised_half_width(found.offers, terms) / became)
        before.append(forecast_half_width(found.offers.information_for(terms.estimator), 2000) / became)
    assert 0.65 < float(np.mean(ratios)) < 1.5
    assert float(np.mean(before)) < 0.5, "the control: what was promised"


def test_a_count_is_promised_as_it_was(rng: np.random.Generator) -> None:
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=800.0)
    found = pdqs.trade(rng.random(2000) < 0.5, rng.random(2000), terms, rng)
    as_ever = forecast_half_width(found.offers.information_for(terms.estimator), 2000)
    assert promised_half_width(found.offers, terms) == as_ever


def test_one_stage_promises_less_than_four_and_too_few_owners_nothing(rng: np.random.Generator) -> None:
    bids = rng.random(2000)
    asked = [pdqs.presets.sound(query=pdqs.Median(AGES), budget=800.0, question="side", stages=n) for n in (1, 4)]
    one, four = (promised_half_width(pdqs.clear(bids, terms), terms) for terms in asked)
    assert four < one <= 0.5
    assert promised_half_width(pdqs.clear(bids[:4], asked[1]), asked[1]) == math.inf
