"""Pictures of answers: a count on the scale of its population, a mean on that of its domain, a quantile on its
cumulative shares, a histogram with both kinds of intervals.

The interval is blue with a round mark, what it would be if some cheat is orange with square ends: colour, mark and
words say the same, so that one of them is enough.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pdqs.estimate.dishonest import USUAL_CHEATS
from pdqs.model.arrays import Floats
from pdqs.model.names import QueryKind
from pdqs.present.drawing import BLACK, BLUE, GREY, ORANGE, blank, styled
from pdqs.present.text import in_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pdqs.estimate.answers import Answer
    from pdqs.estimate.readings import Cdf

MOST_BARS = 40
"""Beyond this a histogram is drawn as bands: its bars could not be told apart."""

JOINT = "of all at once"
PALE = "#C9DDEA"

_HEIGHTS = {QueryKind.COUNT: 2.9, QueryKind.MEAN: 2.9}
_WIDTH = 8.4
_NAME = 28
"""How many letters of a category's name there is room for."""


@styled
def answer_figure(answer: Answer) -> Figure:
    """An answer as a picture of its own."""
    figure, (axes,) = blank(_WIDTH, height_of(answer))
    draw_answer(axes, answer)
    return figure


def height_of(answer: Answer) -> float:
    """How many inches an answer needs."""
    if answer.value is None:
        return 1.7
    if answer.query.kind == QueryKind.HISTOGRAM and _lies_down(answer):
        return 2.0 + 0.34 * len(answer.value)
    return _HEIGHTS.get(QueryKind(answer.query.kind), 4.6)


def draw_answer(axes: Axes, answer: Answer) -> None:
    """An answer in a place of its own."""
    axes.set_title(_title(answer))
    cdf = answer.cdf()
    if answer.value is None:
        _draw_silence(axes, answer)
    elif cdf is not None:
        _draw_quantile(axes, answer, cdf)
    elif answer.query.kind == QueryKind.HISTOGRAM:
        _draw_histogram(axes, answer)
    elif answer.query.kind == QueryKind.COUNT:
        _draw_ends(axes, answer, (0.0, float(answer.owners)), "owners who say yes", "{:,.0f}".format)
        _add_shares(axes, answer.owners)
    else:
        numbers = answer.query.question.domain.numbers
        _draw_ends(
            axes,
            answer,
            (float(numbers[0]), float(numbers[-1])),
            "value, on the scale of all that may be reported",
            _alike(*answer.interval, *answer.interval_if_dishonest()),
        )


def _title(answer: Answer) -> str:
    """What was asked, and below it what was answered, by how many."""
    asked = answer.query.question.text or answer.query.kind.capitalize()
    told = f"{answer.heard:,} of {answer.owners:,} owners heard"
    if answer.query.kind == QueryKind.COUNT and answer.value is not None:
        told = f"{answer.value:,.0f} of {answer.owners:,} owners ({answer.heard:,} heard)"
    elif isinstance(answer.value, float | int):
        told = f"{_figure(answer.value)} ({told})"
    return "\n".join([*textwrap.wrap(asked, _line(answer), max_lines=2, placeholder="…"), told])


def _line(answer: Answer) -> int:
    """How many letters a line of the title has room for, beside the names of rows: a tenth of an inch each."""
    named = answer.query.kind == QueryKind.HISTOGRAM and not answer.query.question.domain.ordered
    beside = max(len(_name(str(label))) for label in answer.query.question.domain.labels) if named else 12
    return int(10.0 * (_WIDTH - 0.7)) - beside


def _name(label: str) -> str:
    """A category's name, as much of it as there is room for.

    >>> _name("never"), len(_name("x" * 50))
    ('never', 28)
    """
    return label if len(label) <= _NAME else label[: _NAME - 1].rstrip() + "…"


def _figure(amount: float) -> str:
    return in_digits(amount, 4)


def _alike(*amounts: float) -> Callable[[float], str]:
    """How to write these amounts with equally many decimals: as many as the one that needs most.

    >>> figure = _alike(34.5, 30.93)
    >>> figure(34.5), figure(30.93)
    ('34.50', '30.93')
    """
    decimals = max(len(_figure(amount).partition(".")[2]) for amount in amounts)
    return f"{{:,.{decimals}f}}".format


