"""Charts as SVG inside the page.

They are drawn here rather than by a plotting library so that they carry classes instead of inline styles: the page's
strict policy holds, and its own style sheet colours them in light and dark. Each has a title and a description for
those who do not see it; the pages also give the figures as a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from unicodedata import east_asian_width

from pdqs.market.pages.numerals import fixed, short, whole
from pdqs.model.spelling import Mark, styled
from pdqs.owner.price import odds_in_words
from pdqs.owner.price import sureness as sure
from pdqs.present.svg import Svg, element, picture
from pdqs.protocol.forecasts import ForecastPoint

Scale = Callable[[float], float]
"""From a figure to a place on the picture."""

_WIDTH = 360.0


def precision(curve: Sequence[ForecastPoint], budget_micros: int, mark: Mark = ".") -> Svg:
    """Half-width in points against the budget on a logarithmic scale, the plan's own marked if it gives an answer."""
    known = [(p.budget_micros / 1e6, 100 * p.half_width) for p in curve if p.half_width is not None]
    if len(known) < 2:
        why = "There was no time to try other budgets." if len(curve) < 2 else "Other budgets would give no answer."
        return element("p", why, class_="empty")
    budgets, widths = zip(*known, strict=True)
    left, right, top, bottom, height = 38.0, _WIDTH - 14, 28.0, 196.0, 240.0
    across = _logarithmic(min(budgets), max(budgets), left, right)
    y_ticks = _linear_ticks(0.0, min(max(widths), 50.0) * 1.08)
    ceiling = y_ticks[-1]

    def down(width: float) -> float:
        return bottom - (bottom - top) * min(width, ceiling) / ceiling

    points = [(across(b), down(w)) for b, w in known]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marked: list[Svg] = []
    for budget, width in known:
        if round(1e6 * budget) == budget_micros:  # a plan that gives no answer has no place on the line
            marked = _here(across(budget), down(width), bottom, f"± {short(width, mark=mark)}")
    body = [
        *_y_axis(y_ticks, down, left, right, mark),
        *_x_axis(_log_ticks(min(budgets), max(budgets)), across, bottom, mark),
        element(
            "polygon", class_="area", points=f"{points[0][0]:.1f},{bottom:g} {line} {points[-1][0]:.1f},{bottom:g}"
        ),
        element("polyline", class_="line", points=line),
        *marked,
        _label(left - 6, 12, "± points", "start"),
        _label(0.5 * (left + right), height - 8, "budget", "middle"),
    ]
    ends = [(short(widths[end], mark=mark), fixed(budgets[end], 2, mark)) for end in (0, -1)]
    text = f"From ± {ends[0][0]} points at a budget of {ends[0][1]} to ± {ends[1][0]} at {ends[1][1]}."
    return _chart("precision", height, "Precision against budget", text, body)


def _here(x: float, y: float, bottom: float, words: str) -> list[Svg]:
    """A place on a line, with what it stands for."""
    return [
        element("line", class_="guide", x1=x, y1=y, x2=x, y2=bottom),
        element("circle", class_="dot", cx=x, cy=y, r=6),
        element("text", words, class_="strong", x=x + 10, y=y - 8),
    ]


