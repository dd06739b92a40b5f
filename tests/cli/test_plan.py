"""pdqs plan: the budget for a precision, the precision of a budget, and the curve between."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from .conftest import Pdqs


def test_a_plan_for_a_precision_and_back(pdqs_command: Pdqs) -> None:
    there = pdqs_command("plan", "--owners", 500, "--half-width", 0.08, "--json").data
    assert there["half_width"] == pytest.approx(0.08, rel=1e-3)
    back = pdqs_command("plan", "--owners", 500, "--budget", there["budget"], "--json").data
    assert back["half_width"] == pytest.approx(there["half_width"], rel=1e-9)


def test_the_curve_falls_as_money_grows(pdqs_command: Pdqs) -> None:
    curve = pdqs_command("plan", "--owners", 500, "--budget", 400, "--json").data["curve"]
    assert [point["budget"] for point in curve] == sorted(point["budget"] for point in curve)
    widths = [point["half_width"] for point in curve]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


def test_the_alpha_delta_statement_is_hoeffdings(pdqs_command: Pdqs) -> None:
    data = pdqs_command("plan", "--owners", 500, "--budget", 200, "--alpha", 0.1, "--json").data
    assert data["alpha"] == 0.1
    assert data["delta"] == pytest.approx(2 * math.exp(-2 * 0.1**2 * data["information"]))
    shown = pdqs_command("plan", "--owners", 500, "--budget", 200, "--alpha", 0.1).out
    assert f"An error of 0.1 or more has a probability of at most {data['delta']:.3g}." in shown


def test_people_get_the_plan_the_curve_and_a_picture(pdqs_command: Pdqs) -> None:
    done = pdqs_command("plan", "--owners", 500, "--budget", 40, "--picture", "plan.png")
    assert "Plan: a budget of 40.00 gives" in done.out
    assert "What other budgets give" in done.out
    assert "with probability at most" in done.out
    assert Path("plan.png").read_bytes().startswith(b"\x89PNG")


def test_a_budget_of_nothing_plans_nothing(pdqs_command: Pdqs) -> None:
    done = pdqs_command("plan", "--owners", 500, "--budget", 0, "--json")
    assert done.data["half_width"] is None
    assert done.data["information"] == 0


def test_a_mean_is_planned_in_units_of_its_values(pdqs_command: Pdqs) -> None:
    words = ("plan", "--owners", 2000, "--budget", 1000, "--query", "mean", "--domain", "0:20:1")
    data = pdqs_command(*words, "--json").data
    assert data["half_width"] == pytest.approx(20 * data["share_half_width"])
    shown = pdqs_command(*words).out
    assert "in units of the values" in shown
    assert "What other terms give for the same money" in shown
    assert "a coarser grid, by 2" in shown


def test_a_guess_that_is_no_share_is_refused(pdqs_command: Pdqs) -> None:
    done = pdqs_command("plan", "--owners", 500, "--budget", 40, "--guess", "many")
    assert done.code == 2
    assert "--guess must be a share" in done.err
