"""False names and dishonest reports: numbers that nobody promises to be small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.auditing.false_names import examine as examine_names
from pdqs.auditing.markets import evenly_spread
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.poisoning import examine as examine_poisoning
from pdqs.model.arrays import Floats

SOUND = pdqs.presets.sound(query=pdqs.Count(), budget=5.0)
MARKET = evenly_spread(SOUND, 50, 5.0)


def test_a_truthful_mechanism_is_not_false_name_proof_and_the_gain_is_what_two_deals_bring() -> None:
    found = examine_names(SHIPPED, SOUND, MARKET, np.array([0]), 2)
    price = MARKET.bids[0]

    def kept(bids: Floats, rows: Any) -> Any:
        offers = pdqs.clear(bids, SOUND, draws=MARKET.draws)
        eps = np.log((1 + offers.q[rows]) / (1 - offers.q[rows]))
        return float((offers.payment[rows] - price * eps).sum())

    twice = kept(np.append(MARKET.bids, price), [0, 50])
    assert found.most_micros / 1e6 >= twice - kept(MARKET.bids, [0]) - 1e-5
    assert found.most_micros > 0


def test_an_owner_too_dear_to_be_bought_gains_nothing_by_more_names() -> None:
    found = examine_names(SHIPPED, SOUND, MARKET, np.array([49]), 2)
    assert found.most_micros <= 2.0, "two payments, each rounded up"


def test_liars_move_a_weighted_count_by_what_their_weights_allow(rng: np.random.Generator) -> None:
    """A shift's relative standard deviation is sqrt((1 - q)/(1 + q)) a round and liar: .04 at q = .76 over 100 rounds,
    so that each of three figures is off by .15 in 1 run of 6,000."""
    found = examine_poisoning(SHIPPED, SOUND, MARKET, 100, rng)
    assert [each.liars for each in found] == [1, 1, 2]
    q = np.sort(pdqs.clear(MARKET.bids, SOUND).q)[::-1]
    for each in found:
        # A liar of value 0 reports 1; honestly she would have done so with chance (1 - q)/2.
        expected = 50 * (q[: each.liars] * (1 + q[: each.liars]) / 2).sum() / (q**2).sum()
        assert abs(each.shift) == pytest.approx(expected, rel=0.15)
        assert 0 < each.half_width < 50


def test_with_the_unbiased_estimate_the_least_bought_pull_the_hardest(rng: np.random.Generator) -> None:
    terms = pdqs.presets.robust(query=pdqs.Count(), budget=40.0)
    found = examine_poisoning(SHIPPED, terms, evenly_spread(terms, 50, 40.0), 20, rng)
    assert {each.attack for each in found} <= {"the least bought lie", "liars bid highest"}


def test_more_liars_move_the_answer_further(rng: np.random.Generator) -> None:
    market = evenly_spread(SOUND, 100, 10.0)
    shifts = [abs(each.shift) for each in examine_poisoning(SHIPPED, SOUND, market, 40, rng)]
    assert shifts == sorted(shifts)
    assert shifts[0] > 0