def interval(
    value: float,
    low: float,
    high: float,
    least: float,
    most: float,
    wide: Sequence[float] | None = None,
    mark: Mark = ".",
) -> Svg:
    """A figure and its interval on the scale of what is possible; ``wide`` is the one that allows for cheats."""
    left, right, line, height = 14.0, _WIDTH - 14, 34.0, 72.0
    room = 0.1 * (most - least)
    inner = [tick for tick in _linear_ticks(least, most, about=4) if least + room < tick < most - room]

    def across(x: float) -> float:
        return left + (right - left) * (x - least) / ((most - least) or 1.0)

    band = max(across(high) - across(low), 3.0)
    outer = [max(wide[0], least), min(wide[1], most)] if wide else [low, high]
    reach = max(across(outer[1]) - across(outer[0]), 3.0)
    body = [
        element("rect", class_="track", x=left, y=line - 4, width=right - left, height=8, rx=4),
        element("rect", class_="outer", x=across(outer[0]), y=line - 14, width=reach, height=28, rx=6),
        element("rect", class_="band", x=across(low), y=line - 10, width=band, height=20, rx=6),
        element("circle", class_="dot", cx=across(value), cy=line, r=7),
        _label(left, height - 8, _tick_text(least, mark), "start"),
        *(_label(across(tick), height - 8, _tick_text(tick, mark), "middle") for tick in inner),
        _label(right, height - 8, _tick_text(most, mark), "end"),
    ]
    told = [short(end, 4, mark) for end in (value, low, high, least, most, *(wide or ()))]
    text = f"{told[0]}, with an interval from {told[1]} to {told[2]}, on a scale from {told[3]} to {told[4]}."
    if wide:
        text += f" If some cheat, from {told[5]} to {told[6]}: the paler band."
    return _chart("interval", height, "The answer and its interval", text, body)


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[Sequence[float]],
    wide: Sequence[Sequence[float]] = (),
    mark: Mark = ".",
) -> Svg:
    """One bar for each value of the domain, with its interval, and a paler one that allows for cheats.

    Its label is beside it, or above it where one is long: "Less than once a week" and "... a month" begin alike.
    """
    wide = wide or intervals
    most = max([high for _, high in [*intervals, *wide]] + [1e-9])
    above = any(_cut(label, 15) != label for label in labels)
    right = _WIDTH - 52
    row, left, aside, up, anchor = (46.0, 4.0, 0.0, 14.0, "start") if above else (30.0, 110.0, 8.0, -4.0, "end")
    scale = (right - left) / most
    body = []
    for place, (label, value, (low, high), outer) in enumerate(zip(labels, values, intervals, wide, strict=True)):
        middle = row * (place + 1) - 11
        body += [
            _label(left - aside, middle - up, _cut(label, 52), anchor),
            element("rect", class_="bar soft", x=left, y=middle - 7, width=max(value * scale, 1.0), height=14, rx=3),
            element(
                "line",
                class_="whisker pale",
                x1=left + outer[0] * scale,
                y1=middle,
                x2=left + outer[1] * scale,
                y2=middle,
            ),
            element("line", class_="whisker", x1=left + low * scale, y1=middle, x2=left + high * scale, y2=middle),
            _label(_WIDTH - 4, middle + 4, whole(value, mark), "end"),
        ]
    text = "; ".join(f"{label}: {whole(value, mark)}" for label, value in zip(labels[:12], values[:12], strict=True))
    return _chart("bars", row * len(labels) + 8, "How many owners hold each value", text, body)


def _cut(text: str, room: int) -> str:
    """A text that has room for so many letters of Latin; wide signs, as of Chinese, take two.

    >>> _cut("Never", 5), _cut("Nevermore", 5), _cut("家家家", 5)
    ('Never', 'Neve…', '家家…')
    """
    widths = [2 if east_asian_width(sign) in "WF" else 1 for sign in text]
    if sum(widths) <= room:
        return text
    return text[: sum(taken < room for taken in accumulate(widths))] + "…"


def sureness(epsilon: float) -> Svg:
    """Two bars: a guess of 50:50 before a report, and the most that it can become after."""
    height, left, wide = 104.0, 0.0, _WIDTH
    after = wide * sure(epsilon)
    body = [_label(left, 14, "Before, at best a guess", "start"), _label(wide, 14, "50:50", "end")]
    for y, share in ((22.0, wide / 2), (74.0, after)):
        body += [
            element("rect", class_="track", x=left, y=y, width=wide, height=18, rx=4),
            element(
                "rect", class_="bar soft" if share == wide / 2 else "bar", x=left, y=y, width=share, height=18, rx=4
            ),
        ]
    body += [
        _label(left, 66, "After your report, at most", "start"),
        element("text", odds_in_words(epsilon), class_="strong", x=wide, y=66, text_anchor="end"),
    ]
    text = f"Someone who guessed 50:50 before could be at most {odds_in_words(epsilon)} sure after."
    return _chart("sureness", height, "How sure anyone could become of your answer", text, body)


