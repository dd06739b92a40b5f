"""The paper's own clearings: greedy (Algorithm 3), FairQuery (appendix), and an open curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdqs
from pdqs.model.arrays import Floats
from pdqs.privacy.loss import epsilon


def test_the_five_owner_example_of_the_theory() -> None:
    terms = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=2.3)
    honest = pdqs.clear([0.1, 0.2, 0.3, 0.4, 0.5], terms)
    assert (honest.q > 0).tolist() == [True, True, True, False, False]
    lying = pdqs.clear([0.1, 0.2, 0.3, 0.29, 0.5], terms)
    load = lying.q[3] * float(epsilon(lying.q[3:4], 2)[0])
    assert lying.payment[3] == pytest.approx(0.635, abs=1e-3)
    assert 0.4 * load == pytest.approx(0.504, abs=1e-3)
    assert lying.payment[3] - 0.4 * load == pytest.approx(0.132, abs=1e-3)


@given(bids=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30), budget=st.floats(0.0, 20.0))
def test_greedy_buys_the_longest_affordable_run_of_the_cheapest(bids: Floats, budget: float) -> None:
    terms = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=budget)
    offers = pdqs.clear(bids, terms)
    everyone = pdqs.clear(bids, pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=1e6))
    order = np.argsort(-everyone.q, kind="stable")
    spent, expected = 0, []
    for i in order:
        spent += int(everyone.payment_micros[i])
        if spent > terms.budget_micros:
            break
        expected.append(int(i))
    bought = np.flatnonzero(offers.payment_micros)
    assert set(bought) == {i for i in expected if everyone.payment_micros[i] > 0}
    assert offers.spent_micros <= terms.budget_micros


def test_greedy_linear_cannot_spend_more_than_0_409_n() -> None:
    typical = (np.arange(20_000) + 0.5) / 20_000
    spent = pdqs.clear(typical, pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20_000)).spent
    assert spent / 20_000 == pytest.approx(2 - (2 + 4 * np.log(2)) / 3, abs=1e-5)  # 0.409: the mean of 2 b l(1 - b)


def fairquery_by_the_book(bids: np.ndarray, budget: float) -> tuple[int, float, float]:
    """k, eps and the payment, as the appendix prints them, in floats."""
    ascending, n = np.sort(bids), len(bids)
    k = max((k for k in range(1, n) if ascending[k - 1] / (n - k) <= budget / k), default=0)
    return k, 1.0 / (n - k), min(budget / k, ascending[k] / (n - k)) if k else 0.0


@given(st.lists(st.integers(1, 999), min_size=2, max_size=40, unique=True), st.floats(0.01, 10.0))
def test_fairquery_is_the_appendix(thousandths: Any, budget: float) -> None:
    bids = np.array(thousandths) / 1000
    offers = pdqs.clear(bids, pdqs.presets.fairquery(query=pdqs.Count(), budget=budget))
    k, eps, payment = fairquery_by_the_book(bids, budget)
    if offers.bought != k:  # whole micro-units may cost the last owner her place, when she was in by less than one
        assert abs(np.sort(bids)[k - 1] / (bids.size - k) - budget / k) < 2e-6
        return
    assert offers.bought == k
    bought = offers.q > 0
    assert offers.epsilon[bought] == pytest.approx(np.full(k, eps), rel=1e-6)
    assert offers.payment[bought] == pytest.approx(np.full(k, payment), abs=2e-6)
    assert offers.spent <= budget
    assert (offers.payment_micros >= np.floor(bids * offers.epsilon * 1e6 * (1 - 1e-12)))[bought].all()


def test_fairquery_with_no_money_buys_nothing() -> None:
    assert pdqs.clear([0.1, 0.5], pdqs.presets.fairquery(query=pdqs.Count(), budget=0.0)).bought == 0


def test_fairquerys_epsilon_is_one_over_a_whole_number(rng: np.random.Generator) -> None:
    offers = pdqs.clear(rng.random(500), pdqs.presets.fairquery(query=pdqs.Count(), budget=250.0))
    inverse = 1 / offers.epsilon[offers.q > 0][0]
    assert inverse == pytest.approx(round(inverse), rel=1e-5)


def test_an_open_curve_buys_everyone_whatever_it_costs() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=0.5, rule=pdqs.rules.Linear(), clearing="open")
    offers = pdqs.clear([0.1, 0.2, 0.3], terms)
    assert offers.q == pytest.approx([0.9, 0.8, 0.7], abs=1e-9)
    assert offers.spent > 0.5


def test_an_open_curve_may_be_fixed_at_a_scale() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=0.5, rule="linear", clearing="open", scale=0.25)
    assert (pdqs.clear([0.1, 0.2, 0.3], terms).q > 0).tolist() == [True, True, False]


def test_a_rule_that_reads_the_market_is_shown_the_bids() -> None:
    @dataclass(frozen=True)
    class Reader:
        def q(self, bids: Floats, scale: float) -> Any:
            return np.where(bids < scale, 0.5, 0.0)

        def read(self, bids: Floats) -> Any:
            return pdqs.rules.Step(q_max=float(bids.mean()))

    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=Reader(), clearing="open")
    assert pdqs.clear([0.2, 0.6], terms).q == pytest.approx([0.4, 0.4], abs=1e-9)


def test_the_paper_prices_many_values_as_two_but_the_offer_says_the_true_epsilon() -> None:
    ages = pdqs.Domain.grid(14, 61, 1)
    median = pdqs.clear([0.1, 0.5, 0.9], pdqs.presets.gpqm_linear(query=pdqs.Median(ages), budget=9.0))
    count = pdqs.clear([0.1, 0.5, 0.9], pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=9.0))
    assert median.payment_micros.tolist() == count.payment_micros.tolist()
    assert median.epsilon == pytest.approx(epsilon(median.q, 48))
    assert (median.epsilon > count.epsilon).all()
