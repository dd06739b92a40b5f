"""Planning: what a budget buys before anyone has bid (section 6 of docs/theory, "Forecast and plan").

A *typical market* stands in for the one to come: its bids are evenly spaced quantiles of the prior. Clearing it with
the very same mechanism gives the information a budget buys, hence the half-width; bisection turns that round.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from pdqs.clearing import clear
from pdqs.estimate.level import z_of
from pdqs.model.arrays import Floats
from pdqs.model.checks import made, number, whole
from pdqs.model.errors import PlanError
from pdqs.present.text import Shown, table
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TYPICAL_OWNERS = 4096


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan(Shown):
    """What a budget buys from so many owners.

    ``half_width`` is of a share of the owners (0.02 is two points), at ``level``, in the worst case of a share of one
    half; for a quantile it is of the cumulative share.
    """

    terms: Terms
    owners: int
    level: float
    budget: float
    half_width: float
    information: float
    bought_share: float
    mean_epsilon: float

    @property
    def expected_error(self) -> float:
        """The worst-case standard error of a share."""
        return _half_width(self.information, 1.0)

    def delta(self, alpha: float) -> float:
        """delta with Pr[|error of the share| >= alpha] <= delta, by Hoeffding: 2 exp(-2 alpha^2 sum q^2).

        This is the paper's (alpha, delta) statement with its sides put right.
        """
        if not alpha > 0:
            raise PlanError(f"alpha must be above 0, got {alpha}")
        return min(1.0, 2.0 * math.exp(-2.0 * alpha * alpha * self.information))

    def curve(self, points: int = 12) -> PlanCurve:
        """Half-widths for budgets from a twentieth of this one to four times it."""
        budgets = self.budget * np.geomspace(0.05, 4.0, points)
        plans = [plan(self.terms, owners=self.owners, budget=float(b), level=self.level) for b in budgets]
        return PlanCurve(plan=self, budgets=budgets, half_widths=np.array([found.half_width for found in plans]))

    def figure(self) -> Figure:
        """The curve as a picture."""
        return self.curve().figure()

    def title(self) -> str:
        return f"Plan: a budget of {self.budget:,.2f} gives ± {100 * self.half_width:.3g} points"

    def rows(self) -> list[tuple[str, str]]:
        per_owner, width = self.budget / self.owners, self.half_width
        return [
            (
                "owners",
                f"{self.owners:,} ({100 * self.bought_share:.0f} % bought from, mean epsilon {self.mean_epsilon:.2f})",
            ),
            ("budget", f"{self.budget:,.2f} ({per_owner:.4g} an owner)"),
            ("half-width", f"{width:.5f} of a share at level {self.level:g}, or {width * self.owners:,.1f} owners"),
            ("for certain", f"off by {2 * width:.4f} or more with probability at most {self.delta(2 * width):.2g}"),
        ]


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanCurve(Shown):
    """Precision against budget."""

    plan: Plan
    budgets: Floats
    half_widths: Floats

    def title(self) -> str:
        return "budget and half-width (points)"

    def rows(self) -> list[tuple[str, str]]:
        return [(f"{b:,.2f}", f"± {100 * w:.3g}") for b, w in zip(self.budgets, self.half_widths, strict=True)]

    def to_table(self) -> str:
        """The curve as a plain table."""
        return table(("budget", "half-width (points)"), self.rows())

    def figure(self) -> Figure:
        """The curve as a picture, with the planned point marked."""
        from pdqs.present.figures import plan_figure

        return plan_figure(self)


def plan(
    terms: Terms,
    *,
    owners: int,
    half_width: float | None = None,
    budget: float | None = None,
    level: float = 0.95,
) -> Plan:
    """The budget for a half-width, or the half-width for a budget (that of the terms if neither is given).

    >>> import pdqs
    >>> terms = pdqs.Terms(query=pdqs.Count(), budget=1.0)
    >>> found = plan(terms, owners=10_000, half_width=0.02)
    >>> bool(abs(plan(terms, owners=10_000, budget=found.budget).half_width - 0.02) < 1e-4)
    True
    """
    made(terms, Terms, "terms", PlanError)
    if whole(owners, "owners", PlanError) < 2:
        raise PlanError(f"owners must be a whole number of at least 2, got {owners}")
    if half_width is not None and budget is not None:
        raise PlanError("give half_width= or budget=, not both")
    if half_width is not None:
        return _for_half_width(terms, int(owners), half_width, level)
    return _forecast(terms, int(owners), terms.budget if budget is None else budget, level)


def forecast_half_width(offers: Offers, level: float = 0.95) -> float:
    """The half-width that offers promise before any report arrives: z / (2 sqrt(sum q^2)), of a share."""
    return _half_width(offers.information, z_of(level))


def _half_width(information: float, z: float) -> float:
    return z / (2.0 * math.sqrt(information)) if information > 0 else math.inf


def _forecast(terms: Terms, owners: int, budget: float, level: float) -> Plan:
    size = min(owners, _TYPICAL_OWNERS)
    typical = dataclasses.replace(terms, budget=budget * size / owners)
    bids = terms.bid_prior.quantile((np.arange(size) + 0.5) / size)
    offers = clear(np.clip(bids, *terms.bid_range), typical, draws=0)  # one draw for every budget that is tried
    information = offers.information * owners / size
    bought = offers.q > 0
    return Plan(
        terms=terms,
        owners=owners,
        level=level,
        budget=budget,
        half_width=_half_width(information, z_of(level)),
        information=information,
        bought_share=float(bought.mean()),
        mean_epsilon=float(offers.epsilon[bought].mean()) if bought.any() else 0.0,
    )


def _for_half_width(terms: Terms, owners: int, half_width: float, level: float) -> Plan:
    if not 0 < number(half_width, "half_width", PlanError) < 1:
        raise PlanError(f"half_width must be a share above 0 and below 1 (0.02 is two points), got {half_width}")
    # Nobody can be paid more than the dearest bid at the cap: this buys all there is.
    best = _forecast(terms, owners, 2.0 * owners * terms.dearest_payment + 1.0, level)
    if best.half_width > half_width:
        raise PlanError(
            f"no budget reaches ± {half_width:g} with {owners:,} owners at epsilon_max {terms.epsilon_max:g}:"
            f" buying everything gives ± {best.half_width:.4g}"
        )
    low, high, found = 0.0, best.budget, best
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        tried = _forecast(terms, owners, middle, level)
        if tried.half_width <= half_width:
            high, found = middle, tried
        else:
            low = middle
    return found
