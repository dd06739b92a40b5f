"""How much smaller the errors of our forms are, as ratios with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.experiments.results import Blend, Ratio, Results, Sample, geometric_ratio, ratio_of_means
from pdqs.experiments.setups import NPQM, Cell
from pdqs.experiments.verdicts import MAIN, MIDDLE, Point, points
from pdqs.model.arrays import Floats

AT_BUDGET, AT_SPENDING = "budget", "spending"
"""Ours is given the same budget, or read at what theirs truly spends: between the two budgets of the plan that spend
just less and just more, the logarithm of the error taken to be a straight line in that of the spending."""

OURS = ("sound-selection", "sound", "honest")

NO_ANSWER, NEVER_WRONG, TOO_LITTLE = "no answer", "never wrong", "spends too little"
"""Why a population has no ratio: theirs gave no answer, an error is nought, no budget of the plan spends as little."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How many times smaller the error of ``ours`` is than that of ``theirs`` at one budget of theirs.

    ``ratio`` is the geometric mean over ``each`` population, nothing where there is none; ``left_out`` says which have
    no ratio and why. With ``reweighted`` their reports are read by the weighted estimator too: what is then left of
    the gain is the rule's, not the estimator's. ``spent`` is what theirs spends on average, as a share of its budget,
    ``ours_spent`` what ours does, as a share of the same; of the populations that have a ratio.
    """

    kind: str
    theirs: str
    ours: str
    at: str
    reweighted: bool
    budget: float
    spent: float
    ours_spent: float
    ratio: Ratio | None
    each: tuple[tuple[str, float], ...]
    left_out: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Errors of theirs and of ours on one population, and what each spends of the budget of theirs."""

    population: str
    above: Floats
    below: Blend
    spent: float
    ours_spent: float


def gains(results: Results, budget: float = MIDDLE) -> list[Gain]:
    """The paper's mechanisms over ours, for counts and medians: as they are, at equal spending, and reweighted."""
    found = [
        _gain(results, kind, theirs, ours, budget, at=at, reweighted=reweighted)
        for kind in MAIN
        for at, reweighted in ((AT_SPENDING, False), (AT_BUDGET, False), (AT_BUDGET, True))
        for theirs in (*NPQM, "gpqm-linear", "fairquery")
        for ours in OURS
    ]
    return [gain for gain in found if gain.each or gain.left_out]


def _spent_of(sample: Sample, budget: Floats) -> float:
    return float((sample["spent"] / budget).mean())


def _at_spending(results: Results, point: Point, ours: str, spent: float) -> list[tuple[float, Sample]]:
    """Our rounds at the budgets around that spending (a share of n), with their weights; none where all spend more.

    Where theirs spends more than ours does at any budget, ours is read at its largest: it then has less money.
    """
    experiment, population, kind, _ = point
    levels = results.plan.experiment(experiment).levels
    found = [sample for level in levels if (sample := results.at(experiment, population, kind, ours, level))]
    by_spending = sorted(((_spent_of(sample, sample["owners"]), sample) for sample in found), key=lambda each: each[0])
    less = [each for each in by_spending if each[0] <= spent]
    more = [each for each in by_spending if each[0] > spent]
    if not less or not more:
        return [(1.0, less[-1][1])] if less else []
    (low, lower), (high, higher) = less[-1], more[0]
    weight = math.log(spent / low) / math.log(high / low)
    return [(1.0 - weight, lower), (weight, higher)]


def _pair(results: Results, point: Point, theirs: str, ours: str, at: str, *, reweighted: bool) -> _Pair | str | None:
    """The two sides of a ratio, or why there is none; nothing where the cells were not run."""
    experiment, population, kind, level = point
    if Cell(experiment, population, kind, theirs, level) in results.unanswered:
        return NO_ANSWER
    their, same = (results.at(experiment, population, kind, name, level) for name in (theirs, ours))
    if their is None or same is None:
        return None
    if at == AT_SPENDING:
        blend = _at_spending(results, point, ours, _spent_of(their, their["owners"]))
    else:
        blend = [(1.0, same)]
    if not blend:
        return TOO_LITTLE
    above = their.weighted_error if reweighted else their.error
    if not above.any() or not all(sample.error.any() for weight, sample in blend if weight):
        return NEVER_WRONG
    return _Pair(
        population=population,
        above=above,
        below=tuple((weight, sample.error) for weight, sample in blend),
        spent=_spent_of(their, their["budget"]),
        ours_spent=math.exp(sum(weight * math.log(_spent_of(sample, their["budget"])) for weight, sample in blend)),
    )


def _gain(results: Results, kind: str, theirs: str, ours: str, budget: float, *, at: str, reweighted: bool) -> Gain:
    found = {
        point[1]: _pair(results, point, theirs, ours, at, reweighted=reweighted)
        for point in points(results, (kind,))
        if point[3] == budget
    }
    pairs = [pair for pair in found.values() if isinstance(pair, _Pair)]
    spent, ours_spent = (
        np.mean([(each.spent, each.ours_spent) for each in pairs], axis=0) if pairs else (math.nan, math.nan)
    )
    above, below = [each.above for each in pairs], [each.below for each in pairs]
    return Gain(
        kind=kind,
        theirs=theirs,
        ours=ours,
        at=at,
        reweighted=reweighted,
        budget=budget,
        spent=float(spent),
        ours_spent=float(ours_spent),
        ratio=geometric_ratio(above, below, results.plan.seed) if pairs else None,
        each=tuple((each.population, ratio_of_means(each.above, each.below)) for each in pairs),
        left_out=tuple((name, why) for name, why in found.items() if isinstance(why, str)),
    )
