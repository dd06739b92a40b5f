"""How much smaller the errors of the sound forms are, as ratios with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pdqs.experiments.results import Ratio, Results, geometric_ratio
from pdqs.experiments.verdicts import MAIN, MIDDLE, points, samples_at


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How many times smaller the error of ``ours`` is than that of ``theirs`` at one budget.

    ``ratio`` is the geometric mean over ``each`` population. A population whose median ``ours`` never got wrong has no
    ratio and is left out. With ``reweighted`` their reports are read by the weighted estimator too: what is then left
    of the gain is the rule's, not the estimator's. ``spent`` is what theirs spends on average, as a share of the budget
    that ours keeps to.
    """

    kind: str
    theirs: str
    ours: str
    reweighted: bool
    budget: float
    spent: float
    ratio: Ratio
    each: tuple[tuple[str, float], ...]


def gains(results: Results, budget: float = MIDDLE) -> list[Gain]:
    """The paper's mechanisms over the sound ones, for counts and medians, as they are and reweighted."""
    found = [
        _gain(results, kind, theirs, ours, budget, reweighted=reweighted)
        for kind in MAIN
        for reweighted in (False, True)
        for theirs in ("npqm", "npqm-released", "gpqm-linear", "fairquery")
        for ours in ("sound-selection", "sound")
    ]
    return [gain for gain in found if gain is not None]


def _gain(results: Results, kind: str, theirs: str, ours: str, budget: float, *, reweighted: bool) -> Gain | None:
    pairs, spent = [], []
    for point in points(results, (kind,)):
        pair = samples_at(results, point, (theirs, ours)) if point[3] == budget else {}
        if pair and pair[ours].error.any():
            above = pair[theirs].weighted_error if reweighted else pair[theirs].error
            if above.any():
                pairs.append((point[1], above, pair[ours].error))
                spent.append(float((pair[theirs]["spent"] / pair[theirs]["budget"]).mean()))
    if not pairs:
        return None
    return Gain(
        kind=kind,
        theirs=theirs,
        ours=ours,
        reweighted=reweighted,
        budget=budget,
        spent=sum(spent) / len(spent),
        ratio=geometric_ratio([above for _, above, _ in pairs], [below for _, _, below in pairs], results.plan.seed),
        each=tuple((name, float(above.mean() / below.mean())) for name, above, below in pairs),
    )
