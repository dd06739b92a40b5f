"""Score intervals: roots that are right, ends that cover where Wald's do not, gaps and cheats allowed for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.estimate.dishonest import interval_if_dishonest, reach_of_means, reach_of_shares
from pdqs.estimate.enough import why_no_answer
from pdqs.estimate.functionals import Shares
from pdqs.estimate.gap import shifted, widened
from pdqs.estimate.score import banded_tally, merged_bands, solve, weighted_scores
from pdqs.model.errors import EstimateError
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports


def test_the_roots_are_the_ends_of_what_a_fine_search_keeps(rng: np.random.Generator) -> None:
    grid = np.linspace(0, 1, 200_001)
    for _ in range(50):
        estimate = rng.uniform(-0.1, 1.1)
        v = (rng.uniform(0.001, 0.01), rng.uniform(-0.001, 0.02), -rng.uniform(0, 0.01))
        kept = grid[(estimate - grid) ** 2 <= 1.96**2 * (v[0] + v[1] * grid + v[2] * grid**2)]
        low, high = solve(
            np.array([estimate]), (np.array([v[0]]), np.array([v[1]]), np.array([v[2]])), np.array([1.96])
        )
        assert (low[0], high[0]) == pytest.approx((kept.min(), kept.max()), abs=6e-6)


def test_an_estimate_far_outside_still_gets_an_interval_with_a_width() -> None:
    low, high = solve(np.array([-3.0]), (np.array([0.01]), np.array([0.0]), np.array([-0.01])), np.array([1.96]))
    assert low[0] == 0.0
    assert 0.1 < high[0] < 0.3


def covered(rng: np.random.Generator, n: int, budget: float, share: float, rounds: int, ends: Any) -> Any:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget * n)
    held = 0
    for number in range(rounds):
        if number % 25 == 0:
            offers = pdqs.clear(rng.random(n), terms)
        values = (rng.random(n) < share).astype(np.int64)
        low, high = ends(pdqs.randomise(values, offers, rng), offers, terms)
        held += bool(low - 1e-9 <= values.mean() <= high + 1e-9)
    return held / rounds


def scored(reports: Reports, offers: Offers, _terms: Any) -> Any:
    found = weighted_scores(Shares(2), banded_tally(reports, offers.q), len(offers), 1.96)
    return found.low[1], found.high[1]


def wald(reports: Reports, offers: Offers, _terms: Any) -> Any:
    """The estimate and 1.96 standard errors taken at it: the negative control."""
    q, y = offers.q[reports.arrived], reports.codes[reports.arrived] - 0.5
    s2 = np.dot(q, q)
    if not s2:
        return 0.5, 0.5
    mean = np.dot(q, y) / s2
    error = np.sqrt(max(np.sum(q**2 * (0.25 - (q * mean) ** 2)) / s2**2 - (0.25 - mean**2) / len(offers), 0.0))
    return 0.5 + mean - 1.96 * error, 0.5 + mean + 1.96 * error


@pytest.mark.parametrize(("n", "budget", "share"), [(50, 0.1, 0.1), (200, 0.1, 0.1)])
def test_weighted_score_intervals_cover_small_markets(n: int, budget: float, share: float) -> None:
    """500 rounds: below .91 at a true .94 is 2.8 standard errors, so 3 false alarms in 1,000 seeds."""
    assert covered(np.random.default_rng(3), n, budget, share, 500, scored) >= 0.91


def test_walds_interval_fails_the_same_check() -> None:
    assert covered(np.random.default_rng(3), 50, 0.1, 0.1, 500, wald) < 0.91


def test_two_step_weights_are_sharper_at_rare_shares() -> None:
    """The mean squared error at share 0 is 1.3 times smaller; 300 rounds."""
    rng = np.random.default_rng(4)
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=100.0, epsilon_max=4.0)
    one_step, two_step = [], []
    offers = pdqs.clear(rng.random(500), terms)
    for _ in range(300):
        reports = pdqs.randomise(np.zeros(500), offers, rng)
        one_step.append(np.dot(offers.q, reports.codes - 0.5) / offers.information + 0.5)
        two_step.append(weighted_scores(Shares(2), banded_tally(reports, offers.q), len(offers), 1.96).estimate[1])
    assert np.mean(np.square(two_step)) < 0.95 * np.mean(np.square(one_step))


def test_bands_add_up_to_the_whole_tally(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=50.0)
    offers = pdqs.clear(rng.random(300), terms)
    reports = pdqs.randomise(rng.random(300) < 0.3, offers, rng)
    bands = banded_tally(reports, offers.q)
    assert sum(band.reports for band in bands.values()) == 300
    assert sum(band.power(2) for band in bands.values()) == pytest.approx(offers.information)


def test_bands_of_two_halves_merge_into_those_of_the_whole(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=50.0)
    offers = pdqs.clear(rng.random(300), terms)
    reports = pdqs.randomise(rng.random(300) < 0.3, offers, rng)
    half = np.arange(300) < 120
    whole = banded_tally(reports, offers.q)
    merged = merged_bands(banded_tally(reports.only(half), offers.q), banded_tally(reports.only(~half), offers.q))
    assert merged.keys() == whole.keys()
    assert all(merged[b].weights == whole[b].weights and merged[b].powers == whole[b].powers for b in whole)


def test_the_gap_widens_shares_by_its_size_and_means_by_its_part_of_the_range() -> None:
    low, high = widened(np.array([0.2]), np.array([0.4]), 0.25)
    assert (low[0], high[0]) == pytest.approx((0.15, 0.55))
    low, high = widened(np.array(20.0), np.array(40.0), 0.25, (10.0, 90.0))
    assert (float(low), float(high)) == pytest.approx((17.5, 52.5))


def test_a_gap_as_large_as_p_or_its_rest_rules_out_nothing_on_that_side() -> None:
    assert shifted(0.2, 0.3)[0] == 0.0
    assert shifted(0.8, 0.3)[1] == 1.0


@pytest.mark.parametrize("q", [0.3, 0.7616, 1.0])
def test_no_report_moves_a_share_by_more_than_its_reach(q: Any) -> None:
    for x in (0.1, 0.5, 0.9):  # the share of the domain that says 1
        made_right = [(y - (1 - q) * x) / q for y in (0, 1)]
        assert float(reach_of_shares(q, np.array([x]))[0]) == pytest.approx(
            max(abs(y - g) for y in made_right for g in (0, 1))
        )


def test_no_report_moves_a_mean_by_more_than_its_reach() -> None:
    numbers, q = np.array([2.0, 3.0, 10.0]), 0.5
    made_right = numbers.mean() + (numbers - numbers.mean()) / q
    assert reach_of_means(q, 2.0, 10.0, 5.0) == pytest.approx(max(abs(y - g) for y in made_right for g in numbers))


def test_a_share_of_cheats_outside_0_to_1_is_refused() -> None:
    with pytest.raises(EstimateError, match=r"from 0 to 1, got 1\.5"):
        interval_if_dishonest(np.array([0.2]), np.array([0.3]), 1.5, 1.0)


@pytest.mark.parametrize(
    ("reports", "information", "words"), [(0, 0.0, "no report"), (4, 9.0, "4 reports"), (9, 3.9, "3.9")]
)
def test_too_little_gives_a_reason_and_enough_gives_none(reports: Any, information: Any, words: Any) -> None:
    assert words in why_no_answer(reports, information)
    assert why_no_answer(5, 4.0) == ""
