"""Planning: what a budget buys before anyone has bid, in the units of the query (section 6 of docs/theory).

Typical rounds (:mod:`pdqs.planning.typical`) are cleared and answered as real ones are; the mean half-width of their
answers is the plan's. A search turns that round: what must be paid for a half-width.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from pdqs.estimate.level import z_of
from pdqs.model.arrays import Floats
from pdqs.model.checks import made, number, whole
from pdqs.model.errors import PlanError
from pdqs.model.names import EstimatorName
from pdqs.model.query import Count, Histogram, Mean, Median, Quantile
from pdqs.planning.changes import Change, changed_terms
from pdqs.planning.guesses import Guess, shares_of
from pdqs.planning.search import Tried, WidthAt, cheapest, polished, round_budgets
from pdqs.planning.typical import Look, Over, Width, never, typical_width
from pdqs.planning.units import Unit, unit_of
from pdqs.present.frames import Cells, Framed, plain
from pdqs.present.text import Shown, in_digits, table
from pdqs.rounds.terms import Terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OWNERS = 10**10
"""More than there are people."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan(Shown, Framed):
    """What a budget buys from so many owners.

    ``half_width`` is in the units of the query: of a share of the owners for a count (0.02 is two points) and for each
    cell of a histogram, of the values for a mean; of the cumulative share (the rank) for a quantile, or with a guess
    of the values in their units. ``share_half_width`` is always of a share (for a mean, of its range).
    ``guess`` holds the share of each value that the plan is made at; ``answered`` says in how many of the typical
    rounds there was an answer at all.
    """

    terms: Terms
    owners: int
    level: float
    budget: float
    half_width: float
    share_half_width: float
    simultaneous: float
    information: float
    bought_share: float
    mean_epsilon: float
    answered: float
    guess: tuple[float, ...]
    guessed: bool

    @property
    def unit(self) -> Unit:
        """What ``half_width`` is measured in."""
        return unit_of(self.terms.query, guessed=self.guessed)

    @property
    def expected_error(self) -> float:
        """The standard error of a share of one half among owners drawn anew."""
        return 0.5 / math.sqrt(self.information) if self.information > 0 else math.inf

    def delta(self, alpha: float) -> float:
        """delta with ``Pr[|error of the share| >= alpha] <= delta``: 2 exp(-2 alpha^2 I), I the information.

        By Hoeffding's inequality. This is the paper's (alpha, delta) statement with its sides put right.
        """
        if not number(alpha, "alpha", PlanError) > 0:
            raise PlanError(f"alpha must be above 0, got {alpha}")
        return min(1.0, 2.0 * math.exp(-2.0 * alpha * alpha * self.information))

    def curve(self, points: int = 12, budgets: Sequence[float] = (), over: Over = never) -> PlanCurve:
        """Half-widths for these budgets, or for round ones from 1/20 of this one to 4 times it; ``over`` as in plan."""
        at = np.array(budgets, dtype=np.float64) if len(budgets) else round_budgets(self.budget, points)
        found = [self._again(self.terms, np.array(self.guess), float(budget), over) for budget in at]
        return PlanCurve(
            plan=self,
            budgets=at,
            half_widths=np.array([each.half_width for each in found]),
            share_half_widths=np.array([each.share_half_width for each in found]),
        )

    def changes(self) -> PlanChanges:
        """The half-width that other terms would give for the same money."""
        others = changed_terms(self.terms, np.array(self.guess))
        rows = [(each, self._again(each.terms, each.shares, self.budget)) for each in others]
        return PlanChanges(plan=self, found=tuple((each, other.half_width) for each, other in rows))

    def _again(self, terms: Terms, shares: Floats, budget: float, over: Over = never) -> Plan:
        if terms is self.terms and budget == self.budget:
            return self
        asked = _Asked(terms, shares, self.owners, self.level, self.guessed)
        return asked.plan(budget, asked.width(budget, Look.CURVE, over))

    def to_dict(self) -> dict[str, object]:
        """The plan as plain values that JSON takes, its terms and their hash among them."""
        told: dict[str, object] = {
            "terms": json.loads(self.terms.canonical()),
            "terms_hash": self.terms.hash,
            "owners": self.owners,
            "level": self.level,
            "budget": self.budget,
            "half_width": self.half_width,
            "unit": self.unit.name,
            "share_half_width": self.share_half_width,
            "simultaneous": self.simultaneous,
            "answered": self.answered,
            "information": self.information,
            "bought_share": self.bought_share,
            "mean_epsilon": self.mean_epsilon,
        }
        return {name: plain(held) for name, held in told.items()}

    def columns(self) -> dict[str, Cells]:
        """The plan's figures as a table of one row; :meth:`curve` has a row a budget."""
        return {name: [held] for name, held in self.to_dict().items() if name != "terms"}

    def figure(self) -> Figure:
        """The curve as a picture."""
        return self.curve().figure()

    def title(self) -> str:
        if math.isinf(self.half_width):
            return f"Plan: a budget of {self.budget:,.2f} is too little for an answer"
        return f"Plan: a budget of {self.budget:,.2f} gives {self.unit.shown(self.half_width)}"

    def rows(self) -> list[tuple[str, str]]:
        asked = f"{in_digits(100 * self.bought_share, 2)} % asked, mean epsilon {self.mean_epsilon:.2f}"
        rows = [
            ("owners", f"{self.owners:,} ({asked})"),
            ("budget", f"{self.budget:,.2f} ({self.budget / self.owners:.4g} an owner)"),
        ]
        if math.isinf(self.half_width):
            return rows
        return [*rows, ("half-width", self._in_words()), ("if values are", self._guess_in_words()), self._for_certain()]

    def _in_words(self) -> str:
        words = f"{self.unit.shown(self.half_width)} at level {self.level:g}"
        match self.terms.query:
            case Count():
                return f"{words}, or {self.half_width * self.owners:,.1f} owners"
            case Histogram():
                return f"{words} for each cell; {self.unit.shown(self.simultaneous)} for all at once"
            case Median() | Quantile() if self.guessed:
                return f"{words}; {100 * self.share_half_width:.3g} points of rank"
            case _:
                return words

    def _guess_in_words(self) -> str:
        if isinstance(self.terms.query, Count):
            return f"1 for {100 * self.guess[1]:.3g} % of owners"
        return "as guessed" if self.guessed else "spread evenly over the domain"

    def _for_certain(self) -> tuple[str, str]:
        width = 2 * self.share_half_width
        of = "of the range" if isinstance(self.terms.query, Mean) else "of a share"
        return "for certain", f"off by {width:.4f} {of} or more with probability at most {self.delta(width):.2g}"

    def notes(self) -> tuple[str, ...]:
        found = []
        if 0 < self.answered < 1:
            found.append(f"in {100 * (1 - self.answered):.0f} % of such rounds too little would be heard for an answer")
        if self.terms.estimator == EstimatorName.NAIVE:
            found.append("the naive estimator leans toward the middle of the domain, by more than its interval tells")
        return tuple(found)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanCurve(Shown, Framed):
    """Precision against budget."""

    plan: Plan
    budgets: Floats
    half_widths: Floats
    share_half_widths: Floats

    def columns(self) -> dict[str, Cells]:
        """A row a budget, for tables."""
        return {"budget": self.budgets, "half_width": self.half_widths, "share_half_width": self.share_half_widths}

    def title(self) -> str:
        return f"budget and half-width ({self.plan.unit.name})"

    def rows(self) -> list[tuple[str, str]]:
        unit = self.plan.unit
        return [(f"{b:,.2f}", unit.bare(w)) for b, w in zip(self.budgets, self.half_widths, strict=True)]

    def to_table(self) -> str:
        """The curve as a plain table."""
        return table(("budget", f"half-width ({self.plan.unit.name})"), self.rows())

    def figure(self) -> Figure:
        """The curve as a picture, with the planned point marked."""
        from pdqs.present.precision_chart import plan_figure

        return plan_figure(self)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanChanges(Shown):
    """What other terms would give for the same money."""

    plan: Plan
    found: tuple[tuple[Change, float], ...]

    def title(self) -> str:
        return f"The same budget under other terms (half-width, {self.plan.unit.name})"

    def rows(self) -> list[tuple[str, str]]:
        unit = self.plan.unit
        return [
            ("as planned", unit.bare(self.plan.half_width)),
            *((each.name, unit.bare(width)) for each, width in self.found),
        ]


