"""Privacy, exactly and from draws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import pdqs
from pdqs.auditing.bounds import lower_bound, upper_bound
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.privacy import coin_thresholds, distinct_rows, examine, joint_law, largest_ratio
from pdqs.model.query import Query
from pdqs.rounds.offers import make_offers

QUERIES: list[Query] = [
    pdqs.Count(),
    pdqs.Median(pdqs.Domain.grid(0, 2, 1)),
    pdqs.Histogram(pdqs.Domain.grid(1, 101, 1)),
]


def offers_at(q: Any, query: Any) -> Any:
    q = np.array(q)
    return make_offers(np.full(q.size, 0.5), q, np.full(q.size, 0.25), query.question, 10**9)


def test_the_coin_is_found_to_tell_the_truth_for_exactly_the_words_below_q_times_two_to_the_32() -> None:
    q = [2.0**-32, 0.25, 1 / 3, 0.964, 1 - 2.0**-32]
    expected = [1, 2**30, 2**32 // 3, math.floor(0.964 * 2**32), 2**32 - 1]
    assert coin_thresholds(SHIPPED, offers_at(q, pdqs.Count())) == expected


@pytest.mark.parametrize("query", QUERIES, ids=["2 values", "3 values", "101 values"])
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0])
def test_the_enumerated_ratio_is_one_plus_k_q_over_one_minus_q(query: Any, eps: Any) -> None:
    k = query.question.domain.size
    offer = offers_at([math.expm1(eps) / (math.exp(eps) + k - 1)], query)
    (threshold,) = coin_thresholds(SHIPPED, offer)
    law = joint_law(SHIPPED, offer, threshold, pdqs.presets.sound(query=query, budget=1.0, question="value"))
    q = Fraction(threshold, 2**32)
    assert largest_ratio(law) == 1 + k * q / (1 - q)
    assert float(1 + k * q / (1 - q)) == pytest.approx(math.exp(eps), rel=1e-6)


def test_a_law_over_a_whole_small_domain_adds_up_to_one() -> None:
    query = QUERIES[1]
    law = joint_law(SHIPPED, offers_at([0.5], query), 2**31, pdqs.presets.sound(query=query, budget=1.0))
    assert [sum(each.values()) for each in law] == [1, 1, 1]


@pytest.mark.parametrize("query", QUERIES, ids=["2 values", "3 values", "101 values"])
def test_the_payment_on_selection_gives_the_coin_away_and_on_report_it_does_not(query: Any) -> None:
    offers = offers_at([0.2, 0.6], query)
    hidden = pdqs.presets.sound(query=query, budget=1.0, epsilon_max=6.0)
    told = pdqs.presets.sound(query=query, budget=1.0, epsilon_max=6.0, contract="on-selection")
    assert examine(SHIPPED, hidden, offers, settings=2, draws=10_000).kept
    found = examine(SHIPPED, told, offers, settings=2, draws=10_000)
    assert found.report_kept, "the report alone is private"
    assert [each.joint for each in found.exposures] == [math.inf, math.inf]
    assert not found.kept


def test_the_bounds_are_clopper_and_pearsons() -> None:
    for hits, draws in ((0, 50), (7, 50), (50, 50), (1234, 10_000)):
        for alarm in (0.05, 1e-6):
            interval = binomtest(hits, draws).proportion_ci(1 - 2 * alarm, method="exact")
            assert lower_bound(hits, draws, alarm) == pytest.approx(interval.low, rel=1e-9, abs=1e-15)
            assert upper_bound(hits, draws, alarm) == pytest.approx(interval.high, rel=1e-9)


def test_draws_prove_most_of_the_eps_that_is_there() -> None:
    # False alarm 1e-6. At eps = 2 a million draws resolve about 1 %, so nine tenths is never missed by chance.
    offer = offers_at([math.tanh(1.0)], pdqs.Count())
    found = examine(SHIPPED, pdqs.presets.sound(query=pdqs.Count(), budget=1.0), offer, settings=1, draws=1_000_000)
    assert 1.8 < found.exposures[0].drawn <= found.exposures[0].report


def test_offers_to_look_at_run_from_the_least_bought_to_the_most() -> None:
    offers = offers_at([0.0, 0.3, 0.3, 0.9, 0.5, 0.7], pdqs.Count())
    assert offers.q[distinct_rows(offers, 2)].round(3).tolist() == [0.3, 0.9]
    assert distinct_rows(offers_at([0.0, 0.0], pdqs.Count()), 3).size == 0


def test_a_market_in_which_nothing_is_bought_is_private() -> None:
    found = examine(SHIPPED, pdqs.presets.sound(query=pdqs.Count(), budget=0.0), offers_at([0.0], pdqs.Count()), 3, 100)
    assert found.kept
    assert found.worst is None


@pytest.mark.parametrize("query", [pdqs.Mean, pdqs.Median, pdqs.Histogram])
def test_smaller_questions_lose_exactly_what_is_stated(query: type[pdqs.Mean]) -> None:
    terms = pdqs.Terms(query=query(pdqs.Domain.grid(0, 40, 1)), budget=60.0)
    assert not terms.asking.whole
    found = examine(SHIPPED, terms, pdqs.clear(np.linspace(0, 1, 200), terms, draws=1), 2, 1000)
    assert found.kept
    assert all(each.report == pytest.approx(each.stated, rel=1e-6) for each in found.exposures)
