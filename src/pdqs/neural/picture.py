"""A learned curve beside linear and optimal, all at the same budget, and the story of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import MissingExtraError
from pdqs.present.drawing import BLACK, BLUE, GREEN, GREY, ORANGE
from pdqs.present.text import in_digits
from pdqs.rounds.offers import Offers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = ((BLUE, "-", 2.6), (ORANGE, "--", 1.8), (GREEN, "-.", 1.8))


def curves_figure(offers: Mapping[str, Offers], trace: Mapping[str, Floats] | None = None) -> Figure:
    """q against the bid for each named set of offers, on the left; what training did, step by step, on the right.

    ``trace`` holds lines that share the steps as their axis; each is drawn relative to its largest size.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture needs matplotlib, the extra 'cli': pip install 'pdqs[cli]'") from None
    figure = Figure(figsize=(11.0 if trace else 6.5, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2 if trace else 1, squeeze=False)[0]
    _draw_curves(axes[0], offers)
    if trace:
        _draw_trace(axes[1], trace)
    for each in axes:
        each.grid(color="#E4E4E4", linewidth=0.8)
        each.spines[["top", "right"]].set_visible(False)
        each.legend(frameon=False, fontsize=9)
    return figure


def _draw_curves(axes: Axes, offers: Mapping[str, Offers]) -> None:
    low = min(found.bids.min() for found in offers.values())
    high = max(found.bids.max() for found in offers.values())
    for (name, found), (colour, line, width) in zip(offers.items(), _LOOKS, strict=False):
        order = np.argsort(found.bids, kind="stable")
        axes.step(
            found.bids[order],
            found.q[order],
            where="post",
            color=colour,
            linestyle=line,
            linewidth=width,
            label=f"{name}: sum of q² = {found.information:,.1f}, spent {found.spent:,.1f}",
        )
    any_offers = next(iter(offers.values()))
    ticks = any_offers.bids if any_offers.bids.size <= 400 else np.quantile(any_offers.bids, np.linspace(0, 1, 400))
    axes.plot(ticks, np.full(ticks.size, -0.03), "|", color=GREY, markersize=7, alpha=0.5, label="the bids")
    axes.set(xlim=(low, high), ylim=(-0.06, 1.25), xlabel="bid", ylabel="chance of truth q")
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    budget = any_offers.budget_micros / 1e6
    axes.set_title(
        f"Curves for a budget of {in_digits(budget, 4)}, {len(any_offers):,} owners", loc="left", fontsize=11
    )


def _draw_trace(axes: Axes, trace: Mapping[str, Floats]) -> None:
    lowest = 0.0
    for (name, values), colour in zip(trace.items(), (BLUE, ORANGE, GREEN, BLACK), strict=False):
        finite = np.where(np.isfinite(values), values, 0.0)
        size = float(np.abs(finite).max())
        lowest = -1.0 if finite.min() < 0 else lowest
        axes.plot(finite / (size or 1.0), color=colour, linewidth=1.4, label=f"{name} (1 = {in_digits(size, 4)})")
    axes.set(xlabel="step", ylabel="relative to its largest size", ylim=(lowest - 0.08, 1.5))
    axes.set_title("Training", loc="left", fontsize=11)
