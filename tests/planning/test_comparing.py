"""Mechanisms side by side: a row each, of what a census would say against what was answered."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pdqs
from pdqs.model.domain import Domain
from pdqs.planning.comparing import Comparison, names_apart, true_answer

COUNT = pdqs.Count()
AGES = Domain.grid(10, 19, 1)


def compared(rounds: int = 40) -> Comparison:
    """Owners who ask more the more they have to hide: the honest rule against one that trusts prices."""
    rng = np.random.default_rng(11)
    bids = rng.random(600)
    values = rng.random(600) < bids**3
    terms = {
        "honest": pdqs.presets.honest(query=COUNT, budget=90.0),
        "naive": pdqs.presets.gpqm_linear(query=COUNT, budget=90.0),
    }
    return pdqs.compare(terms, values, bids, rng, rounds=rounds)


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compared()


def test_the_honest_rule_covers_the_truth_and_the_naive_one_does_not(found: Comparison) -> None:
    """40 intervals at level 0.95: fewer than 32 hold the truth with probability below 1e-3; the naive rule is the
    negative control."""
    honest, naive = found.outcomes
    assert honest.coverage >= 0.8
    assert naive.coverage < 0.5
    assert naive.error > honest.error
    assert honest.most_spent <= 90.0
    assert honest.answered == 1.0


def test_a_row_is_what_trades_by_hand_give() -> None:
    rng = np.random.default_rng(2)
    values, bids = rng.random(200) < 0.4, rng.random(200)
    terms = pdqs.Terms(query=COUNT, budget=40.0)
    row = pdqs.compare([terms], values, bids, np.random.default_rng(9), rounds=3).outcomes[0]
    seeds = np.random.default_rng(9).integers(2**63, size=3)
    by_hand = [pdqs.trade(values, bids, terms, np.random.default_rng(seed)) for seed in seeds]
    errors = [abs(done.answer.value - values.sum()) for done in by_hand]
    halves = [(done.answer.interval[1] - done.answer.interval[0]) / 2 for done in by_hand]
    assert row.error == pytest.approx(np.mean(errors))
    assert row.half_width == pytest.approx(np.mean(halves))
    assert row.spent == pytest.approx(np.mean([done.payments.total for done in by_hand]))


def test_a_row_does_not_hang_on_which_others_are_listed() -> None:
    rng = np.random.default_rng(2)
    values, bids = rng.random(200) < 0.4, rng.random(200)
    first, second = (pdqs.Terms(query=COUNT, budget=budget) for budget in (20.0, 40.0))
    alone = pdqs.compare([second], values, bids, np.random.default_rng(9), rounds=2)
    both = pdqs.compare([first, second], values, bids, np.random.default_rng(9), rounds=2)
    assert [one.error for one in both.outcomes][1] == alone.outcomes[0].error


def test_the_rows_become_tables_and_text(found: Comparison) -> None:
    head = ["mechanism", "error", "half_width", "coverage", "spent", "most_spent", "answered"]
    assert list(found.to_pandas().columns) == found.to_polars().columns == found.to_arrow().column_names == head
    assert found.to_pandas().mechanism.tolist() == ["honest", "naive"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["mechanism"] == ["honest", "naive"]
    assert [line.split()[0] for line in repr(found).splitlines()[1:4]] == ["mechanism", "honest", "naive"]
    assert "<table>" in found._repr_html_()


def test_a_mechanism_that_never_answers_has_no_error() -> None:
    nothing = pdqs.Terms(query=COUNT, budget=0.0)
    row = pdqs.compare([nothing], [0, 1, 1], [0.2, 0.3, 0.4], np.random.default_rng(0), rounds=2)
    assert row.outcomes[0].answered == 0.0
    assert np.isnan(row.outcomes[0].error)
    assert row.to_dict()["error"] == [None]
    assert "nan" not in repr(row)


def test_a_histogram_is_judged_cell_by_cell() -> None:
    rng = np.random.default_rng(4)
    values = rng.choice(["a", "b", "c"], 300)
    terms = pdqs.Terms(query=pdqs.Histogram(Domain.categories(["a", "b", "c"])), budget=200.0)
    found = pdqs.compare([terms], values, rng.random(300), rng, rounds=2)
    assert isinstance(found.truth, np.ndarray)
    assert found.truth.tolist() == [(values == label).sum() for label in "abc"]
    assert 0.0 <= found.outcomes[0].coverage <= 1.0


@pytest.mark.parametrize(
    ("query", "truth"),
    [
        (pdqs.Mean(AGES), 14.0),
        (pdqs.Median(AGES), 13.0),
        (pdqs.Quantile(AGES, 0.8), 16.0),
        (pdqs.Quantile(AGES, 0.81), 17.0),
    ],
)
def test_the_truth_is_what_a_census_would_say(query: pdqs.Mean | pdqs.Quantile, truth: float) -> None:
    codes = np.array([0, 1, 2, 3, 3, 5, 6, 7, 6, 7])  # ages 10 to 17, ten owners
    assert true_answer(query, codes) == pytest.approx(truth)


def test_a_quantile_that_falls_on_an_owner_is_hers() -> None:
    assert true_answer(pdqs.Quantile(AGES, 0.07), np.repeat([0, 1], [7, 93])) == 10.0
    assert true_answer(pdqs.Quantile(AGES, 0.07), np.repeat([0, 1], [6, 94])) == 11.0


def test_terms_are_named_by_what_sets_them_apart() -> None:
    make = pdqs.presets
    one, two = make.honest(query=COUNT, budget=1.0), make.sound(query=COUNT, budget=1.0)
    assert list(names_apart([one, two, two])) == ["lottery, unbiased", "optimal, weighted", "optimal, weighted #2"]
    assert list(names_apart([one])) == ["lottery"]


@pytest.mark.parametrize(
    ("terms", "more", "says"),
    [
        ([], {}, "there is nothing to compare"),
        ([pdqs.Terms(query=COUNT, budget=1), pdqs.Terms(query=pdqs.Mean(AGES), budget=1)], {}, "count and mean"),
        ([pdqs.Terms(query=COUNT, budget=1)], {"rounds": 0}, "rounds must be at least 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(terms: list[pdqs.Terms], more: dict[str, int], says: str) -> None:
    with pytest.raises(pdqs.PdqsError, match=says):
        pdqs.compare(terms, [0, 1], [0.1, 0.2], np.random.default_rng(0), **more)


def test_terms_alone_are_refused_with_what_is_missing_and_one_mechanism_may_stand_alone() -> None:
    terms = pdqs.Terms(query=COUNT, budget=1)
    with pytest.raises(pdqs.PdqsError, match=r"pdqs.compare\(terms, values, bids, rng\)"):
        pdqs.compare(terms)
    assert len(pdqs.compare(terms, ["yes", "no"], [0.1, 0.2], np.random.default_rng(0), rounds=1).outcomes) == 1
