"""The best misreport: what the theory says must be found, is found; what it says cannot be, is not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import quad

import pdqs
from pdqs.auditing.markets import SHAPES, Market, evenly_spread, five_owners, sample
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.truthfulness import Case, chosen_owners, examine

GPQM = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20.0)
SOUND_ONES = {
    "sound": pdqs.presets.sound(query=pdqs.Count(), budget=1.0),
    "robust": pdqs.presets.robust(query=pdqs.Count(), budget=1.0),
    "linear by the ladder, on selection": pdqs.presets.sound(
        query=pdqs.Count(), budget=1.0, rule="linear", contract="on-selection"
    ),
    "step, many values, bids from 1 to 3": pdqs.presets.sound(
        query=pdqs.Median(pdqs.Domain.grid(14, 61, 1)), budget=1.0, rule="step", bid_range=(1.0, 3.0), question="value"
    ),
    "fairquery": pdqs.presets.fairquery(query=pdqs.Count(), budget=1.0),
}


def load(q: float) -> float:
    """q eps(q) with two values, written out."""
    return q * np.log((1 + q) / (1 - q))


def test_the_five_owner_example_is_found_with_the_gain_that_quadrature_gives() -> None:
    found = examine(SHIPPED, GPQM, [(five_owners(GPQM), np.arange(5))])
    assert found.worst.owner == 3
    assert found.worst.lie == pytest.approx(0.3)
    assert str(found.example) == "owner 4 of 5, true price 0.4, bids 0.29: gains 0.1315"
    payment = 0.29 * load(0.71) + quad(lambda b: load(1 - b), 0.29, 1.0)[0]
    assert found.example.gain_micros / 1e6 == pytest.approx(payment - 0.4 * load(0.71), abs=2e-6)


def test_of_two_hundred_owners_under_the_papers_stop_forty_six_gain_by_lying() -> None:
    """All of the cheaper two fifths are tried, and of the dearer, whom no lie buys in at a gain, every twentieth."""
    tried = np.r_[0:80, 80:200:20]
    found = examine(SHIPPED, GPQM, [(evenly_spread(GPQM, 200, 20.0), tried)])
    assert (found.gainers, found.owners) == (46, 86)
    assert found.worst.price == pytest.approx(0.1075)
    assert found.worst.gain_micros / 1e6 == pytest.approx(0.60, abs=0.005)
    assert found.worst_share == pytest.approx(0.60 / 0.94, abs=0.01)


@pytest.mark.parametrize("owner", [0, 2, 4])
def test_no_lie_on_a_fine_grid_beats_the_one_that_the_search_finds(owner: int) -> None:
    market = Market(name="six", bids=np.array([0.12, 0.2, 0.31, 0.32, 0.47, 0.8]), budget=2.0)
    case = Case(SHIPPED, market, owner, GPQM)
    best = case.best().gain_micros
    grid = Case(SHIPPED, market, owner, GPQM)
    assert best >= max(grid.gain(float(lie)) for lie in np.linspace(0.0, 1.0, 4001)) - 1e-6


@pytest.mark.parametrize("name", SOUND_ONES)
def test_no_misreport_under_sound_terms_gains_more_than_one_micro_unit(name: str, rng: np.random.Generator) -> None:
    terms = SOUND_ONES[name]
    tried = []
    for shape, purse in zip(SHAPES, ("starving", "poor", "tight", "fair", "slack"), strict=True):
        market = sample(terms, shape, int(rng.integers(2, 30)), purse, rng)
        tried.append((market, chosen_owners(market, 1, rng)))
    found = examine(SHIPPED, terms, tried)
    assert found.kept
    assert found.worst.gain_micros <= 1.0 + 0.01, "one micro-unit, and the rounding of q"
    assert found.misreports > 250


def test_asking_after_one_owner_gives_what_clearing_everyone_gives(rng: np.random.Generator) -> None:
    terms = dataclasses.replace(SOUND_ONES["sound"], budget=6.0)
    for n in (2, 7, 60):
        bids = rng.random(n)
        for owner in rng.choice(n, 2, replace=False):
            assert SHIPPED.deal(bids, int(owner), terms) == SHIPPED.deal_in_full(bids, int(owner), terms)


def test_the_profile_of_a_tempted_owner_peaks_at_her_lie() -> None:
    found = examine(SHIPPED, GPQM, [(five_owners(GPQM), np.arange(5))])
    profile = found.profile
    assert profile.price == 0.4
    assert profile.bids[profile.utility_micros.argmax()] == pytest.approx(found.worst.lie)