@final
@dataclass(frozen=True, eq=False)
class _Asked:
    """All of a plan but its budget."""

    terms: Terms
    shares: Floats
    owners: int
    level: float
    guessed: bool

    def width(self, budget: float, look: Look = Look.WHOLE, over: Over = never) -> Width:
        return typical_width(self.terms, self.shares, self.owners, budget, self.level, look, over)

    def half_width(self, found: Width) -> float:
        return found.value if unit_of(self.terms.query, guessed=self.guessed).of_values else found.share

    def plan(self, budget: float, found: Width) -> Plan:
        return Plan(
            terms=self.terms,
            owners=self.owners,
            level=self.level,
            budget=budget,
            half_width=self.half_width(found),
            share_half_width=found.share,
            simultaneous=found.jointly,
            information=found.information,
            bought_share=found.bought_share,
            mean_epsilon=found.mean_epsilon,
            answered=found.answered,
            guess=tuple(self.shares.tolist()),
            guessed=self.guessed,
        )


def plan(
    terms: Terms,
    *,
    owners: int,
    half_width: float | None = None,
    budget: float | None = None,
    level: float = 0.95,
    guess: Guess | None = None,
    over: Over = never,
) -> Plan:
    """The budget for a half-width, or the half-width for a budget (that of the terms if neither is given).

    ``half_width`` is in the units of the query (:class:`Plan`). ``guess`` is the share who say 1, for a count, or the
    share of each value of the domain; left out, it is one half, or the same for all. From when ``over()`` is true, the
    half-width of a budget is read off fewer typical rounds, one at least: whoever waits for it waits no longer.

    >>> import pdqs
    >>> terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    >>> found = plan(terms, owners=10_000, half_width=0.02)
    >>> bool(abs(plan(terms, owners=10_000, budget=found.budget).half_width - 0.02) < 1e-4)
    True
    """
    made(terms, Terms, "terms", PlanError)
    if whole(owners, "owners", PlanError) < 2:
        raise PlanError(f"owners must be a whole number of at least 2, got {owners}")
    if owners > MOST_OWNERS:
        raise PlanError(f"owners must be at most {MOST_OWNERS:,}, more than there are people, got {int(owners):,}")
    if half_width is not None and budget is not None:
        raise PlanError("give half_width= or budget=, not both")
    z_of(level)
    asked = _Asked(terms, shares_of(guess, terms.query), int(owners), level, guess is not None)
    if half_width is not None:
        return _for_half_width(asked, half_width)
    money = terms.budget if budget is None else number(budget, "budget", PlanError)
    if money < 0:
        raise PlanError(f"budget must be a finite number of at least 0, got {money:g}")
    return asked.plan(money, asked.width(money, over=over))


