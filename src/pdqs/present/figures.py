"""Pictures: what a plan, a set of offers, a round and a demonstration look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.present.answer_figures import draw_answer, height_of
from pdqs.present.drawing import BLACK, BLUE, GREY, KINDS, ORANGE, blank, page, save, styled
from pdqs.present.text import in_digits
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pdqs.trade import Trade

__all__ = ["KINDS", "Strip", "demo_figure", "offers_figure", "save", "trade_figure"]


@styled
def offers_figure(offers: Offers, terms: Terms) -> Figure:
    """Every offer by its bid: what is asked on the left, what is paid on the right."""
    figure, (asked, money) = blank(10.0, 4.4, 2)
    _draw_offers(asked, money, offers, terms)
    return figure


@styled
def trade_figure(done: Trade) -> Figure:
    """A whole round: its answer above, the offers that it was bought with below."""
    above = height_of(done.answer)
    figure = page(10.0, above + 4.2)
    rows = figure.add_gridspec(2, 2, height_ratios=(above, 4.2))
    draw_answer(figure.add_subplot(rows[0, :]), done.answer)
    asked, money = (figure.add_subplot(rows[1, column]) for column in (0, 1))
    _draw_offers(asked, money, done.offers, done.terms)
    return figure


def _draw_offers(asked: Axes, money: Axes, offers: Offers, terms: Terms) -> None:
    """Two panels over the bids that there are: the chance that counts, and the payment."""
    from matplotlib.ticker import MaxNLocator

    paid = offers.payment_micros / MICROS_PER_UNIT
    if offers.by_lottery:
        _draw_chances(asked, offers)
    else:
        _draw_marks(asked, offers, offers.q)
        asked.set_ylabel("q, the chance that the report is true")
    _draw_marks(money, offers, paid)
    for axes in (asked, money):
        axes.set_xlim(*_span_of(offers.bids))
        axes.set_xlabel("bid (money for a unit of epsilon)")
        axes.xaxis.set_major_formatter("{x:,.10g}")
    asked.set_ylim(-0.03, 1.03)
    asked.yaxis.set_major_formatter("{x:.10g}")
    # Below the panel, where it hides nobody.
    legend = asked.legend(
        loc="upper center", bbox_to_anchor=(0.45, -0.17), ncols=3, fontsize=9.5, columnspacing=1.0, handlelength=1.2
    )
    for mark in legend.legend_handles:
        mark.set_alpha(1.0)  # type: ignore[union-attr]  # as faint as a row of many it could not be read
    asked.set_title(f"Who is asked: rule {terms.rule_name}")
    money.set_ylim(bottom=-0.03 * max(float(money.get_ylim()[1]), 1e-9))
    money.set_ylabel("payment (units of money)")
    money.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    money.yaxis.set_major_formatter("{x:,.10g}")
    money.set_title(f"What is paid: {offers.spent:,.2f} of {offers.budget_micros / MICROS_PER_UNIT:,.2f}")


def _draw_chances(axes: Axes, offers: Offers) -> None:
    """The chance of being asked, falling with the bid; those who were and were not, on top and at the bottom."""
    order = np.argsort(offers.bids, kind="stable")
    axes.plot(
        offers.bids[order],
        offers.chance[order],
        color=BLUE,
        linewidth=2.0,
        label=f"chance (q = {offers.q.max():.2f})",
    )
    marks: dict[str, Any] = {"alpha": 0.35, "linestyle": "none", "markersize": 9, "marker": "|"}
    asked = offers.asked
    axes.plot(
        offers.bids[asked], np.full(int(asked.sum()), 0.97), color=BLUE, label=f"{offers.bought:,} asked", **marks
    )
    axes.plot(
        offers.bids[~asked],
        np.zeros(int((~asked).sum())),
        color=GREY,
        label=f"{int((~asked).sum()):,} not asked",
        **marks,
    )
    axes.set_ylabel("chance of being asked")


def _draw_marks(axes: Axes, offers: Offers, heights: Floats) -> None:
    """A mark an owner: bought a blue dot, not bought a grey cross."""
    bought = offers.q > 0
    size = 14 if len(offers) <= 2000 else 4
    for those, colour, mark, word in ((bought, BLUE, "o", "bought"), (~bought, GREY, "x", "not bought")):
        label = f"{int(those.sum()):,} {word}"
        axes.scatter(offers.bids[those], heights[those], s=size, color=colour, marker=mark, label=label)


def _span_of(bids: Floats) -> tuple[float, float]:
    """An axis that fits the bids, whatever they might have been, with a little air."""
    low, high = float(bids.min()), float(bids.max())
    air = 0.03 * (high - low) or 0.05 * max(abs(high), 1.0)
    return low - air, high + air


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


@styled
def demo_figure(strips: Sequence[Strip], *, title: str, truth: float, unit: str, promises: Mapping[str, str]) -> Figure:
    """Answers against the truth on the left, whom some of the mechanisms hear on the right.

    ``promises`` says in words what a name in ``broken`` stands for; those that were broken are written below.
    """
    figure, (answers, curves) = blank(12.5, 5.6, 2, gridspec_kw={"width_ratios": (1.55, 1.0)})
    figure.suptitle(title, x=0.01, ha="left", weight="bold", size=13)
    _draw_answers(answers, strips, truth, unit)
    _draw_heard(curves, [strip for strip in strips if strip.drawn][:MOST_CURVES])
    broken = {name for strip in strips for name in strip.broken}
    if broken:
        listed = [f"{name}: {words}" for name, words in promises.items() if name in broken]
        _spell_out(curves, ["broken promises:", *listed])
    return figure


def _spell_out(axes: Axes, lines: Sequence[str]) -> None:
    """A line each below a panel."""
    axes.annotate(
        "\n".join(lines),
        (0.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -44),
        textcoords="offset points",
        va="top",
        size=9.5,
        color=ORANGE,
        annotation_clip=False,
    )


def _draw_answers(axes: Axes, strips: Sequence[Strip], truth: float, unit: str) -> None:
    """A row for each mechanism, the first on top; beside it how often it was right and what it broke."""
    axes.axvline(truth, color=BLACK, linewidth=1.6, linestyle="--", label=f"truth: {in_digits(truth)}")
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


MOST_CURVES = 4
_DASHES: tuple[object, ...] = ((0, (1, 1.2)), "--", "-", "-.")
_KEPT_MARKS, _BROKEN_MARKS = "oDPX", "s^v<"


def _draw_heard(axes: Axes, strips: Sequence[Strip]) -> None:
    """The chance to be heard by bid, a line each with its name on it, named in the order of the rows."""
    marks = {False: iter(_KEPT_MARKS), True: iter(_BROKEN_MARKS)}
    for strip, dashes in zip(strips, _DASHES, strict=False):
        order = np.argsort(strip.bids, kind="stable")
        bids, heard = strip.bids[order], strip.heard[order]
        every = max(1, bids.size // 9)
        look: dict[str, Any] = {"color": strip.look[0], "linestyle": dashes, "marker": next(marks[bool(strip.broken)])}
        axes.plot(bids, heard, linewidth=2.0, markevery=every, markersize=6, **look)
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
