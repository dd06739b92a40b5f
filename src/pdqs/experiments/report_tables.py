"""The tables of the report, as HTML: gains, released figures beside ours, what was measured of each mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pdqs.experiments import populations
from pdqs.experiments.error_ratios import AT_SPENDING, Gain, gains
from pdqs.experiments.measures import alpha, ppem_per_owner
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.released_figures import MEDIAN_TOLERANCE, TOLERANCE, Comparison, compare, compare_medians
from pdqs.experiments.results import Results
from pdqs.experiments.verdicts import MAIN, MIDDLE
from pdqs.present.text import in_digits


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, ours: Sequence[bool] = ()) -> str:
    """A table; cells are HTML already. The first ``left`` columns are words, the rest numbers."""
    heads = "".join(f"<th{'' if i < left else ' class=n'}>{cell}</th>" for i, cell in enumerate(head))
    lines = []
    for number, row in enumerate(rows):
        cells = "".join(f"<td{'' if i < left else ' class=n'}>{cell}</td>" for i, cell in enumerate(row))
        lines.append(f"<tr{' class=ours' if ours and ours[number] else ''}>{cells}</tr>")
    return f"<div class=scroll><table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def _words(gain: Gain) -> str:
    if gain.reweighted:
        return "the same budget, reweighted"
    return "equal true spending" if gain.at == AT_SPENDING else "the same budget"


def gains_table(results: Results) -> str:
    """How much smaller our errors are."""
    found = gains(results)
    if not found:
        return ""
    names = [name for name in populations.names() if any(name in {**dict(g.each), **dict(g.left_out)} for g in found)]
    rows = [
        (
            gain.kind,
            escape(MECHANISMS[gain.theirs].label),
            escape(MECHANISMS[gain.ours].label),
            _words(gain),
            *_mean_and_spending(gain),
            *(_each(gain, name) for name in names),
        )
        for gain in found
    ]
    words = ("query", "error of", "over error of", "at", "geometric mean (95 % interval)")
    head = (
        *words,
        "the first spends, of its budget",
        "the second, of the same",
        *(name.capitalize() for name in names),
    )
    return (
        f"<h2>How much smaller the errors of the sound forms and the lottery are, at {found[0].budget:g}n</h2>"
        + html_table(head, rows, left=4)
        + _ABOUT_GAINS
    )


def _mean_and_spending(gain: Gain) -> tuple[str, str, str]:
    if gain.ratio is None:
        return "–", "–", "–"
    return f"<strong>{gain.ratio.value:.1f}</strong> ({gain.ratio.span})", f"{gain.spent:.2f}", f"{gain.ours_spent:.2f}"


def _each(gain: Gain, population: str) -> str:
    ratio = dict(gain.each).get(population)
    return dict(gain.left_out).get(population, "–") if ratio is None else f"{ratio:.1f}"


_ABOUT_GAINS = (
    "<p>Ratios of mean errors. At <em>equal true spending</em> ours is read at what the other truly spends on each"
    " population: between the two budgets of the plan that spend just less and just more (error against spending,"
    " both as logarithms, a straight line), or at the largest budget where the other spends more than that. “Sound”"
    " is the optimal rule, cleared by leave-one-out on the public ladder, with the weighted estimate and eps at most"
    " 4: truthful and within budget for every bid vector; right only if bids say nothing of values. The honest"
    " lottery is right whatever bids say, with eps at most 2. At the honest contract everyone who reports is paid;"
    " at the paper's, only those whose coin chose the truth. “Reweighted” reads the other mechanism's reports by the"
    " weighted estimator as well: what is left is the gain of the rule, the rest is the estimator's. A population is"
    " left out of the mean where the other gave <em>no answer</em>, where one of the two was <em>never wrong</em>,"
    " and, at equal spending, where the other <em>spends too little</em>: no budget of the plan spends as"
    " little.</p>"
)


def _beside(each: Comparison) -> tuple[str, ...]:
    """Who, whether it agrees, the budget, what was released, and ours."""
    ours = f"{each.ours:.2f} ± {2 * each.standard_error:.2f}"
    label = escape(MECHANISMS[each.mechanism].label)
    return label, _agreement(each.agrees), f"{each.budget:g}n", each.span, ours


def released_table(results: Results) -> str:
    found = compare(results)
    if not found:
        return ""
    rows = [
        (
            *_beside(each),
            f"{each.gap:+.1%}",
            f"{each.standard_errors:+.1f}",
            f"{TOLERANCE[each.mechanism]:.0%}",
        )
        for each in found
    ]
    agree = sum(each.agrees for each in found)
    head = ("mechanism", "verdict", "budget", "released", "ours", "gap", "gap in standard errors", "asked for")
    return (
        "<h2>The released figures for the Customers count, beside ours</h2>"
        f"<p>{agree} of {len(found)} figures agree. Mean relative error of the naive answer; 21 of 2,240 customers "
        "complained, and answering 0 would score 1.0.</p>" + html_table(head, rows, left=2)
    )


def released_medians_table(results: Results) -> str:
    """The two budgets whose released medians are known."""
    found = compare_medians(results)
    if not found:
        return ""
    rows = [
        (
            *_beside(each),
            f"{each.apart:+.2f}",
        )
        for each in found
    ]
    agree = sum(each.agrees for each in found)
    return (
        "<h2>The released Customers medians, beside ours</h2>"
        f"<p>{agree} of {len(found)} figures agree: within {MEDIAN_TOLERANCE:g} of the released span."
        " Mean absolute error; the true median is 5.</p>"
        + html_table(("mechanism", "verdict", "budget", "released", "ours", "apart"), rows, left=2)
    )


def _agreement(agrees: bool) -> str:
    return f"<span class='v {'holds' if agrees else 'not'}'>{'agrees' if agrees else 'differs'}</span>"


def measured_table(results: Results, budget: float = MIDDLE) -> str:
    """(alpha, delta)-PAC and PPEM of each mechanism, with what each spends."""
    parts = []
    for kind in MAIN:
        names = [name for name in populations.names() if any(cell.population == name for cell in results.samples)]
        rows = []
        for mechanism in MECHANISMS:
            found = [results.at(kind, name, kind, mechanism, budget) for name in names]
            run = [sample for sample in found if sample is not None]
            if run:
                spent = np.mean([(sample["spent"] / sample["budget"]).mean() for sample in run])
                bought = np.mean([ppem_per_owner(sample) for sample in run])
                alphas = ["–" if each is None else in_digits(alpha(each), 3) for each in found]
                rows.append((escape(MECHANISMS[mechanism].label), f"{spent:.2f}", f"{bought:.3f}", *alphas))
        if rows:
            head = ("mechanism", "spent / budget", "PPEM per owner", *(f"α, {name.capitalize()}" for name in names))
            parts.append(f"<h3>{kind.capitalize()}s</h3>" + html_table(head, rows))
    if not parts:
        return ""
    return (
        f"<h2>Accuracy and purchased privacy of each mechanism, at {budget:g}n</h2>"
        "<p>α is the error that was not passed in 95 of 100 rounds: measured (α, δ)-PAC with δ = 0.95, relative for"
        " counts, in the domain's unit for medians. PPEM is the paper's purchased privacy, sum q ln((1 + q)/(1 - q))."
        " A dash: NO ANSWER.</p>" + "".join(parts)
    )


def populations_table(results: Results) -> str:
    names = {cell.population for cell in results.samples}
    rows = [
        (
            escape(found.title),
            escape(found.source),
            escape(found.licence),
            f"{found.owners:,}",
            f"{found.count_ones:,}",
            f"{found.median_truth:,g} {escape(found.median_unit)}",
            str(found.median_domain.size),
        )
        for found in map(populations.load, populations.names())
        if found.name in names
    ]
    head = ("population", "source", "licence", "owners", "true count", "true median", "values in the domain")
    return "<h2>Populations</h2>" + html_table(head, rows, left=3)
