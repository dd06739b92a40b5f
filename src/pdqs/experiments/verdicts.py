"""How a claim is judged: points, shares of points, and the verdicts they give.

A *point* is one population, kind of query and budget. A claim about most or all points *holds* from ``HOLDS`` of them,
holds *in part* from ``IN_PART`` of them, and does not hold below; each verdict comes with the number that says so.
NPQM's NO ANSWER is a loss, not an absence: its error there is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import Cell

HOLDS, IN_PART = 0.95, 0.5
FIVE = ("npqm", "gpqm-linear", "gpqm-exp", "gpqm-log", "fairquery")
NPQM_FORMS = {"printed": "npqm", "released": "npqm-released", "mended": "npqm-mended"}
MAIN = ("count", "median")
EARLY, MIDDLE, LATE = 0.1, 0.5, 0.9


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """holds, holds in part, does not hold, or not run; and the number that says so."""

    verdict: str
    number: str


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper in our words, and how it is judged."""

    name: str
    text: str
    judge: Callable[[Results], Verdict]


NOT_RUN = Verdict("not run", "the cells that this claim needs are not among the results")

Point = tuple[str, str, str, float]


def points(results: Results, experiments: tuple[str, ...] = MAIN) -> Iterator[Point]:
    """Every point of these experiments."""
    for experiment in results.plan.experiments:
        if experiment.name in experiments:
            for population in experiment.populations:
                for kind in experiment.kinds:
                    for level in experiment.levels:
                        yield experiment.name, population, kind, level


def samples_at(results: Results, point: Point, mechanisms: tuple[str, ...]) -> dict[str, Sample]:
    """The mechanisms' rounds at a point; empty unless all were run and gave answers."""
    experiment, population, kind, level = point
    found = {name: results.at(experiment, population, kind, name, level) for name in mechanisms}
    return {name: sample for name, sample in found.items() if sample is not None} if all(found.values()) else {}


def errors_at(results: Results, point: Point, mechanisms: tuple[str, ...]) -> dict[str, float]:
    """The mechanisms' mean errors at a point, infinite where there was NO ANSWER; empty unless all were run."""
    experiment, population, kind, level = point
    errors: dict[str, float] = {}
    for name in mechanisms:
        cell = Cell(experiment, population, kind, name, level)
        sample = results.samples.get(cell)
        if sample is None and cell not in results.unanswered:
            return {}
        errors[name] = math.inf if sample is None else sample.mean_error
    return errors


def graded(share: float, number: str, *, holds: float = HOLDS, in_part: float = IN_PART) -> Verdict:
    """A verdict from a share of points.

    >>> graded(0.7, "70 %").verdict
    'holds in part'
    """
    if share >= holds:
        return Verdict("holds", number)
    return Verdict("holds in part" if share >= in_part else "does not hold", number)


@final
@dataclass(frozen=True, slots=True)
class Where:
    """Which points count: experiments and a span of budgets."""

    experiments: tuple[str, ...] = MAIN
    least: float = 0.0
    most: float = 1.0


def share_of(
    results: Results, mechanisms: tuple[str, ...], wins: Callable[[dict[str, float]], bool], where: Where
) -> tuple[int, int]:
    """At how many points the mean errors satisfy ``wins``, and of how many."""
    met = total = 0
    for point in points(results, where.experiments):
        found = errors_at(results, point, mechanisms) if where.least <= point[3] <= where.most else {}
        if found:
            total += 1
            met += wins(found)
    return met, total


def lowest(name: str) -> Callable[[dict[str, float]], bool]:
    """Whether this mechanism's error is the lowest; a tie is no defeat, NO ANSWER is."""
    return lambda errors: math.isfinite(errors[name]) and errors[name] <= min(errors.values())


def of_mechanism(mechanism: str, judge: Callable[[Results, str], Verdict]) -> Callable[[Results], Verdict]:
    """How a claim about mechanisms is judged of one of them."""
    return lambda results: judge(results, mechanism)


def of_each_form(name: str, text: str, judge: Callable[[Results, str], Verdict]) -> list[Claim]:
    """A claim about NPQM, judged of each of its forms on a line of its own."""
    return [
        Claim(
            f"{name}-{form}",
            f"{text}: NPQM {'mended' if form == 'mended' else f'as {form}'}",
            of_mechanism(mechanism, judge),
        )
        for form, mechanism in NPQM_FORMS.items()
    ]
