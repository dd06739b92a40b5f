"""What a plan tells people, query by query."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import pdqs

SCORES = pdqs.Domain.grid(0, 10, 1)


def told(plan: pdqs.Plan) -> dict[str, str]:
    return dict(plan.rows())


def test_a_histogram_is_planned_for_each_cell_and_for_all_at_once() -> None:
    terms = pdqs.presets.sound(query=pdqs.Histogram(SCORES), budget=400.0, question="value")
    words = told(pdqs.plan(terms, owners=1000))["half-width"]
    assert "for each cell" in words
    assert words.endswith("for all at once")


def test_a_guess_of_the_values_gives_a_median_in_their_units_and_in_rank() -> None:
    terms = pdqs.presets.sound(query=pdqs.Median(SCORES), budget=400.0, question="value")
    guessed = pdqs.plan(terms, owners=1000, guess=np.full(11, 1 / 11))
    assert told(guessed)["half-width"].endswith("points of rank")
    assert told(guessed)["if values are"] == "as guessed"
    assert "points of rank" not in told(pdqs.plan(terms, owners=1000))["if values are"]


def test_a_naive_estimate_is_said_to_lean() -> None:
    terms = pdqs.presets.sound(query=pdqs.Median(SCORES), budget=400.0, question="value", estimator="naive")
    assert any("leans toward the middle" in note for note in pdqs.plan(terms, owners=1000).notes())


def test_nothing_bought_has_no_expected_error_and_only_the_money_is_shown() -> None:
    nothing = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=0.0), owners=100)
    assert math.isinf(nothing.expected_error)
    assert set(told(nothing)) == {"owners", "budget"}


def test_the_curve_leaves_as_a_table_with_its_unit_in_the_title() -> None:
    curve = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=40.0), owners=400).curve(3)
    assert list(curve.columns()) == ["budget", "half_width", "share_half_width"]
    assert "half-width" in curve.title()
    assert len(curve.rows()) == 3


def test_a_plan_that_may_go_unanswered_says_how_often() -> None:
    lean = pdqs.plan(pdqs.Terms(query=pdqs.Count(), budget=8.0), owners=60)
    if not 0 < lean.answered < 1:
        pytest.fail(f"this market was meant to be answered now and then, not in {lean.answered:.0%} of rounds")
    assert any("too little would be heard" in note for note in lean.notes())


def test_a_crowd_too_small_for_any_answer_is_said_whatever_the_budget() -> None:
    with pytest.raises(pdqs.PdqsError, match=r"no budget reaches .* with 2 owners .* too little would be heard"):
        pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=1.0), owners=2, half_width=0.1)


def test_a_plan_draws_its_own_curve() -> None:
    plan = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=40.0), owners=400)
    (axes,) = plan.figure().axes
    marked = next(line for line in axes.lines if line.get_marker() == "D")
    assert np.asarray(marked.get_xydata()) == pytest.approx(np.array([[40.0, 100 * plan.half_width]]))


def test_a_plan_its_curve_and_its_changes_tell_the_same_width() -> None:
    plan = pdqs.plan(pdqs.Terms(query=pdqs.Count(), budget=60.0), owners=300)
    assert plan.changes().rows()[0] == ("as planned", plan.unit.bare(plan.half_width))
    assert plan.curve(budgets=[60.0]).half_widths.tolist() == [plan.half_width]
    assert plan.half_width != pdqs.plan(pdqs.Terms(query=pdqs.Count(), budget=61.0), owners=300).half_width


@pytest.mark.parametrize("preset", [pdqs.presets.honest, pdqs.presets.sound])
def test_more_money_never_gives_a_wider_interval_on_a_curve(preset: Callable[..., pdqs.Terms]) -> None:
    curve = pdqs.plan(preset(query=pdqs.Count(), budget=200.0), owners=1000).curve()
    known = curve.half_widths[np.isfinite(curve.half_widths)]
    assert known.size >= 8
    assert (np.diff(known) < 0).all()
    assert [text for text, _ in curve.rows()] == [f"{float(f'{b:.1e}'):,.2f}" for b in curve.budgets]


def test_few_asked_of_very_many_are_planned_as_few_of_many() -> None:
    """A lottery that asks 150 of a million asks 150 of ten thousand million; the widths of the two differ by chance."""
    terms = pdqs.Terms(query=pdqs.Count(), budget=200.0)
    many, most = (pdqs.plan(terms, owners=owners) for owners in (10**6, 10**10))
    assert most.half_width == pytest.approx(many.half_width, rel=0.06)
    assert most.bought_share * 10**4 == pytest.approx(many.bought_share, rel=0.1)
    with pytest.raises(
        pdqs.PdqsError, match=r"at most 10,000,000,000, more than there are people, got 100,000,000,000"
    ):
        pdqs.plan(terms, owners=10**11)


def test_no_figure_of_a_plan_is_a_power_of_ten() -> None:
    pay = pdqs.Domain.grid(0, 90_000, 1_000)
    everyone = pdqs.plan(pdqs.presets.robust(query=pdqs.Mean(pay), budget=4000.0), owners=1000)
    assert everyone.bought_share > 0.995
    assert everyone.half_width >= 1000
    assert "e+" not in repr(everyone)
    assert told(everyone)["owners"].startswith("1,000 (100 % asked")
