"""One cell: rounds against what a slow, separate calculation says of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import quad

from pdqs.experiments import populations
from pdqs.experiments.cells import COLUMNS, market_of, run_cell
from pdqs.experiments.released_figures import BUDGETS, RELEASED, TOLERANCE, Comparison, compare
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import Cell, full_plan


def run(cell: Cell) -> Sample:
    return Sample(run_cell(cell, full_plan(), {}))


def customers(mechanism: str, budget: float) -> Sample:
    return run(Cell("count", "customers", "count", mechanism, budget))


def results_of(mechanism: str) -> Results:
    """The five cells that released figures exist for."""
    cells = {Cell("count", "customers", "count", mechanism, budget): customers(mechanism, budget) for budget in BUDGETS}
    return Results(full_plan(), cells)


def test_markets_hold_the_figures_of_the_populations() -> None:
    for name in populations.names():
        found = populations.load(name)
        count, median = market_of(name, "count", 0.0), market_of(name, "median", 0.0)
        assert count.codes.sum() == count.truth == found.count_ones
        numbers = found.median_domain.numbers[median.codes]
        assert np.quantile(numbers, 0.5, method="inverted_cdf") == median.truth


def test_the_made_population_has_the_same_shape_on_any_number_of_values() -> None:
    for size in (2, 16, 256):
        market = market_of("bell", "median", size)
        assert market.codes.max() < size
        if size > 2:
            assert market.truth / size == pytest.approx(0.2644, abs=1 / size)  # the median of Beta(2, 5)


@pytest.mark.parametrize("mechanism", ["gpqm-linear", "fairquery", "gpqm-exp", "gpqm-log"])
def test_the_released_customers_figures_are_met(mechanism: str) -> None:
    found = compare(results_of(mechanism))
    assert len(found) == 5
    for each in found:
        assert each.agrees, f"{each.budget:g}n: released {each.low}, ours {each.ours:.2f}"


def test_the_check_on_released_figures_would_catch_a_log_rule_without_the_clip() -> None:
    released = RELEASED["gpqm-log"]
    gaps = []
    for budget, (low, high) in zip(BUDGETS, released, strict=True):
        ours = customers("gpqm-log-text", budget).mean_error
        gaps.append(
            abs(Comparison(mechanism="gpqm-log", budget=budget, low=low, high=high, ours=ours, standard_error=1.0).gap)
        )
    assert max(gaps) > TOLERANCE["gpqm-log"]


def test_gpqm_linears_mean_answer_is_what_greedy_buying_says_it_must_be() -> None:
    """The large-market limit by quadrature: bids are bought up to the x with n E[P(b); b < x] = budget."""

    def load(q: float) -> float:
        return q * np.log((1 + q) / (1 - q)) if 0 < q < 1 else 0.0

    def payment(b: float) -> float:
        return b * load(1 - b) + quad(lambda x: load(1 - x), b, 1)[0]

    grid = np.linspace(1e-6, 1 - 1e-6, 801)
    spent = np.concatenate(
        [[0.0], np.cumsum(np.diff(grid) * np.array([payment(b) for b in (grid[1:] + grid[:-1]) / 2]))]
    )
    stop = float(np.interp(0.1, spent, grid))
    mean_q = stop - stop**2 / 2
    n, ones = 2240, 21
    expected = ones * (mean_q + (1 - mean_q) / 2) + (n - ones) * (1 - mean_q) / 2
    sample = customers("gpqm-linear", 0.1)
    off = (sample["answer"].mean() - expected) / (sample["answer"].std(ddof=1) / 10)
    assert abs(off) < 5.0, "five standard errors: a false alarm in 1.7 million"


def test_a_cell_is_a_function_of_plan_and_cell_alone() -> None:
    plan = dataclasses.replace(full_plan(), experiments=tuple(
        dataclasses.replace(each, queries=3) for each in full_plan().experiments
    ))  # fmt: skip
    for mechanism in ("gpqm-exp", "sound"):
        cell = Cell("median", "exam", "median", mechanism, 0.5)
        once, again = run_cell(cell, plan, {}), run_cell(cell, plan, {})
        assert tuple(once) == COLUMNS
        assert all(np.array_equal(once[name], again[name], equal_nan=True) for name in COLUMNS)


def test_a_coefficient_is_drawn_anew_for_every_query_of_exp_and_log() -> None:
    drawn = customers("gpqm-exp", 0.5)["c"]
    assert np.unique(drawn).size == 100
    assert 0 <= drawn.min() < 1
    assert 9 < drawn.max() <= 10
    assert np.isnan(customers("fairquery", 0.5)["c"]).all()


def test_the_sound_form_keeps_its_promises_in_every_round() -> None:
    sample = run(Cell("count", "exam", "count", "sound", 0.3))
    assert (sample["paid"] <= sample["budget"]).all()
    assert np.array_equal(sample["answer"], sample["weighted"])
    assert (sample["epsilon"] <= 4.0 + 1e-9).all()
    covered = (sample["low"] <= 358) & (sample["high"] >= 358)
    assert covered.sum() >= 85, "binomial(100, 0.95): a false alarm in 10,000"


def test_on_many_values_the_papers_formula_understates_the_privacy_loss() -> None:
    two, many = (run(Cell("domain-size", "bell", "median", "gpqm-linear", size)) for size in (2, 64))
    assert np.allclose(two["epsilon"], two["epsilon_claimed"], rtol=1e-9)
    assert (many["epsilon"] > 2.0 * many["epsilon_claimed"]).all()


def test_correlation_breaks_the_weighted_estimate_but_not_the_unbiased_one() -> None:
    """Bias in standard errors of the mean of 100 rounds; at strength 0 neither may show any."""

    def bias(mechanism: str, strength: float) -> float:
        sample = run(Cell("correlated", "exam", "count", mechanism, strength))
        answers = sample["answer"]
        return float((answers.mean() - sample.truth) / (answers.std(ddof=1) / 10))

    assert abs(bias("sound", 0.0)) < 5.0
    assert bias("sound", 4.0) < -20.0
    assert abs(bias("robust", 4.0)) < 5.0


def test_a_learned_mechanism_without_a_rule_has_no_rounds() -> None:
    columns = run_cell(Cell("count", "exam", "count", "npqm", 0.5), full_plan(), {})
    assert {name: column.size for name, column in columns.items()} == dict.fromkeys(COLUMNS, 0)


def test_the_honest_lottery_covers_the_truth_where_prices_tell_of_it_and_the_sound_form_does_not() -> None:
    """100 rounds at strength 2: a right 95 % interval misses more than 15 of them about once in 10^4."""
    honest, sound = (run(Cell("correlated", "exam", "count", name, 2.0)).summary() for name in ("honest", "sound"))
    assert honest["coverage"] >= 0.85
    assert sound["coverage"] <= 0.1
    assert honest["overspent"] == 0.0


def test_a_lottery_is_drawn_anew_for_each_query() -> None:
    bought = customers("honest", 0.5)["bought"]
    assert len(set(bought.tolist())) > 1
