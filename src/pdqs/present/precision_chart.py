"""The chart of precision against budget: what a plan's half-width costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import PlanError
from pdqs.present.drawing import BLUE, ORANGE, blank, styled
from pdqs.present.text import in_digits

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from pdqs.planning.forecasts import PlanCurve


@styled
def plan_figure(curve: PlanCurve) -> Figure:
    """Half-width against budget, both on logarithmic scales, the planned point marked."""
    plan = curve.plan
    known = np.isfinite(curve.half_widths) & (curve.budgets > 0)
    if not known.any():
        raise PlanError(f"a budget of {plan.budget:g} buys nothing: there is no curve to draw")
    figure, (axes,) = blank(7.5, 4.8)
    unit, factor = plan.unit, plan.unit.factor
    budgets, widths = curve.budgets[known], factor * curve.half_widths[known]
    axes.plot(*_through(budgets, widths, plan.budget, factor * plan.half_width), color=BLUE, linewidth=2.2)
    axes.plot(budgets, widths, color=BLUE, marker="o", markersize=4, linestyle="none")
    axes.set_xscale("log")
    axes.set_yscale("log")
    if math.isfinite(plan.half_width):
        axes.plot([plan.budget], [factor * plan.half_width], color=ORANGE, marker="D", markersize=10, linestyle="none")
        # Below a falling curve to its left, or above it to its right, where there is more room.
        left = plan.budget**2 > float(budgets[0] * budgets[-1])
        axes.annotate(
            f"{in_digits(plan.budget, 4)} buys {unit.shown(plan.half_width)}",
            (plan.budget, factor * plan.half_width),
            xytext=(-10, -18) if left else (12, 10),
            ha="right" if left else "left",
            textcoords="offset points",
            color=ORANGE,
            weight="bold",
        )
    for axis in (axes.xaxis, axes.yaxis):
        _plain_numbers(axis)
    axes.set_xlabel("budget (units of money)")
    kind = "" if unit.of_values else "percentage "
    axes.set_ylabel(f"half-width at level {plan.level:g} ({kind}{unit.name})")
    axes.set_title(f"What precision costs: {plan.owners:,} owners, rule {plan.terms.rule_name}")
    return figure


def _through(budgets: Floats, widths: Floats, budget: float, width: float) -> tuple[Floats, Floats]:
    """A curve that goes through the planned point too."""
    if not math.isfinite(width) or budget in budgets:
        return budgets, widths
    at = int(np.searchsorted(budgets, budget))
    return np.insert(budgets, at, budget), np.insert(widths, at, width)


def _plain_numbers(axis: Axis) -> None:
    """1, 2, 5, 10, ... on a logarithmic axis, written out and not as powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