def _level(answer: Answer) -> str:
    """How sure an interval is, in the words of a picture.

    >>> from types import SimpleNamespace
    >>> _level(SimpleNamespace(level=0.95)), _level(SimpleNamespace(level=0.999))
    ('95% interval', '99.9% interval')
    """
    return f"{100.0 * answer.level:.6g}% interval"


def _cheated() -> str:
    return f"if {USUAL_CHEATS:.0%} cheat"


def _draw_silence(axes: Axes, answer: Answer) -> None:
    said = textwrap.fill(answer.warnings[0] if answer.warnings else "no answer", 90)
    axes.text(0.5, 0.5, said, ha="center", va="center", transform=axes.transAxes, color=BLACK)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_frame_on(False)


def _draw_ends(
    axes: Axes, answer: Answer, scale: tuple[float, float], unit: str, figure: Callable[[float], str]
) -> None:
    """Both intervals as bars, one above the other, on the whole scale; the ends in figures beside them."""
    rows = (
        (1.0, answer.interval, _level(answer), BLUE, "|", 5.0),
        (0.0, answer.interval_if_dishonest(), _cheated(), ORANGE, "s", 2.2),
    )
    left, right = scale
    middle = 0.5 * (left + right)
    for height, (low, high), _, colour, mark, width in rows:
        axes.plot([low, high], [height, height], color=colour, linewidth=width, marker=mark, solid_capstyle="butt")
        said = f"{figure(low)} to {figure(high)}"
        beyond = high <= middle or left + right - low - high > 0
        axes.annotate(
            said,
            (high if beyond else low, height),
            xytext=(9 if beyond else -9, 0),
            textcoords="offset points",
            ha="left" if beyond else "right",
            va="center",
            color=colour,
        )
    axes.plot([answer.value], [1.0], color=BLUE, marker="o", markersize=11, markeredgecolor="white")
    axes.set_yticks([row[0] for row in rows], [row[2] for row in rows])
    axes.set_ylim(-0.6, 1.6)
    axes.set_xlim(left - 0.01 * (right - left), right + 0.01 * (right - left))
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel(unit)


def _add_shares(axes: Axes, owners: int) -> None:
    """The same scale as a share of the population, above."""

    def share_of(count: Any) -> Any:
        return 100.0 * count / owners

    def count_of(share: Any) -> Any:
        return share * owners / 100.0

    shares = axes.secondary_xaxis("top", functions=(share_of, count_of))
    shares.xaxis.set_major_formatter("{x:.0f}%")
    shares.tick_params(labelsize=9.5, colors="#555555")


def _draw_quantile(axes: Axes, answer: Answer, cdf: Cdf) -> None:
    """The cumulative shares with their band; where they reach p, and the window that the quantile lies in."""
    numbers, step = cdf.numbers, float(answer.query.question.domain.step)
    (low, high), cheated = answer.interval, answer.interval_if_dishonest()
    half = 0.5 * step
    said = f"{_level(answer)}: {_figure(low)} to {_figure(high)}"
    axes.axvspan(low - half, high + half, color=BLUE, alpha=0.3, linewidth=0, label=said, zorder=1)
    axes.fill_between(
        numbers, cdf.low, cdf.high, step="post", color=GREY, alpha=0.35, linewidth=0, label="each share's interval"
    )
    axes.step(numbers, cdf.share, where="post", color=BLACK, linewidth=1.8, label="share at or below")
    axes.axhline(cdf.p, color=GREY, linewidth=1.2, linestyle="--")
    axes.plot([answer.value], [cdf.p], color=BLUE, marker="o", markersize=10, markeredgecolor="white", linestyle="none")
    axes.annotate(
        _figure(answer.value),
        (answer.value, cdf.p),
        xytext=(8, -15),
        textcoords="offset points",
        color=BLUE,
        weight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )
    axes.set_ylim(-0.03 - 0.07 * (len(cdf.windows) + 1), 1.03)
    axes.set_yticks(np.linspace(0, 1, 6), [f"{share:.0%}" for share in np.linspace(0, 1, 6)])
    shown = np.array([(numbers[0], numbers[-1]), cheated, *cdf.windows])
    first, last = float(shown.min()) - step, float(shown.max()) + step
    named = max((high for _, high in cdf.windows), default=first) + 0.12 * (last - first)
    axes.set_xlim(first, max(last, named))
    _draw_stages(axes, cdf)
    below = [_lane(len(cdf.windows) + 1)] * 2
    said = f"{_cheated()}: {_figure(cheated[0])} to {_figure(cheated[1])}"
    axes.plot(cheated, below, color=ORANGE, linewidth=2.2, marker="s", markersize=5, label=said)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("value")
    axes.set_ylabel("owners at or below")
    # Beside the curve, the dashed line and the bars of stages: below them all.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9.5, columnspacing=2.0)