def forecast_half_width(information: float, owners: int, level: float = 0.95) -> float:
    """The half-width that offers promise before any report arrives, of a share of one half.

    z sqrt(1/(4 I) - 1/(4 n)), I their information for the estimator: the population is finite.

    >>> round(forecast_half_width(100.0, 200), 4)
    0.0693
    """
    if not information > 0:
        return math.inf
    return z_of(level) * math.sqrt(max(0.25 / information - 0.25 / owners, 0.0))


def _for_half_width(asked: _Asked, half_width: float) -> Plan:
    unit = unit_of(asked.terms.query, guessed=asked.guessed)
    target = number(half_width, "half_width", PlanError)
    unit.refuse_beyond(target)
    # Nobody can be paid more than the dearest bid at the cap: this buys all there is.
    most = 2.0 * asked.owners * asked.terms.dearest_payment + 1.0
    seen: dict[float, Width] = {}

    def roughly(budget: float) -> float:
        return asked.half_width(asked.width(budget, Look.GLANCE))

    def exactly(budget: float) -> float:
        seen[budget] = asked.width(budget)
        return asked.half_width(seen[budget])

    top = Tried(most, roughly(most))
    start = cheapest(target, roughly, top, near=0.97).budget if top.width <= target else most
    found = polished(target, exactly, start, most)
    if found is None:
        raise PlanError(_unreachable(asked, target, exactly, Tried(most, asked.half_width(seen[most]))))
    return asked.plan(found.budget, seen[found.budget])


def _unreachable(asked: _Asked, target: float, width_at: WidthAt, top: Tried) -> str:
    unit = unit_of(asked.terms.query, guessed=asked.guessed)
    why = (
        f"no budget reaches {unit.shown(target)} with {asked.owners:,} owners at epsilon_max"
        f" {asked.terms.epsilon_max:g}"
    )
    if math.isinf(top.width):
        return f"{why}: too little would be heard for any answer"
    near = cheapest(1.01 * top.width, width_at, top, near=0.99)
    return f"{why}: the nearest that can be reached is {unit.shown(near.width)}, for {near.budget:,.2f}"
