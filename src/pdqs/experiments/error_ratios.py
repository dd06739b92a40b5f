"""How much smaller the errors of our forms are, as ratios with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.experiments.results import Ratio, Results, Sample, geometric_ratio
from pdqs.experiments.setups import NPQM
from pdqs.experiments.verdicts import MAIN, MIDDLE, Point, points, samples_at

AT_BUDGET, AT_SPENDING = "budget", "spending"
"""Ours is given the same budget, or as much money as theirs truly spends (rounded down to a budget of the plan)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How many times smaller the error of ``ours`` is than that of ``theirs`` at one budget of theirs.

    ``ratio`` is the geometric mean over ``each`` population. A population whose median ``ours`` never got wrong has no
    ratio and is left out. With ``reweighted`` their reports are read by the weighted estimator too: what is then left
    of the gain is the rule's, not the estimator's. ``spent`` is what theirs spends on average, as a share of its
    budget, ``ours_spent`` what ours does, as a share of the same.
    """

    kind: str
    theirs: str
    ours: str
    at: str
    reweighted: bool
    budget: float
    spent: float
    ours_spent: float
    ratio: Ratio
    each: tuple[tuple[str, float], ...]


def gains(results: Results, budget: float = MIDDLE) -> list[Gain]:
    """The paper's mechanisms over ours, for counts and medians: as they are, at equal spending, and reweighted."""
    found = [
        _gain(results, kind, theirs, ours, budget, at=at, reweighted=reweighted)
        for kind in MAIN
        for at, reweighted in ((AT_SPENDING, False), (AT_BUDGET, False), (AT_BUDGET, True))
        for theirs in (*NPQM, "gpqm-linear", "fairquery")
        for ours in ("sound-selection", "sound")
    ]
    return [gain for gain in found if gain is not None]


def _ours_at(results: Results, point: Point, ours: str, theirs: Sample, at: str) -> Sample | None:
    """Our rounds at the same budget, or at the largest budget of the plan that is no more than theirs spends."""
    experiment, population, kind, level = point
    if at == AT_SPENDING:
        spends = level * float((theirs["spent"] / theirs["budget"]).mean())
        levels = results.plan.experiment(experiment).levels
        level = max((each for each in levels if each <= spends * (1.0 + 1e-3)), default=levels[0])
    return results.at(experiment, population, kind, ours, level)


def _gain(
    results: Results, kind: str, theirs: str, ours: str, budget: float, *, at: str, reweighted: bool
) -> Gain | None:
    pairs, spent = [], []
    for point in points(results, (kind,)):
        their = samples_at(results, point, (theirs,)).get(theirs) if point[3] == budget else None
        our = None if their is None else _ours_at(results, point, ours, their, at)
        if their is not None and our is not None and our.error.any():
            above = their.weighted_error if reweighted else their.error
            if above.any():
                pairs.append((point[1], above, our.error))
                spent.append([float((each["spent"] / their["budget"]).mean()) for each in (their, our)])
    if not pairs:
        return None
    theirs_spent, ours_spent = np.mean(spent, axis=0)
    return Gain(
        kind=kind,
        theirs=theirs,
        ours=ours,
        at=at,
        reweighted=reweighted,
        budget=budget,
        spent=float(theirs_spent),
        ours_spent=float(ours_spent),
        ratio=geometric_ratio([above for _, above, _ in pairs], [below for _, _, below in pairs], results.plan.seed),
        each=tuple((name, float(above.mean() / below.mean())) for name, above, below in pairs),
    )