def over_time(
    moments: Sequence[float], values: Sequence[float], intervals: Sequence[Sequence[float]], mark: Mark = "."
) -> Svg:
    """Answers to one question, round by round in the order they ended, each with its interval."""
    left, right, top, bottom, height = 48.0, _WIDTH - 14, 16.0, 176.0, 200.0
    least, most = min(low for low, _ in intervals), max(high for _, high in intervals)
    ticks = _linear_ticks(least, max(most, least + 1e-4 * (abs(least) or 1.0)))  # answers may all be one and the same
    span, first = (max(moments) - min(moments)) or 1.0, min(moments)

    def down(value: float) -> float:
        return bottom - (bottom - top) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    places = [left + 14 + (right - left - 28) * (moment - first) / span for moment in moments]
    line = " ".join(f"{x:.1f},{down(value):.1f}" for x, value in zip(places, values, strict=True))
    body = [*_y_axis(ticks, down, left, right, mark), element("polyline", class_="line", points=line)]
    for x, value, (low, high) in zip(places, values, intervals, strict=True):
        body += [
            element("line", class_="whisker", x1=x, y1=down(low), x2=x, y2=down(high)),
            element("circle", class_="dot", cx=x, cy=down(value), r=5),
        ]
    text = "; ".join(short(value, 4, mark) for value in values)
    return _chart("over-time", height, "The answers, oldest first", text, body)


def split(paid: int, held: int, budget: int) -> Svg:
    """Where a budget is: paid out, still held or promised, and the rest given back."""
    all_of_it = budget or 1
    first, second = _WIDTH * paid / all_of_it, _WIDTH * held / all_of_it
    widths = {"track": _WIDTH, "held": first + second, "bar": first}
    body = [element("rect", class_=name, x=0, y=0, width=width, height=14, rx=7) for name, width in widths.items()]
    text = f"{100 * paid / all_of_it:.0f} % paid, {100 * held / all_of_it:.0f} % held."
    return _chart("split", 14.0, "Where the budget is", text, body)


def _chart(name: str, height: float, title: str, text: str, body: Sequence[Svg]) -> Svg:
    return picture(name, _WIDTH, height, *body, title=title, text=text, class_="chart")


def _label(x: float, y: float, text: str, anchor: str) -> Svg:
    return element("text", text, x=x, y=y, text_anchor=anchor)


def _logarithmic(low: float, high: float, left: float, right: float) -> Scale:
    span = math.log(high / low)
    return lambda x: left + (right - left) * math.log(x / low) / span


def _y_axis(ticks: Sequence[float], down: Scale, left: float, right: float, mark: Mark) -> list[Svg]:
    lines = [element("line", class_="grid", x1=left, y1=down(t), x2=right, y2=down(t)) for t in ticks]
    return [*lines, *(_label(left - 6, down(t) + 4, _tick_text(t, mark), "end") for t in ticks)]


def _x_axis(ticks: Sequence[float], across: Scale, bottom: float, mark: Mark) -> list[Svg]:
    return [_label(across(t), bottom + 18, _tick_text(t, mark), "middle") for t in ticks]


def _linear_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from low to just past high.

    >>> _linear_ticks(0, 9.3)
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    rough = (high - low) / about or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= rough * 0.999)
    first = math.floor(low / step)
    return [round(step * place, 12) for place in range(first, math.ceil(high / step - 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with twos and fives between them while there is room.

    >>> _log_ticks(10, 1000)
    [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [10.0**p * m for p in powers for m in (1.0, 2.0, 5.0)]
    inside = [t for t in fine if low * 0.999 <= t <= high * 1.001]
    if len(inside) <= 8:
        return inside
    return [t for t in inside if math.isclose(10.0 ** round(math.log10(t)), t)] or inside[::2]


def _tick_text(value: float, mark: Mark = ".") -> str:
    """
    >>> _tick_text(1500.0), _tick_text(2_000_000.0), _tick_text(0.5, ",")
    ('1.5k', '2M', '0,5')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return styled(f"{value / size:g}{letter}", mark)
    return styled(f"{value:g}", mark)
