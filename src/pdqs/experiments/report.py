"""One self-contained HTML page: verdicts, each figure and the table behind it, what was measured, released, gained."""

from __future__ import annotations

import dataclasses
import io
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from pdqs.experiments import figures
from pdqs.experiments.claims import judge
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.report_tables import (
    gains_table,
    html_table,
    measured_table,
    populations_table,
    released_medians_table,
    released_table,
)
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import SYNTHETIC, Experiment
from pdqs.experiments.store import write_whole
from pdqs.present.svg import Svg, inlined
from pdqs.present.text import in_digits

_CSS = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{line-height:1.2} h2{margin-top:2.5rem;border-bottom:1px solid #ccc} figure{margin:1.5rem 0}
figcaption{font-size:.9rem;color:#444} svg{width:100%;height:auto} .scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;margin:.5rem 0} th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums} th{text-align:left;vertical-align:bottom}
th.n{text-align:right}
tr.ours td{font-weight:600} details{margin:.5rem 0} summary{cursor:pointer}
.v{white-space:nowrap;font-weight:600} .holds{color:#1b6e2e} .part{color:#8a5a00} .not{color:#a31515} .none{color:#666}
"""

_RELATIVE = "Relative absolute error of count and of median queries."

_WHAT = {
    "count-error": "Relative absolute error of count queries.",
    "count-band": "Answers to count queries: their mean, and the band that holds the middle 95 % of them.",
    "median-error": "Absolute error of median queries.",
    "median-band": "Answers to median queries: their mean, and the band that holds the middle 95 % of them.",
    "shift-2-error": f"{_RELATIVE} Set-up 2: NPQM learned from uniform bids, meets normal ones (sd 0.25, kept).",
    "shift-3-error": f"{_RELATIVE} Set-up 3: NPQM learned from normal bids (sd 1), kept to (0, 1), and meets the like.",
    "shift-4-error": f"{_RELATIVE} Set-up 4: NPQM learned from normal bids (sd 1), meets those of sd 0.25, both kept.",
    "shift-2-squashed-error": f"{_RELATIVE} Set-up 2 with the second mapping: normal bids squashed by 1 / (1 + e^-x).",
    "shift-3-squashed-error": f"{_RELATIVE} Set-up 3 with the second mapping: normal bids squashed by 1 / (1 + e^-x).",
    "shift-4-squashed-error": f"{_RELATIVE} Set-up 4 with the second mapping: normal bids squashed by 1 / (1 + e^-x).",
    "correlated-error": (
        "Not in the paper: owners with the sensitive value ask more. At strength a an owner with the value bids the"
        " largest of 1 + a uniform draws, at a budget of 0.5n. The weighted estimate is right only at strength 0, the"
        " unbiased one at any, the naive one at none."
    ),
    "correlated-coverage": (
        "Not in the paper: how often the 95 % interval holds the truth in the same rounds. Only the honest lottery and"
        " the robust form promise it here."
    ),
    "domain-size-epsilon": (
        "Not in the paper: the same 2,000 owners, their values cut into more and more classes. The printed eps knows"
        " two values only, and tells ever less of what a report gives away; the sound forms keep the true eps to 4,"
        " the honest lottery to 2."
    ),
}

_CLASSES = {"holds": "holds", "holds in part": "part", "does not hold": "not", "not run": "none"}


def write(results: Results, directory: Path, *, command: str) -> Path:
    """Figures in three formats, ``summary.csv``, and ``report.html`` with everything in it; the report's path."""
    drawn = figures.draw_all(results)
    figures.save_all(drawn, directory / "figures")
    write_whole(directory / "summary.csv", lambda path: path.write_text(summary_csv(results), encoding="utf-8"))
    page = html(results, drawn, command)
    target = directory / "report.html"
    write_whole(target, lambda path: path.write_text(page, encoding="utf-8"))
    return target


def summary_csv(results: Results) -> str:
    """One line of figures for each cell."""
    lines: list[str] = []
    for cell, sample in results.samples.items():
        row = sample.summary()
        if not lines:
            lines.append(",".join(("experiment", "population", "kind", "mechanism", "level", *row)))
        figures_of_row = (f"{value:.6g}" for value in (cell.level, *row.values()))
        lines.append(",".join((cell.experiment, cell.population, cell.kind, cell.mechanism, *figures_of_row)))
    return "\n".join(lines) + "\n"


def html(results: Results, drawn: dict[str, Figure], command: str) -> str:
    """The page."""
    plan = results.plan
    planned, run, rounds = len(plan.cells()), results.samples, sum(each.error.size for each in results.samples.values())
    body = [
        "<h1>The paper's experiments, and the sound mechanisms beside them</h1>",
        f"<p>Made by <code>{escape(command)}</code>: {len(run):,} of the plan's {planned:,} points with "
        f"{rounds:,} rounds, {len(results.unanswered):,} without an answer, "
        f"{planned - len(run) - len(results.unanswered):,} not run.</p>",
        _verdicts(results),
        _unanswered(results),
        *(_figure(results, name, figure) for name, figure in drawn.items()),
        measured_table(results),
        released_table(results),
        released_medians_table(results),
        gains_table(results),
        populations_table(results),
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>pdqs: the paper reproduced</title><style>{_CSS}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _verdicts(results: Results) -> str:
    rows = [
        (
            escape(claim.text),
            f"<span class='v {_CLASSES[found.verdict]}'>{found.verdict}</span>",
            escape(found.number),
        )
        for claim, found in judge(results)
    ]
    return (
        "<h2>What the paper claims, and what the results say</h2>"
        + html_table(("claim", "verdict", "the number that says so"), rows, left=3)
        + "<p>A point is one population, query and budget. Computed from the results below by "
        "<code>pdqs.experiments.claims</code>; a claim about points holds from 95 % of them (75 % where the paper says "
        "“most”) and in part from 50 %.</p>"
    )


def _unanswered(results: Results) -> str:
    """Where NPQM gave no answer, in words."""
    forms = sorted({cell.mechanism for cell in results.unanswered})
    said = []
    for form in forms:
        asked = sum(cell.mechanism == form for cell in (*results.samples, *results.unanswered))
        none = [cell for cell in results.unanswered if cell.mechanism == form]
        places = sorted({f"{cell.population.capitalize()} at {cell.level:g}n" for cell in none})
        label = escape(MECHANISMS[form].label)
        said.append(
            f"<p>{label} gave NO ANSWER at {len(none)} of {asked} points: no step of its training was within "
            f"the budget ({escape(', '.join(places))}).</p>"
        )
    return "".join(said)


def _figure(results: Results, name: str, figure: Figure) -> str:
    experiment = max(
        (each for each in results.plan.experiments if name.startswith(each.name)), key=lambda each: len(each.name)
    )
    number = figures.NUMBERS.get(name)
    papers = "" if number is None else f"The paper's figure {number}. "
    caption = papers + escape(_WHAT[name])
    if name.endswith("-band"):
        return f"<figure>{_svg(figure, name)}<figcaption>{caption}</figcaption></figure>"
    title = escape(experiment.title) + ("" if number is None else f" (figure {number})")
    return (
        f"<h2>{title}</h2><figure>{_svg(figure, name)}<figcaption>{caption} {experiment.queries} "
        f"queries a point; shaded: two standard errors either side of the mean.</figcaption></figure>"
        + _behind(results, experiment)
    )


def _svg(figure: Figure, name: str) -> Svg:
    """The figure as an element of the page."""
    file = io.StringIO()
    figures.save(figure, file, kind="svg")
    return inlined(file.getvalue(), name=name, label=_WHAT[name])


def _behind(results: Results, experiment: Experiment) -> str:
    """The table behind a figure: mean errors as it shows them; where those are relative, medians as they are, too."""
    said = "× what was truly spent of the budget where it is more than all; a dash: NO ANSWER"
    if not figures.is_relative(experiment):
        return _folded("The table behind it", f"mean errors; {said}", _errors_table(results, experiment))
    relative = _errors_table(results, experiment, relative=True)
    medians = _errors_table(results, dataclasses.replace(experiment, kinds=("median",)))
    return _folded("The table behind it", f"mean relative errors; {said}", relative) + _folded(
        "The same of medians in the domain's own unit", f"mean absolute errors; {said}", medians
    )


def _folded(title: str, said: str, table: str) -> str:
    return f"<details><summary>{title} ({said})</summary>{table}</details>"


def _errors_table(results: Results, experiment: Experiment, *, relative: bool = False) -> str:
    rows, ours = [], []
    for population in experiment.populations:
        for kind in experiment.kinds:
            for mechanism in experiment.mechanisms:
                found = [results.at(experiment.name, population, kind, mechanism, level) for level in experiment.levels]
                if all(sample is None for sample in found):
                    continue
                cells = [_with_spending(each.relative if each and relative else each) for each in found]
                title = "made population" if population == SYNTHETIC else population.capitalize()
                rows.append((f"{title}, {kind}", escape(MECHANISMS[mechanism].label), *cells))
                ours.append(MECHANISMS[mechanism].ours)
    head = ("population, query", "mechanism", *(f"{level:g}" for level in experiment.levels))
    return html_table(head, rows, left=2, ours=ours)


def _with_spending(sample: Sample | None) -> str:
    """A mean error, and beside it what it cost where that is more than the budget."""
    if sample is None:
        return "–"
    spent = float((sample["spent"] / sample["budget"]).mean())
    return in_digits(sample.mean_error, 3) + (f" (×{spent:.2f})" if spent > 1.005 else "")
