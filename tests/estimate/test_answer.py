"""Answers: intervals that cover as they say, figures kept possible, and warnings where they are due."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.arrays import Floats
from pdqs.model.errors import PdqsError
from pdqs.model.query import Query
from pdqs.present.text import Shown
from pdqs.rounds.terms import Terms

POINTS = pdqs.Domain.grid(0, 20, 1)


def coverage(
    terms: Any, owners: Any, draw: Any, truth: Any, *, rounds: Any, seed: Any, level: Any = 0.95, markets: Any = 20
) -> Any:
    """The share of rounds whose interval holds the truth among these owners."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(markets):
        offers = pdqs.clear(rng.random(owners), terms)
        for _ in range(rounds // markets):
            values = draw(rng, owners)
            low, high = pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms, level=level).interval
            held += bool(low <= truth(values) <= high)
    return held / rounds


def ones(share: float) -> Any:
    return lambda rng, owners: (rng.random(owners) < share).astype(int)


def points(rng: np.random.Generator, owners: int) -> Any:
    return rng.binomial(20, 0.3, owners)


@pytest.mark.parametrize(("budget", "share"), [(0.1, 0.3), (0.5, 0.05)])
def test_95_per_cent_intervals_cover_94_to_96_per_cent_of_ten_thousand_rounds(budget: Any, share: Any) -> None:
    """False alarms: 4.6 standard errors of 10^4 rounds is 0.01, so 5e-6."""
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget * 500)
    assert 0.94 <= coverage(terms, 500, ones(share), np.sum, rounds=10_000, seed=1) <= 0.96


def test_the_coverage_test_would_notice_intervals_a_tenth_too_short() -> None:
    """Negative control: 1.764 standard errors instead of 1.96 is a level of 92.2 %."""
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=50.0)
    assert coverage(terms, 500, ones(0.3), np.sum, rounds=4000, seed=1, level=0.9223) < 0.94


@pytest.mark.parametrize(
    ("terms", "draw", "truth"),
    [
        (pdqs.presets.robust(query=pdqs.Count(), budget=100.0), ones(0.3), np.sum),
        (pdqs.presets.sound(query=pdqs.Mean(POINTS), budget=150.0, question="value"), points, np.mean),
        (pdqs.presets.robust(query=pdqs.Mean(POINTS), budget=600.0, question="value"), points, np.mean),
        (
            pdqs.presets.sound(query=pdqs.Count(), budget=1500.0),
            ones(0.3),
            np.sum,
        ),  # much bought: the finite population counts
    ],
    ids=["unbiased count", "mean", "unbiased mean", "nearly everything bought"],
)
def test_other_intervals_cover_too(terms: Terms, draw: float, truth: float) -> None:
    """2000 rounds: 4 standard errors are 0.0195, so false alarms are 6e-5."""
    assert coverage(terms, 500, draw, truth, rounds=2000, seed=2) == pytest.approx(0.95, abs=0.0195)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.9])
def test_the_interval_of_a_quantile_covers_at_least_its_level(p: Any) -> None:
    """On a grid it can only cover more: 600 rounds at 95 % would fall below 0.915 with a chance of 1e-4."""
    terms = pdqs.presets.sound(query=pdqs.Quantile(POINTS, p), budget=150.0, question="value")

    def truth(values: Floats) -> Any:
        return np.sort(values)[int(np.ceil(p * values.size)) - 1]

    assert coverage(terms, 500, points, truth, rounds=600, seed=3, markets=6) >= 0.915


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_a_higher_level_gives_a_wider_interval(level: float, rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=100.0)
    offers = pdqs.clear(rng.random(500), terms)
    reports = pdqs.randomise(rng.random(500) < 0.3, offers, rng)
    narrow, wide = (pdqs.answer(reports, offers, terms, level=each) for each in (level, level + (1 - level) / 2))
    assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]
    assert narrow.value == wide.value


def test_with_everyone_telling_the_truth_nearly_always_every_answer_is_nearly_the_truth(
    rng: np.random.Generator,
) -> None:
    values = rng.binomial(20, 0.3, 2000)
    bids = rng.random(2000)
    rich: dict[str, Any] = {"budget": 50_000.0, "epsilon_max": 12.0, "question": "value"}

    def found(query: Any) -> Any:
        return pdqs.trade(values, bids, pdqs.presets.sound(query=query, **rich), rng).answer

    assert found(pdqs.Median(POINTS)).value == np.sort(values)[999]
    assert found(pdqs.Quantile(POINTS, 0.9)).value == pytest.approx(np.sort(values)[1799], abs=1)
    assert found(pdqs.Mean(POINTS)).value == pytest.approx(values.mean(), abs=0.1)
    assert found(pdqs.Histogram(POINTS)).value == pytest.approx(np.bincount(values, minlength=21), abs=15)


def test_the_count_is_kept_possible_and_the_raw_figure_kept_beside_it() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=3.0)
    rng = np.random.default_rng(1)
    answers = [pdqs.trade(np.zeros(100), rng.random(100), terms, rng).answer for _ in range(20)]
    assert min(found.raw for found in answers) < 0
    assert all(0 <= found.value <= 100 and 0 <= found.interval[0] <= found.interval[1] <= 100 for found in answers)
    assert all(found.value == max(found.raw, 0.0) for found in answers)


