"""Figures in the paper's arrangement: a panel for each population, three rows of two; errors, and bands of answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from pdqs.experiments import populations
from pdqs.experiments.bound import least_count_error
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import Experiment
from pdqs.experiments.store import write_whole
from pdqs.model.names import QueryKind

FORMATS = ("svg", "png", "pdf")

# Colours that stay apart for most colour-blind readers (Okabe and Ito); the paper's thin, ours thick.
_STYLE: dict[str, dict[str, Any]] = {
    "npqm": {"color": "#D55E00", "marker": "o"},
    "npqm-released": {"color": "#D55E00", "marker": "o", "linestyle": "--", "markerfacecolor": "white"},
    "npqm-mended": {"color": "#D55E00", "marker": "o", "linestyle": ":", "markerfacecolor": "#F0E442"},
    "gpqm-linear": {"color": "#0072B2", "marker": "s"},
    "gpqm-exp": {"color": "#E69F00", "marker": "^"},
    "gpqm-log": {"color": "#009E73", "marker": "v"},
    "gpqm-log-text": {"color": "#009E73", "marker": "v", "linestyle": "--", "markerfacecolor": "white"},
    "fairquery": {"color": "#888888", "marker": "x"},
    "single-minded": {"color": "#888888", "marker": "+", "linestyle": "--"},
    "fallah-local": {"color": "#888888", "marker": "*", "linestyle": ":"},
    "sound-selection": {"color": "#CC79A7", "marker": "D", "linewidth": 2.0},
    "sound": {"color": "#000000", "marker": "D", "linewidth": 2.0},
    "honest": {"color": "#56B4E9", "marker": "D", "linewidth": 2.0},
    "robust": {"color": "#0072B2", "linestyle": "--", "marker": "P", "linewidth": 2.0},
}

_NO_BAND = ("gpqm-log-text", "single-minded", "fallah-local", "sound-selection")
"""What the paper's bands do not show, and a variant: more bands would hide the rest."""

NUMBERS = {
    "count-error": 2, "count-band": 3, "median-error": 4, "median-band": 5,
    "shift-2-error": 6, "shift-3-error": 7, "shift-4-error": 8,
}  # fmt: skip
"""The paper's own numbers of its figures, by ours; its figure 1 is a diagram."""

_AXES = {
    "budget": "budget / n",
    "correlation": "strength of correlation",
    "domain": "number of values in the domain",
}

_SETTINGS: Any = {
    "svg.hashsalt": "pdqs",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.0,
    "legend.frameon": False,
}

Panel = tuple[str, str]
"""A population and a kind of query."""


def is_relative(experiment: Experiment) -> bool:
    """Whether its figure shows errors relative to the truth, of counts and medians alike: the captions of the paper's
    last three do."""
    return len(experiment.kinds) > 1


def draw_all(results: Results) -> dict[str, Figure]:
    """Every figure that the results allow, by name."""
    figures: dict[str, Figure] = {}
    with mpl.rc_context(_SETTINGS):
        for experiment in results.plan.experiments:
            if any(cell.experiment == experiment.name for cell in results.samples):
                figures |= _DRAWN.get(experiment.axis, _draw_budget)(results, experiment)
    return figures


def save_all(figures: dict[str, Figure], directory: Path) -> None:
    """Write every figure in every format."""
    for name, figure in figures.items():
        for kind in FORMATS:
            write_whole(directory / f"{name}.{kind}", partial(save, figure, kind=kind))


def save(figure: Figure, target: Path | IO[str], *, kind: str) -> None:
    """Write a figure, without dates and with fixed names inside: the same results give the same bytes."""
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with mpl.rc_context(_SETTINGS):
        figure.savefig(target, format=kind, metadata=undated[kind], dpi=130, bbox_inches="tight")


def _draw_budget(results: Results, experiment: Experiment) -> dict[str, Figure]:
    # As the paper has them: where both queries are shown, a row each, populations side by side.
    panels = [(population, kind) for kind in experiment.kinds for population in experiment.populations]
    relative = is_relative(experiment)
    label = _label_relative if relative else _label_error
    drawn = {f"{experiment.name}-error": _draw(results, experiment, panels, _error_line, label, relative=relative)}
    if not relative:
        fewer = dataclasses.replace(experiment, mechanisms=tuple(m for m in experiment.mechanisms if m not in _NO_BAND))
        drawn[f"{experiment.name}-band"] = _draw(results, fewer, panels, _band, _label_band)
    return drawn


