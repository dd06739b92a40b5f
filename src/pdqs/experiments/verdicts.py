"""How a claim is judged: points, shares of points, and the verdicts they give.

A *point* is one population, kind of query and budget. A claim about most or all points *holds* from ``HOLDS`` of them,
holds *in part* from ``IN_PART`` of them, and does not hold below; each verdict comes with the number that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from pdqs.experiments.results import Results, Sample

HOLDS, IN_PART = 0.95, 0.5
FIVE = ("npqm", "gpqm-linear", "gpqm-exp", "gpqm-log", "fairquery")
NPQM_FORMS = {"printed": "npqm", "released": "npqm-released"}
MAIN = ("count", "median")
MIDDLE, LATE = 0.5, 0.9


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
    """The mechanisms' rounds at a point; empty unless all were run."""
    experiment, population, kind, level = point
    found = {name: results.at(experiment, population, kind, name, level) for name in mechanisms}
    return {name: sample for name, sample in found.items() if sample is not None} if all(found.values()) else {}


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
        found = samples_at(results, point, mechanisms) if where.least <= point[3] <= where.most else {}
        if found:
            total += 1
            met += wins({name: sample.mean_error for name, sample in found.items()})
    return met, total


def lowest(name: str) -> Callable[[dict[str, float]], bool]:
    """Whether this mechanism's error is the lowest; a tie is no defeat."""
    return lambda errors: errors[name] <= min(errors.values())


def both_forms(judge: Callable[[Results, str], Verdict]) -> Callable[[Results], Verdict]:
    """A claim about NPQM, judged of the text's form and of the released one: it holds only if it holds of both."""

    def judged(results: Results) -> Verdict:
        found = {form: judge(results, name) for form, name in NPQM_FORMS.items()}
        run = {form: verdict for form, verdict in found.items() if verdict is not NOT_RUN}
        if not run:
            return NOT_RUN
        said = {verdict.verdict for verdict in run.values()}
        number = "; ".join(f"as {form}: {verdict.number}" for form, verdict in run.items())
        return Verdict(said.pop() if len(said) == 1 else "holds in part", number)

    return judged
