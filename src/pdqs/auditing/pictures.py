"""The certificate's three pictures, as inline SVG: what a lie brings, what a bid buys, and what rounds cost."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pdqs.auditing.report import AuditReport
from pdqs.model.errors import MissingExtraError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.present.svg import Svg, inlined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, BLUE, ORANGE, GREEN, GREY = "#1d2733", "#0072B2", "#D55E00", "#009E73", "#9aa5b1"

_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e8ecf0",
    "legend.frameon": False,
    "svg.hashsalt": "pdqs",
    "svg.fonttype": "path",
}


def utility_picture(report: AuditReport) -> Svg:
    """What the worst-tempted owner keeps, bid by bid: it should be highest at her true price."""
    profile, worst = report.truthfulness.profile, report.truthfulness.worst

    def draw(axes: Axes) -> None:
        utility = profile.utility_micros / MICROS_PER_UNIT
        axes.plot(profile.bids, utility, color=BLUE, lw=2)
        honest = float(np.interp(profile.price, profile.bids, utility))
        axes.axvline(profile.price, color=GREEN, lw=1.2, ls="--")
        axes.plot([profile.price], [honest], "o", color=GREEN, ms=7, label=f"the truth: {profile.price:.4g}")
        if worst.gains:
            best = float(np.interp(worst.lie, profile.bids, utility))
            axes.plot([worst.lie], [best], "D", color=ORANGE, ms=7, label=f"the best lie: {worst.lie:.4g}")
            axes.annotate(
                "",
                xy=(profile.price, best),
                xytext=(profile.price, honest),
                arrowprops={"arrowstyle": "->", "color": ORANGE, "lw": 1.6},
            )
        axes.set_xlabel("what she bids")
        axes.set_ylabel("what she keeps")
        axes.legend(loc="best", fontsize=9)

    return _svg("utility", "What the owner keeps, bid by bid", draw)


def offer_picture(report: AuditReport) -> Svg:
    """q(b) and P(b) as the same owner faces them."""
    profile = report.truthfulness.profile

    def draw(axes: Axes) -> None:
        axes.plot(profile.bids, profile.q, color=BLUE, lw=2)
        axes.set_ylim(-0.03, 1.05)
        axes.set_xlabel("what she bids")
        axes.set_ylabel("chance of a true report, q", color=BLUE)
        money = axes.twinx()
        money.plot(profile.bids, profile.payment_micros / MICROS_PER_UNIT, color=ORANGE, lw=2, ls=(0, (5, 1.5)))
        money.set_ylabel("expected payment, P", color=ORANGE)
        money.set_ylim(bottom=0)
        money.grid(False)
        money.spines["right"].set_visible(True)

    return _svg("offer", "What a bid buys and what is paid for it", draw)


def spend_picture(report: AuditReport) -> Svg:
    """What rounds cost, in shares of the budget."""
    spends = 100.0 * report.budget.spends

    def draw(axes: Axes) -> None:
        if float(np.ptp(spends)) < 1e-9:
            axes.bar([spends[0]], [100.0], width=0.6, color=BLUE)
            axes.set_xlim(min(spends[0], 100.0) - 6, max(spends[0], 100.0) + 6)
            axes.text(spends[0] - 0.5, 50.0, f"every round\n{spends[0]:.2f} %", ha="right", fontsize=9)
            axes.set_ylim(0, 112)
        else:
            width = float(np.ptp(spends)) / 30.0
            first, last = np.floor((spends.min() - 100.0) / width), np.ceil((spends.max() - 100.0) / width)
            edges = 100.0 + width * np.arange(first, last + 1)  # the budget lies on an edge: no bar is half over it
            counts = 100.0 * np.histogram(spends, edges)[0] / spends.size
            over = edges[:-1] >= 100.0
            colours = np.where(over, ORANGE, BLUE).tolist()
            axes.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=colours, edgecolor="white", lw=0.5)
        axes.axvline(100.0, color=INK, lw=1.4)
        axes.text(100.0, axes.get_ylim()[1] * 0.985, " budget", ha="left", va="top", fontsize=9)
        axes.set_xlabel("cost of a round, % of the budget")
        axes.set_ylabel("% of rounds")

    return _svg("spend", "What rounds cost, in per cent of the budget", draw)


def _svg(name: str, label: str, draw: Callable[[Axes], None]) -> Svg:
    """One small picture as an <svg> element: no file, no font, no address from elsewhere."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("a certificate needs matplotlib: install the extra, pip install 'pdqs[cli]'") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(4.1, 2.9), layout="constrained")
        draw(figure.add_subplot())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return inlined(file.getvalue(), name=name, label=label)
