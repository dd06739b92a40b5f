"""Pictures: what a plan, a set of offers and a demonstration look like.

matplotlib is imported when a picture is asked for, and only its object-oriented part: no global state, no display.
Colours are Okabe and Ito's, told apart by colour-blind readers too; shape and position say the same again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import MissingExtraError, PlanError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms
from pdqs.tables.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pdqs.planning.forecasts import PlanCurve

__all__ = ["KINDS", "Strip", "demo_figure", "offers_figure", "plan_figure", "save"]

KINDS = (".png", ".svg", ".pdf")

BLUE, ORANGE, GREEN, GREY, BLACK = "#0072B2", "#D55E00", "#009E73", "#8C8C8C", "#222222"

_STYLE: dict[Any, Any] = {
    "font.size": 11.0,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.hashsalt": "pdqs",
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF by the ending of its name, whole or not at all."""
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


P = ParamSpec("P")


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the style above, which matplotlib reads as each piece is made."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        try:
            import matplotlib
        except ImportError:
            raise MissingExtraError("a picture needs matplotlib, the extra 'cli': pip install 'pdqs[cli]'") from None
        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def _blank(width: float, height: float, columns: int = 1, **more: Any) -> tuple[Figure, list[Axes]]:
    """A figure with a row of axes, and a canvas that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    inches = 0.12  # of air around and between
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=inches, h_pad=inches))
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns, squeeze=False, **more)
    return figure, list(axes[0])


@_styled
def plan_figure(curve: PlanCurve) -> Figure:
    """Half-width against budget, both on logarithmic scales, the planned point marked."""
    plan = curve.plan
    known = np.isfinite(curve.half_widths) & (curve.budgets > 0)
    if not known.any():
        raise PlanError(f"a budget of {plan.budget:g} buys nothing: there is no curve to draw")
    figure, (axes,) = _blank(7.5, 4.8)
    unit, factor = plan.unit, plan.unit.factor
    widths = factor * curve.half_widths[known]
    axes.plot(curve.budgets[known], widths, color=BLUE, linewidth=2.2, marker="o", markersize=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    if math.isfinite(plan.half_width):
        axes.plot([plan.budget], [factor * plan.half_width], color=ORANGE, marker="D", markersize=10, linestyle="none")
        axes.annotate(
            f"{plan.budget:,.4g} buys {unit.shown(plan.half_width)}",
            (plan.budget, factor * plan.half_width),
            xytext=(12, 12),
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


def _plain_numbers(axis: Any) -> None:
    """1, 2, 5, 10, ... on a logarithmic axis, written out and not as powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


@_styled
def offers_figure(offers: Offers, terms: Terms) -> Figure:
    """Every offer by its bid: the chance of truth on the left, the payment on the right."""
    figure, (truth, money) = _blank(10.0, 4.4, 2)
    bought = offers.q > 0
    size = 14 if len(offers) <= 2000 else 4
    for axes, heights in ((truth, offers.q), (money, offers.payment_micros / MICROS_PER_UNIT)):
        axes.scatter(offers.bids[bought], heights[bought], s=size, color=BLUE, label=f"{offers.bought:,} bought")
        axes.scatter(
            offers.bids[~bought],
            heights[~bought],
            s=size,
            color=GREY,
            marker="x",
            label=f"{len(offers) - offers.bought:,} not bought",
        )
        axes.set_xlim(*terms.bid_range)
        axes.set_xlabel("bid (money for a unit of epsilon)")
    truth.set_ylim(-0.03, 1.03)
    truth.set_ylabel("q, the chance that the report is true")
    truth.set_title(f"What is asked: rule {terms.rule_name}")
    truth.legend(loc="upper right", markerscale=2)
    money.set_ylim(bottom=-0.03 * max(float(money.get_ylim()[1]), 1e-9))
    money.set_ylabel("payment (units of money)")
    money.set_title(f"What is paid: {offers.spent:,.4g} of {offers.budget_micros / MICROS_PER_UNIT:,.4g}")
    return figure


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strip:
    """One mechanism in the demonstration: its answers, the interval of the first, and who is heard.

    ``held`` counts the rounds whose interval held the truth, ``broken`` names the promises that were seen broken, and
    ``heard`` is the chance, at each bid, that an owner is asked and her report is her true value; it is drawn if
    ``drawn``.
    """

    name: str
    answers: Floats
    interval: tuple[float, float]
    level: float
    held: int
    broken: tuple[str, ...]
    drawn: bool
    bids: Floats
    heard: Floats

    @property
    def look(self) -> tuple[str, str]:
        """Colour and mark: blue circles kept every promise, orange squares broke one."""
        return (ORANGE, "s") if self.broken else (BLUE, "o")


