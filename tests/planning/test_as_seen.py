"""A plan's half-width is the mean one seen: the same functions made both."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import pdqs
from pdqs.model.errors import PlanError
from pdqs.model.priors import fit
from pdqs.planning.search import Tried, cheapest, polished

GRID = pdqs.Domain.grid(0, 10, 1)
MEAN, MEDIAN, HISTOGRAM = pdqs.Mean(GRID), pdqs.Median(GRID), pdqs.Histogram(GRID)


def seen(terms: pdqs.Terms, owners: int, rounds: int, seed: int) -> list[float]:
    """Half-widths of whole rounds with uniform bids and values, in the units of the plan."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(rounds):
        codes = rng.integers(0, terms.domain_size, owners)
        values = terms.domain.decode(codes)
        answer = pdqs.trade(values, rng.random(owners), terms, rng).answer
        if answer.value is not None:
            ends = np.atleast_2d(answer.interval)
            found.append(float(np.mean(ends[:, 1] - ends[:, 0])) / 2.0)
    scale = owners if terms.query.kind in ("count", "histogram") else 1
    return [width / scale for width in found]


@pytest.mark.parametrize(
    ("preset", "query", "owners", "part"),
    [
        (pdqs.presets.honest, pdqs.Count(), 100, 0.5),
        (pdqs.presets.honest, pdqs.Count(), 2000, 0.2),
        (pdqs.presets.honest, MEAN, 1000, 0.5),
        (pdqs.presets.honest, HISTOGRAM, 1000, 0.5),
        (pdqs.presets.sound, pdqs.Count(), 50, 0.5),
        (pdqs.presets.sound, HISTOGRAM, 1000, 0.3),
        (pdqs.presets.robust, pdqs.Count(), 3000, 0.5),
        (pdqs.presets.gpqm_linear, pdqs.Count(), 1000, 0.3),
    ],
)
def test_a_plan_is_within_a_twentieth_of_what_is_seen(preset: Any, query: Any, owners: int, part: float) -> None:
    """Widths vary by less than a tenth: the mean of 12 is off by 3 %, of large markets by less. Seeded."""
    terms = preset(query=query, budget=part * owners)
    widths = seen(terms, owners, 12 if owners < 2000 else 4, seed=11)
    assert pdqs.plan(terms, owners=owners).half_width == pytest.approx(np.mean(widths), rel=0.05)


def test_a_median_is_planned_in_rank_and_with_a_guess_in_values() -> None:
    terms = pdqs.presets.honest(query=MEDIAN, budget=1500.0, question="value")
    rank = pdqs.plan(terms, owners=3000)
    values = pdqs.plan(terms, owners=3000, guess=[1.0] * 11)
    assert rank.share_half_width == rank.half_width == values.share_half_width
    assert "points of rank" in repr(rank)
    assert values.half_width == pytest.approx(np.mean(seen(terms, 3000, 6, seed=5)), abs=0.3)  # the grid's step is 1
    # An even spread has eleven values to a rank of one.
    assert values.half_width == pytest.approx(11 * rank.half_width, abs=0.6)


def test_two_points_of_five_thousand_are_not_overcharged() -> None:
    """7,745 is enough at 90 %; without the finite population 13,092 was asked.

    The law of the bids is not on record: lognormal(1, 0.9) up to 25 is the one that gives both figures.
    """
    bids = np.minimum(np.exp(1.0 + 0.9 * norm.ppf((np.arange(5000) + 0.5) / 5000)), 25.0)
    prior = fit(bids, (0.0, 25.0))
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, bid_range=(0.0, 25.0), prior=prior)
    found = pdqs.plan(terms, owners=5000, half_width=0.02, level=0.9)
    assert found.budget == pytest.approx(7745, rel=0.03)
    infinite = 1.6449**2 / (4 * 0.02**2)
    assert found.information < 0.8 * infinite


def test_ten_points_of_two_hundred_are_not_overcharged() -> None:
    found = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=1.0), owners=200, half_width=0.1)
    assert found.budget / 200 == pytest.approx(0.43, abs=0.04)


def test_what_cannot_be_reached_says_what_can() -> None:
    terms = pdqs.presets.honest(query=pdqs.Count(), budget=1.0)
    with pytest.raises(PlanError, match=r"no budget reaches ± 1 points.*nearest that can be reached is ± 5") as refused:
        pdqs.plan(terms, owners=200, half_width=0.01)
    nearest = float(str(refused.value).split("± ")[2].split(" ")[0]) / 100
    assert pdqs.plan(terms, owners=200, half_width=nearest * 1.02).half_width <= nearest * 1.02


def test_a_rare_trait_costs_less_than_an_even_split() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=300.0, epsilon_max=6.0)
    assert pdqs.plan(terms, owners=2000, guess=0.02).half_width < 0.7 * pdqs.plan(terms, owners=2000).half_width


def test_changes_say_what_other_terms_give() -> None:
    plan = pdqs.plan(pdqs.presets.honest(query=MEAN, budget=600.0, question="value"), owners=1000)
    changes = {each.name.split(",")[0]: width for each, width in plan.changes().found}
    assert changes["rule optimal"] < changes["higher epsilon_max"] < plan.half_width < changes["lower epsilon_max"]
    assert changes["a coarser grid"] < plan.half_width
    sharp = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=300.0), owners=1000).changes()
    assert "rule lottery" in repr(sharp)
    assert "coarser" not in repr(sharp)


def test_more_owners_than_are_simulated_narrow_by_the_root() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    few, many = (pdqs.plan(terms, owners=n, budget=0.2 * n).half_width for n in (20_480, 2_048_000))
    assert many == pytest.approx(few / 10, rel=0.01)
    thin = pdqs.plan(terms, owners=1_000_000, budget=200.0)
    assert 0 < thin.half_width < 0.2


def test_a_budget_too_small_for_an_answer_says_so() -> None:
    plan = pdqs.plan(pdqs.presets.honest(query=pdqs.Count(), budget=0.5), owners=50)
    assert math.isinf(plan.half_width)
    assert "too little for an answer" in plan.title()


def test_a_guess_for_each_value_must_fit_the_domain() -> None:
    terms = pdqs.presets.honest(query=MEAN, budget=300.0)
    with pytest.raises(PlanError, match="a share for each of the 11 values"):
        pdqs.plan(terms, owners=500, guess=[0.5, 0.5])
    with pytest.raises(PlanError, match="below the range of the values, 10"):
        pdqs.plan(terms, owners=500, half_width=11.0)


def test_a_search_stands_steps_and_silence() -> None:
    def stairs(budget: float) -> float:
        return math.inf if budget < 3 else 1.0 / math.floor(budget)

    assert cheapest(0.11, stairs, Tried(1000.0, stairs(1000.0))).budget == pytest.approx(10, rel=1e-2)
    near = polished(0.11, stairs, 9.0, 1000.0)
    assert near is not None
    assert near.budget == pytest.approx(10, rel=1e-2)
    assert polished(0.0001, stairs, 9.0, 1000.0) is None


def test_a_plan_says_in_words_what_other_questions_would_give() -> None:
    incomes = pdqs.Mean(pdqs.Domain.grid(0, 10_000, 100))
    changes = pdqs.plan(pdqs.presets.sound(query=incomes, budget=300.0, epsilon_max=2.0), owners=600).changes()
    found = {each.name: width for each, width in changes.found}
    whole = "asking for whole values, 101 of them, instead of levels of 5,000"
    assert found[whole] > 2 * changes.plan.half_width
    assert "asking for levels of 2,500 instead of levels of 5,000" in found
