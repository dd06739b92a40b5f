"""The paper's two measures of a mechanism, judged: (alpha, delta)-PAC, and purchased privacy (PPEM).

An answer is (alpha, delta)-PAC if it is within alpha of the truth with probability delta. The paper leaves alpha open,
and with an alpha of one's choice every mechanism is; so alpha is measured at delta = 0.95, and the verdict is on one
alpha for all: a tenth of a true count, a twentieth of the width of a median's domain.

PPEM is sum q ln((1 + q)/(1 - q)), what the paper's mechanisms are made to buy as much of as the budget allows, and
what it takes for accuracy. Both are judged: who buys the most, and whether more of it means less error. NO ANSWER buys
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from pdqs.experiments import populations
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.overruns import spending
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.verdicts import (
    FIVE,
    MAIN,
    MIDDLE,
    NOT_RUN,
    NPQM_FORMS,
    Claim,
    Point,
    Verdict,
    errors_at,
    graded,
    of_mechanism,
    points,
    samples_at,
)
from pdqs.present.text import in_digits

DELTA = 0.95
NEAR_COUNT, NEAR_MEDIAN = 0.10, 0.05
"""How near the truth an answer must be: relative to the true count, or to the width of the median's domain."""

PAPERS = (*NPQM_FORMS.values(), *FIVE[1:])
"""The paper's five mechanisms, NPQM in each of its forms."""

OTHERS = ("single-minded", "fallah-local", "sound-selection", "sound", "honest")


def alpha(sample: Sample) -> float:
    """The error that was not passed in 95 of 100 rounds: relative for counts, in the domain's unit for medians."""
    return float(np.quantile(sample.error, DELTA))


def ppem_per_owner(sample: Sample) -> float:
    """The purchased privacy of a round, by owner, on average."""
    return float((sample["privacy"] / sample["owners"]).mean())


def width(population: str) -> float:
    """Of the domain of a population's median."""
    numbers = populations.load(population).median_domain.numbers
    return float(numbers[-1] - numbers[0])


def near(point: Point) -> float:
    """What counts as near the truth at a point, in the unit of its errors."""
    return NEAR_COUNT if point[2] == "count" else NEAR_MEDIAN * width(point[1])


def is_pac(results: Results, mechanism: str) -> Verdict:
    """At 0.5n, 95 answers of 100 are near the truth."""
    met = total = 0
    shares: dict[str, list[float]] = {kind: [] for kind in MAIN}
    for point in points(results):
        if point[3] == MIDDLE and errors_at(results, point, (mechanism,)):
            total += 1
            for sample in samples_at(results, point, (mechanism,)).values():
                met += alpha(sample) <= near(point)
                shares[point[2]].append(alpha(sample) if point[2] == "count" else alpha(sample) / width(point[1]))
    if not total:
        return NOT_RUN
    measured = "; ".join(
        f"α {in_digits(min(found), 2)} to {in_digits(max(found), 2)} {of}"
        for of, found in zip(("of the true count", "of the median's domain"), shares.values(), strict=True)
        if found
    )
    said = f"so near in {met} of {total} cases" + (f": {measured}" if measured else "")
    return graded(met / total, f"{said}; {spending(results, mechanism, MIDDLE)}")


def _bought(results: Results, point: Point, mechanism: str) -> float:
    return sum(map(ppem_per_owner, samples_at(results, point, (mechanism,)).values()))


def buys_the_most(results: Results, mechanism: str) -> Verdict:
    """No other of the paper's mechanisms buys more PPEM, at any budget."""
    rivals = tuple(dict.fromkeys((*PAPERS, mechanism)))
    most, total, middle = 0, 0, list[float]()
    for point in points(results):
        if errors_at(results, point, rivals):
            bought = {name: _bought(results, point, name) for name in rivals}
            most += bought[mechanism] >= max(bought.values())
            total += 1
            middle += [bought[mechanism]] * (point[3] == MIDDLE)
    if not total:
        return NOT_RUN
    number = f"the most at {most} of {total} points" + (f"; {np.mean(middle):.3f} an owner at 0.5n" if middle else "")
    return graded(most / total, f"{number}; {spending(results, mechanism)}")


def ppem_tells_accuracy(results: Results) -> Verdict:
    """Of two of the paper's mechanisms at a point, the one that buys more PPEM has the smaller error."""
    agree = total = 0
    for point in points(results):
        for pair in combinations(PAPERS, 2):
            found = samples_at(results, point, pair)
            if found:
                one, other = found.values()
                apart = (ppem_per_owner(one) - ppem_per_owner(other)) * (one.mean_error - other.mean_error)
                total += apart != 0
                agree += apart < 0
    if not total:
        return NOT_RUN
    return graded(agree / total, f"so for {agree:,} of {total:,} pairs ({agree / total:.0%})")


def _claims(
    name: str, judge: Callable[[Results, str], Verdict], mechanisms: tuple[str, ...], words: str
) -> tuple[Claim, ...]:
    return tuple(
        Claim(f"{name}-{mechanism}", f"{MECHANISMS[mechanism].label} {words}", of_mechanism(mechanism, judge))
        for mechanism in mechanisms
    )


_NEAR = "is (α, 0.95)-PAC at 0.5n with α a tenth of the count, a twentieth of the median's domain"

MEASURED = (
    *_claims("pac", is_pac, (*PAPERS, *OTHERS), _NEAR),
    *_claims("ppem", buys_the_most, PAPERS, "buys the most privacy (PPEM) of the paper's mechanisms"),
    *_claims("ppem", buys_the_most, OTHERS, "buys more privacy (PPEM) than any of the paper's mechanisms"),
    Claim("ppem-accuracy", "The more privacy (PPEM) a mechanism buys, the more accurate it is", ppem_tells_accuracy),
)
