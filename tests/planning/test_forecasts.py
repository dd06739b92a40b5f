"""Plans: what a budget buys, checked against markets that come to pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.errors import PlanError
from pdqs.planning.forecasts import forecast_half_width
from pdqs.pricing import rules

TERMS = pdqs.presets.sound(query=pdqs.Count(), budget=1000.0)


def test_the_forecast_is_what_a_real_market_then_buys(rng: np.random.Generator) -> None:
    plan = pdqs.plan(TERMS, owners=5000)
    bought = np.mean([pdqs.clear(rng.random(5000), TERMS).information for _ in range(10)])
    assert plan.information == pytest.approx(bought, rel=0.02)
    assert plan.half_width == pytest.approx(1.96 * np.sqrt(0.25 / plan.information - 0.25 / 5000), rel=0.01)


def test_the_realised_interval_is_as_wide_as_planned(rng: np.random.Generator) -> None:
    plan = pdqs.plan(TERMS, owners=5000, half_width=0.03)
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=plan.budget)
    widths = []
    for _ in range(5):
        low, high = pdqs.trade(rng.random(5000) < 0.5, rng.random(5000), terms, rng).answer.interval
        widths.append((high - low) / 2 / 5000)
    assert np.mean(widths) == pytest.approx(0.03, rel=0.02)
    assert 0.03 * 0.999 <= plan.half_width <= 0.03


def test_a_plan_checks_its_rule_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked, check = list[rules.Rule](), rules.check

    def counted(rule: rules.Rule, setting: rules.Setting) -> None:
        checked.append(rule)
        check(rule, setting)

    monkeypatch.setattr(rules, "check", counted)
    pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=1.0, bid_range=(0.0, 1.0625)), owners=50, half_width=0.2)
    assert len(checked) == 1


@pytest.mark.parametrize("half_width", [0.01, 0.02, 0.05])
def test_budget_for_a_precision_and_precision_for_a_budget_undo_each_other(half_width: float) -> None:
    plan = pdqs.plan(TERMS, owners=20_000, half_width=half_width)
    again = pdqs.plan(TERMS, owners=20_000, budget=plan.budget)
    assert again.half_width <= half_width
    assert again.half_width == pytest.approx(half_width, rel=0.01)  # one owner more or less of a typical few thousand


@pytest.mark.parametrize("preset", [pdqs.presets.gpqm_linear, pdqs.presets.sound, pdqs.presets.robust])
def test_every_mechanism_can_be_planned(preset: Any) -> None:
    plan = pdqs.plan(preset(query=pdqs.Count(), budget=300.0), owners=1000)
    assert 0 < plan.half_width < 0.2


def test_the_alpha_delta_statement_holds_in_simulation(rng: np.random.Generator) -> None:
    plan = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=100.0), owners=500)
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=100.0)
    alpha = 0.15
    errors = []
    for _ in range(10):
        offers = pdqs.clear(rng.random(500), terms)
        for _ in range(30):
            values = rng.random(500) < 0.5
            found = pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms)
            errors.append(abs(found.raw - values.sum()) / 500)
    assert np.mean(np.array(errors) >= alpha) <= plan.delta(alpha) < 0.2
    assert plan.delta(1e-6) == 1.0


@pytest.mark.parametrize("alpha", ["x", None, float("nan"), 0.0])
def test_an_alpha_that_is_no_number_above_0_is_refused(alpha: Any) -> None:
    plan = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=100.0), owners=500)
    with pytest.raises(pdqs.PdqsError, match="alpha must be"):
        plan.delta(alpha)


def test_the_curve_falls_as_the_budget_grows() -> None:
    curve = pdqs.plan(TERMS, owners=2000).curve(points=5)
    assert (np.diff(curve.half_widths) < 0).all()
    assert len(curve.to_table().splitlines()) == 6
    assert "Plan" in repr(curve.plan)


def test_offers_alone_forecast_the_half_width(rng: np.random.Generator) -> None:
    """With a lottery, without one, and with a sliver from everyone: the answer's own half-width, within a tenth."""
    for preset in (pdqs.presets.sound, pdqs.presets.honest, pdqs.presets.robust):
        terms = preset(query=pdqs.Count(), budget=800.0)
        found = pdqs.trade(rng.random(2000) < 0.5, rng.random(2000), terms, rng)
        low, high = found.answer.interval
        promised = forecast_half_width(found.offers.information_for(terms.estimator), 2000)
        assert promised == pytest.approx((high - low) / 2 / 2000, rel=0.1)
    assert forecast_half_width(0.0, 10) == np.inf


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"owners": 100, "half_width": 0.001}, "no budget reaches"),
        ({"owners": 100, "half_width": -1.0}, "half_width must be"),
        ({"owners": 1, "budget": 5.0}, "owners must be"),
        ({"owners": 2.5, "budget": 5.0}, "owners must be"),
        ({"owners": 100, "half_width": 0.1, "budget": 5.0}, "not both"),
        ({"owners": 100, "budget": -1.0}, "budget must be"),
        ({"owners": 100, "budget": 5.0, "guess": 1.5}, "guess must be a share"),
    ],
)
def test_what_cannot_be_planned_is_refused(asked: Any, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        pdqs.plan(TERMS, **asked)