def _draw_correlation(results: Results, experiment: Experiment) -> dict[str, Figure]:
    panels = [(population, kind) for population in experiment.populations for kind in experiment.kinds]
    claimed = dataclasses.replace(experiment, mechanisms=tuple(m for m in experiment.mechanisms if MECHANISMS[m].ours))
    return {
        f"{experiment.name}-error": _draw(results, experiment, panels, _error_line, _label_error),
        f"{experiment.name}-coverage": _draw(results, claimed, panels, _coverage_line, _label_coverage),
    }


def _draw_domain(results: Results, experiment: Experiment) -> dict[str, Figure]:
    """Left: the privacy loss claimed and the true one; right: the error, as a share of the domain's width."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    panel = (experiment.populations[0], experiment.kinds[0])
    for mechanism in experiment.mechanisms:
        levels, samples = _series(results, experiment, panel, mechanism)
        if not levels:
            continue
        style, label = _STYLE[mechanism], MECHANISMS[mechanism].label
        true = [float(sample["epsilon"].mean()) for sample in samples]
        claimed = [float(sample["epsilon_claimed"].mean()) for sample in samples]
        left.plot(levels, true, label=label, **style)
        if not MECHANISMS[mechanism].ours:
            left.plot(levels, claimed, label=f"{label}, by the paper's formula", **{**style, "linestyle": ":"})
        _error_line(right, levels, samples, mechanism)
    left.set(ylabel="mean eps of those bought from", title="What a report costs")
    right.set(ylabel="mean |error| / width of the domain", title="What it brings")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xlabel(_AXES["domain"])
        axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return {f"{experiment.name}-epsilon": figure}


_DRAWN: dict[str, Callable[[Results, Experiment], dict[str, Figure]]] = {
    "budget": _draw_budget,
    "correlation": _draw_correlation,
    "domain": _draw_domain,
}

Line = Callable[[Axes, list[float], list[Sample], str], None]
Label = Callable[[Axes, Panel, "list[Sample]"], None]


def _draw(
    results: Results, experiment: Experiment, panels: list[Panel], line: Line, label: Label, *, relative: bool = False
) -> Figure:
    """One line or band for each mechanism in each panel, and one legend below them all."""
    rows = -(-len(panels) // 2)
    figure = Figure(figsize=(9.0, 2.7 * rows + 0.8), layout="constrained")
    grid = np.atleast_1d(figure.subplots(rows, 2, squeeze=False)).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        everything: list[Sample] = []
        for mechanism in experiment.mechanisms:
            levels, samples = _series(results, experiment, panel, mechanism)
            samples = [sample.relative for sample in samples] if relative else samples
            if levels:
                line(axes, levels, samples, mechanism)
                everything += samples
        axes.set_xlabel(_AXES[experiment.axis])
        axes.set_visible(bool(everything))
        if everything:
            label(axes, panel, everything)
        if everything and experiment.name == "count" and line is _error_line:
            _bound_line(axes, panel[0], everything)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    _share_legend(figure, list(grid), experiment)
    return figure


def _share_legend(figure: Figure, grid: list[Axes], experiment: Experiment) -> None:
    """One legend for all panels, in the experiment's order, of whatever was drawn in any of them."""
    drawn = {label: line for axes in grid for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    order = [MECHANISMS[name].label for name in experiment.mechanisms]
    labels = [label for label in order if label in drawn] + [label for label in drawn if label not in order]
    figure.legend(
        [drawn[label] for label in labels], labels, loc="outside lower center", ncols=min(5, max(len(labels), 1))
    )


def _series(results: Results, experiment: Experiment, panel: Panel, mechanism: str) -> tuple[list[float], list[Sample]]:
    """The levels at which a mechanism was run in a panel, and its rounds there."""
    population, kind = panel
    found = [(level, results.at(experiment.name, population, kind, mechanism, level)) for level in experiment.levels]
    there = [(level, sample) for level, sample in found if sample is not None]
    return [level for level, _ in there], [sample for _, sample in there]


def _error_line(axes: Axes, levels: list[float], samples: list[Sample], mechanism: str) -> None:
    means = np.array([sample.mean_error for sample in samples])
    reach = 2.0 * np.array([sample.standard_error for sample in samples])
    style = _STYLE[mechanism]
    axes.plot(levels, means, label=MECHANISMS[mechanism].label, **style)
    axes.fill_between(levels, np.maximum(means - reach, 1e-9), means + reach, color=style["color"], alpha=0.12, lw=0)


def _label_relative(axes: Axes, panel: Panel, samples: list[Sample]) -> None:
    """Counts and medians alike by error over truth, as the captions of the paper's last three figures say."""
    errors = np.array([sample.mean_error for sample in samples])
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(0.0, 1.7 * errors.max() + 1e-9)
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.set_ylabel("mean relative error")
    axes.set_title(f"{panel[0].capitalize()}, {panel[1]}")


def _bound_line(axes: Axes, population: str, samples: list[Sample]) -> None:
    """What no rule could reach with the naive count within the budget."""
    found = populations.load(population)
    levels = np.linspace(0.1, 0.9, 9)
    least = [least_count_error(found.count_ones / found.owners, float(level)) for level in levels]
    if max(least) > 0.2 * min(sample.mean_error for sample in samples):
        axes.plot(levels, least, color="#CC0000", linewidth=0.9, linestyle=(0, (1, 1.5)), label=BOUND)


BOUND = "least error of a naive count within budget"


def _coverage_line(axes: Axes, levels: list[float], samples: list[Sample], mechanism: str) -> None:
    covered = [sample.summary()["coverage"] for sample in samples]
    axes.plot(levels, covered, label=MECHANISMS[mechanism].label, **_STYLE[mechanism])


def _label_coverage(axes: Axes, panel: Panel, samples: list[Sample]) -> None:
    del samples
    axes.axhline(0.95, color="#CC0000", linewidth=0.9, linestyle=(0, (4, 2)), label="promised")
    axes.set(ylim=(-0.02, 1.02), ylabel="intervals that hold the truth", title=f"{panel[0].capitalize()}, {panel[1]}")


def _label_error(axes: Axes, panel: Panel, samples: list[Sample]) -> None:
    population, kind = panel
    errors = np.array([sample.mean_error for sample in samples])
    least = errors[errors > 0].min() if (errors > 0).any() else 1.0
    if kind == QueryKind.COUNT:
        axes.set_yscale("log")
        axes.set_ylim(0.6 * least, 1.7 * errors.max())
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
        axes.yaxis.set_minor_formatter("")
        axes.set_ylabel("mean relative error")
    else:
        axes.set_yscale("symlog", linthresh=_threshold(population))
        axes.set_ylim(0.0, 1.7 * errors.max() + 1e-9)
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
        axes.set_ylabel(f"mean error ({populations.load(population).median_unit})")
    axes.set_title(f"{population.capitalize()}, {kind}")


def _plain(value: float, position: int | None = None) -> str:
    """A tick as people write it: 0.05, 20, 50,000."""
    del position
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _threshold(population: str) -> float:
    """Half a step of the domain: below it an error is next to none."""
    return 0.5 * populations.load(population).median_domain.step


def _band(axes: Axes, levels: list[float], samples: list[Sample], mechanism: str) -> None:
    """The mean answer and where the middle 95 % of answers lie."""
    style = _STYLE[mechanism]
    low, high = np.quantile(np.stack([sample["answer"] for sample in samples]), [0.025, 0.975], axis=1)
    axes.plot(levels, [sample["answer"].mean() for sample in samples], label=MECHANISMS[mechanism].label, **style)
    axes.fill_between(levels, low, high, color=style["color"], alpha=0.15, lw=0)


def _label_band(axes: Axes, panel: Panel, samples: list[Sample]) -> None:
    population, kind = panel
    axes.axhline(samples[0].truth, color="#CC0000", linewidth=0.9, linestyle=(0, (4, 2)), label="the truth")
    unit = "owners" if kind == QueryKind.COUNT else populations.load(population).median_unit
    axes.set_ylabel(f"answer ({unit})")
    axes.set_title(f"{population.capitalize()}, {kind}")