def _lane(row: int) -> float:
    """The height of a bar below the curve, the first row on top."""
    return -0.03 - 0.07 * (row - 0.5)


def _draw_stages(axes: Axes, cdf: Cdf) -> None:
    """A bar for each stage below the curve: the window that was left after it."""
    for stage, (low, high) in enumerate(cdf.windows, start=1):
        height = _lane(stage)
        axes.plot([low, high], [height, height], color=BLUE, linewidth=3.0, marker="|", solid_capstyle="butt")
        axes.annotate(
            f"stage {stage}",
            (high, height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            size=9.0,
            color=BLUE,
        )


def _lies_down(answer: Answer) -> bool:
    """Whether the bars of a histogram lie: the names of categories need room."""
    return not answer.query.question.domain.ordered and answer.value.size <= MOST_BARS


def _draw_histogram(axes: Axes, answer: Answer) -> None:
    """A bar a value; its own interval thick, that for all at once thin with square ends."""
    domain = answer.query.question.domain
    if _lies_down(answer):
        _draw_lying_bars(axes, answer, [str(label) for label in domain.labels])
        return
    places = domain.numbers if domain.ordered else np.arange(domain.size, dtype=np.float64)
    if answer.value.size > MOST_BARS:
        _draw_bands(axes, answer, places)
    else:
        _draw_standing_bars(axes, answer, places)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("value")
    axes.set_ylabel("owners")
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    _name_intervals(axes)


def _draw_bands(axes: Axes, answer: Answer, places: Floats) -> None:
    own, joint = answer.interval, answer.simultaneous
    axes.fill_between(
        places, own[:, 0], own[:, 1], step="mid", color=BLUE, alpha=0.3, linewidth=0, label=_own(answer), zorder=1.2
    )
    axes.fill_between(places, joint[:, 0], joint[:, 1], step="mid", color=ORANGE, alpha=0.2, linewidth=0, label=JOINT)
    axes.step(places, answer.value, where="mid", color=BLACK, linewidth=1.6)


def _draw_standing_bars(axes: Axes, answer: Answer, places: Floats) -> None:
    own, joint = answer.interval, answer.simultaneous
    width = 0.8 * float(places[1] - places[0])
    axes.bar(places, answer.value, width=width, color=PALE, edgecolor=BLUE, linewidth=0.8)
    axes.vlines(places, *own.T, color=BLUE, linewidth=4.0, label=_own(answer), zorder=2.2)
    axes.vlines(places, *joint.T, color=ORANGE, linewidth=1.4, label=JOINT)
    axes.plot(np.repeat(places, 2), joint.ravel(), linestyle="none", marker="s", markersize=3.5, color=ORANGE)


def _draw_lying_bars(axes: Axes, answer: Answer, labels: list[str]) -> None:
    rows = np.arange(answer.value.size)[::-1]
    own, joint = answer.interval, answer.simultaneous
    axes.barh(rows, answer.value, height=0.7, color=PALE, edgecolor=BLUE, linewidth=0.8)
    axes.hlines(rows, *own.T, color=BLUE, linewidth=4.0, label=_own(answer), zorder=2.2)
    axes.hlines(rows, *joint.T, color=ORANGE, linewidth=1.4, label=JOINT)
    axes.plot(joint.ravel(), np.repeat(rows, 2), linestyle="none", marker="s", markersize=3.5, color=ORANGE)
    for row, value, ends in zip(rows, answer.value, joint, strict=True):
        place = (max(float(ends[1]), float(value)), float(row))
        axes.annotate(f"{value:,.0f}", place, xytext=(8, 0), textcoords="offset points", va="center", color=BLUE)
    axes.set_yticks(rows, [_name(label) for label in labels])
    axes.set_ylim(-0.6, rows.size - 0.4)
    axes.set_xlim(0, 1.12 * max(float(joint.max()), 1.0))
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("owners")
    _name_intervals(axes)


def _name_intervals(axes: Axes) -> None:
    """The legend in one line between the title and the bars, where it hides nothing."""
    axes.set_title(axes.get_title(loc="left"), pad=24)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize=9.5, borderaxespad=0.1)


def _own(answer: Answer) -> str:
    return f"{_level(answer)} of each"