@_styled
def demo_figure(strips: Sequence[Strip], *, title: str, truth: float, unit: str) -> Figure:
    """Answers against the truth on the left, whom some of the mechanisms hear on the right."""
    figure, (answers, curves) = _blank(12.5, 5.6, 2, gridspec_kw={"width_ratios": (1.55, 1.0)})
    figure.suptitle(title, x=0.01, ha="left", weight="bold", size=13)
    _draw_answers(answers, strips, truth, unit)
    _draw_heard(curves, [strip for strip in strips if strip.drawn])
    return figure


def _draw_answers(axes: Axes, strips: Sequence[Strip], truth: float, unit: str) -> None:
    """A row for each mechanism, the first on top; beside it how often it was right and what it broke."""
    axes.axvline(truth, color=BLACK, linewidth=1.6, linestyle="--", label=f"truth: {truth:,.6g}")
    for row, strip in enumerate(reversed(strips)):
        colour, mark = strip.look
        axes.plot(strip.interval, [row, row], color=colour, linewidth=2.4)
        axes.plot(strip.answers[1:], np.full(strip.answers.size - 1, row + 0.27), "|", color=colour, alpha=0.55)
        axes.plot(strip.answers[:1], [row], marker=mark, color=colour, markersize=8)
        said = f"right {strip.held} of {strip.answers.size}"
        said += f"\nbroke {' '.join(strip.broken)}" if strip.broken else "\nkept all five"
        axes.annotate(
            said,
            (1.0, row),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            size=9.0,
            color=colour,
            linespacing=1.15,
            annotation_clip=False,
        )
    axes.plot([], [], color=BLUE, marker="o", linewidth=2.4, label="kept all five promises")
    axes.plot([], [], color=ORANGE, marker="s", linewidth=2.4, label="broke one or more")
    axes.plot([], [], "|", color=GREY, label="answers of further rounds")
    axes.set_yticks(range(len(strips)), [strip.name for strip in reversed(strips)])
    axes.set_ylim(-0.6, len(strips) - 0.3)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"answer ({unit}), with its {strips[0].level:.0%} interval")
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.set_title("What is answered")
    axes.legend(loc="upper center", bbox_to_anchor=(0.42, -0.16), ncols=2)


_DASHES: tuple[object, ...] = ((0, (1, 1.2)), "--", "-", "-.")


def _draw_heard(axes: Axes, strips: Sequence[Strip]) -> None:
    """The chance to be heard by bid, a line each with its name on it, named in the order of the rows."""
    for strip, dashes in zip(strips, _DASHES, strict=False):
        order = np.argsort(strip.bids, kind="stable")
        bids, heard = strip.bids[order], strip.heard[order]
        colour, mark = strip.look
        every = max(1, bids.size // 9)
        axes.plot(
            bids, heard, color=colour, linestyle=dashes, linewidth=2.0, marker=mark, markevery=every, markersize=5
        )
    axes.set_xlim(0.0, 1.02)
    axes.set_ylim(-0.03, 1.08)
    _name_lines(axes, strips)
    axes.set_xlabel("price she asks (money for a unit of epsilon)")
    axes.set_ylabel("chance that her report is asked for and true")
    axes.set_title("Who is heard")


def _name_lines(axes: Axes, strips: Sequence[Strip]) -> None:
    """Each name above its line, where no other line is above it, or else where the next one is farthest."""
    start = max((float(strip.bids.min()) for strip in strips), default=0.0)
    grid = np.linspace(start, 0.7, 100)
    heights = np.array([_curve_at(strip, grid) for strip in strips])
    for i, strip in enumerate(strips):
        gaps = np.delete(heights, i, axis=0) - heights[i]
        room = np.where(gaps > 0, gaps, np.inf).min(axis=0, initial=np.inf)
        roomiest = np.flatnonzero(room == room.max())
        at = int(roomiest[roomiest.size // 2])
        axes.annotate(
            strip.name,
            (float(grid[at]), float(heights[i, at])),
            xytext=(4, 5),
            textcoords="offset points",
            color=strip.look[0],
            weight="bold",
        )


def _curve_at(strip: Strip, grid: Floats) -> Floats:
    order = np.argsort(strip.bids, kind="stable")
    heights: Floats = np.interp(grid, strip.bids[order], strip.heard[order])
    return heights
