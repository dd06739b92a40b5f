"""The fifth promise: an interval that says 95 times in 100 holds the truth that often, whatever prices tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.auditing import coverage, price_patterns
from pdqs.auditing.coverage import Coverage, PatternFinding, examine, holds, truth_of
from pdqs.auditing.mechanism import SHIPPED, Mechanism
from pdqs.auditing.verdicts import claims, coverage_promise

from . import broken

OWNERS, BUDGET = 200, 60.0


def found(preset: str, *, rounds: int, mechanism: Mechanism = SHIPPED, query: Any = None) -> dict[str, PatternFinding]:
    terms = getattr(pdqs.presets, preset)(query=query or pdqs.Count(), budget=BUDGET)
    result = examine(mechanism, terms, OWNERS, rounds, np.random.default_rng(11))
    return {each.pattern: each for each in result.found}


def test_honest_intervals_hold_under_every_pattern_of_prices() -> None:
    # False alarm at most 1e-6 by the bounds themselves; seeded besides.
    every = found("honest", rounds=30)
    assert set(every) == {"independent", "mild", "dearer", "threshold", "two-humped"}
    assert all(each.kept and each.answered == 30 for each in every.values())


def test_sound_intervals_hold_while_prices_say_nothing_and_fail_when_they_tell() -> None:
    """The negative control of the promise: a weighted answer from the cheap alone."""
    every = found("sound", rounds=60)
    assert every["independent"].kept
    assert not every["dearer"].kept
    assert not every["threshold"].kept
    assert every["dearer"].covered < 20


@pytest.mark.parametrize("preset", ["fairquery", "gpqm_linear"])
def test_reports_taken_at_face_value_do_not_cover_even_where_prices_say_nothing(preset: str) -> None:
    assert not found(preset, rounds=60)["independent"].kept


def test_an_interval_half_as_wide_is_caught_where_prices_say_nothing() -> None:
    # At half the width about 67 % cover: 100 of 150 is far below what 94 % allows at 2e-7, about 125.
    assert not found("sound", rounds=150, mechanism=broken.HALF_AS_WIDE)["independent"].kept


@pytest.mark.parametrize(
    "query",
    [
        pdqs.Histogram(pdqs.Domain.categories(["a", "b", "c"])),
        pdqs.Median(pdqs.Domain.grid(0, 9, 1)),
        pdqs.Mean(pdqs.Domain.grid(0, 9, 1)),
    ],
    ids=["histogram", "median", "mean"],
)
def test_other_queries_are_judged_by_their_own_truth(query: Any) -> None:
    every = found("honest", rounds=4, query=query)
    assert sum(each.answered for each in every.values()) >= 15
    assert sum(each.covered for each in every.values()) >= 13


def test_a_bound_accuses_what_is_proved_and_nothing_else() -> None:
    def kept(covered: int, answered: int) -> bool:
        return PatternFinding(pattern="mild", rounds=400, answered=answered, covered=covered, alarm=2e-7).kept

    assert kept(0, 0), "no answer, nothing wrong"
    assert kept(360, 400), "90 % of 400 may be chance"
    assert not kept(320, 400)


def test_rounds_without_an_answer_are_said_and_not_counted() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=0.01)
    silent = examine(SHIPPED, terms, 20, 3, np.random.default_rng(0))
    assert silent.kept
    assert coverage_promise(silent, claims(terms)).measured == "no answer was given, so none was wrong"
    some = PatternFinding(pattern="mild", rounds=5, answered=4, covered=4, alarm=1e-6)
    said = coverage_promise(Coverage(found=(some,), owners=20), claims(terms)).measured
    assert "1 without an answer" in said


def test_the_truth_of_each_query_is_what_its_name_says() -> None:
    codes, grid = np.array([0, 1, 1, 4]), pdqs.Domain.grid(10, 14, 1)
    assert truth_of(pdqs.Mean(grid), codes) == 11.5
    assert truth_of(pdqs.Median(grid), codes) == 11.0
    assert truth_of(pdqs.Quantile(grid, 0.9), codes) == 14.0
    assert truth_of(pdqs.Quantile(grid, 0.25), codes) == 10.0
    assert truth_of(pdqs.Histogram(grid), codes).tolist() == [1, 2, 0, 0, 1]
    assert not holds(np.array([[0, 2], [3, 4]]), np.array([1, 2]))


def test_patterns_tell_what_they_say_they_tell() -> None:
    rng = np.random.default_rng(3)
    gaps = {}
    for pattern in price_patterns.PATTERNS:
        trait, prices = price_patterns.people(pattern, 20_000, coverage.SHARES.get(pattern, coverage.SHARE), rng)
        assert ((prices >= 0) & (prices <= 1)).all()
        gaps[pattern] = prices[trait == 1].mean() - prices[trait == 0].mean()
    assert abs(gaps["independent"]) < 0.02
    assert 0.05 < gaps["mild"] < gaps["strong"]
    assert gaps["dearer"] > 0.1
    assert gaps["threshold"] == pytest.approx(0.5, abs=0.02)
    assert gaps["two-humped"] > 0.7