def test_a_histogram_gives_a_row_for_each_value(rng: np.random.Generator) -> None:
    colours = pdqs.Domain.categories(["red", "green", "blue"])
    values = rng.choice(["red", "green", "blue"], 600, p=[0.6, 0.3, 0.1])
    found = pdqs.trade(
        values, rng.random(600), pdqs.presets.sound(query=pdqs.Histogram(colours), budget=400.0), rng
    ).answer
    assert found.value.shape == (3,)
    assert found.interval.shape == (3, 2)
    assert (found.interval[:, 0] <= found.value).all()
    assert (found.value <= found.interval[:, 1]).all()
    assert found.value[0] > found.value[2]


def test_bids_that_tell_of_values_raise_a_warning_and_others_do_not(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=2000.0, rule="robust")
    bids = rng.random(4000)
    ill = (rng.random(4000) < np.where(bids > 0.5, 0.7, 0.1)).astype(int)
    assert any("correlated" in note for note in pdqs.trade(ill, bids, terms, rng).answer.warnings)
    well = (rng.random(4000) < 0.4).astype(int)
    assert not pdqs.trade(well, bids, terms, rng).answer.warnings


def test_too_little_bought_is_said(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=0.5)
    found = pdqs.trade(np.ones(20), rng.random(20), terms, rng).answer
    assert found.value is None
    assert any("no answer" in note for note in found.warnings)


def test_nothing_bought_gives_no_answer_not_a_crash(rng: np.random.Generator) -> None:
    for query in (pdqs.Count(), pdqs.Median(POINTS), pdqs.Mean(POINTS), pdqs.Histogram(POINTS)):
        values = np.ones(5)
        done = pdqs.trade(values, [0.5] * 5, pdqs.presets.sound(query=query, budget=0.0), rng)
        assert any("no answer" in note for note in done.answer.warnings)
        assert done.answer.value is None
        assert done.answer.interval is None
        assert done.payments.total_micros == 0


@pytest.mark.parametrize("preset", [pdqs.presets.sound, pdqs.presets.honest])
def test_where_there_is_no_figure_nobody_is_said_to_stand_for_those_who_kept_silent(
    preset: Callable[..., pdqs.Terms], rng: np.random.Generator
) -> None:
    terms = preset(query=pdqs.Count(), budget=12.0)
    offers = pdqs.clear(rng.random(40), terms)
    reports = pdqs.randomise(rng.random(40) < 0.4, offers, rng)
    two = np.isin(np.arange(40), np.flatnonzero(offers.asked)[:2])
    found = pdqs.answer(reports.only(two), offers, terms)
    assert found.value is None
    assert f"{offers.bought - 2} of {offers.bought} reports are missing" in found.warnings
    assert not any("stand for them" in note for note in found.warnings)


def test_missing_reports_are_left_out_and_said(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=300.0)
    offers = pdqs.clear(rng.random(1000), terms)
    reports = pdqs.randomise(rng.random(1000) < 0.4, offers, rng)
    some = pdqs.answer(reports.only(rng.random(1000) < 0.5), offers, terms)
    everyone = pdqs.answer(reports, offers, terms)
    assert any("reports are missing" in note for note in some.warnings)
    assert some.information < everyone.information
    assert some.interval[1] - some.interval[0] > everyone.interval[1] - everyone.interval[0]
    assert some.owners == 1000


def test_where_nobody_was_cut_by_price_the_silent_are_not_said_to_be_stood_for_by_their_price(
    rng: np.random.Generator,
) -> None:
    terms = pdqs.presets.robust(query=pdqs.Count(), budget=300.0)
    offers = pdqs.clear(np.linspace(0.05, 0.95, 200), terms)
    reports = pdqs.randomise(rng.integers(0, 2, 200), offers, rng)
    answer = pdqs.answer(reports.only(rng.random(200) < 0.7), offers, terms)
    assert any("reports are missing: the rest are taken to stand for them" in said for said in answer.warnings)


def test_the_naive_estimator_says_what_it_is(rng: np.random.Generator) -> None:
    done = pdqs.trade(np.zeros(50), rng.random(50), pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=10.0), rng)
    assert any("naive" in note for note in done.answer.warnings)


def test_reports_of_another_market_and_impossible_levels_are_refused(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=10.0)
    offers = pdqs.clear(rng.random(50), terms)
    with pytest.raises(PdqsError, match="49 reports for 50 offers"):
        pdqs.answer(pdqs.received([1] * 49, pdqs.Domain.binary()), offers, terms)
    for level in (0.0, 1.0, -2.0, float("nan")):
        with pytest.raises(PdqsError, match="level must be"):
            pdqs.answer(pdqs.received([1] * 50, pdqs.Domain.binary()), offers, terms, level=level)


@pytest.mark.parametrize("query", [pdqs.Count(), pdqs.Histogram(POINTS), pdqs.Median(POINTS)])
def test_answers_show_themselves_in_a_terminal_and_in_a_notebook(query: Query, rng: np.random.Generator) -> None:
    done = pdqs.trade(np.ones(50), rng.random(50), pdqs.presets.sound(query=query, budget=10.0), rng)
    for shown in (done, done.answer, done.offers, done.payments):
        assert len(repr(shown).splitlines()) >= 2
        assert shown._repr_html_().startswith("<div>")
    assert "0.95 interval" in repr(done.answer) or query.kind == "histogram"


def test_what_a_page_shows_cannot_be_markup() -> None:
    shown: Any = Shown()
    shown.title = lambda: "<script>"
    shown.rows = lambda: [("a & b", "<b>")]
    assert "<script>" not in shown._repr_html_()
