"""The paper's claims about the budget, judged from rounds: what was expected to be paid, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import SHIFTS, SQUASHED
from pdqs.experiments.verdicts import MAIN, NOT_RUN, Verdict, graded, points, samples_at

OTHER_BIDS = (*SHIFTS, *SQUASHED)
"""The set-ups (2) to (4), by both mappings: bids that are normal or unlike those of the training."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Overruns:
    """Shares of ``rounds`` in which expected payments, and payments made, passed the budget; the worst expected.

    ``over`` of ``points`` expect to pay more than the budget on average.
    """

    rounds: int
    points: int
    over: int
    expected: float
    made: float
    worst: float

    @property
    def said(self) -> str:
        """As a sentence."""
        return (
            f"expected payments pass the budget in {self.expected:.1%} of {self.rounds:,} rounds,"
            f" payments made in {self.made:.1%}"
        )


def _samples(results: Results, mechanisms: tuple[str, ...], experiments: tuple[str, ...] = MAIN) -> list[Sample]:
    """The rounds of each mechanism by point, wherever it was run and answered."""
    return [
        sample
        for point in points(results, experiments)
        for mechanism in mechanisms
        for sample in samples_at(results, point, (mechanism,)).values()
    ]


def overruns_of(results: Results, *mechanisms: str, experiments: tuple[str, ...] = MAIN) -> Overruns | None:
    """How often these mechanisms pass the budget; nothing where they were not run."""
    found = _samples(results, mechanisms, experiments)
    if not found:
        return None
    expected, made = (np.concatenate([each[money] / each["budget"] for each in found]) for money in ("spent", "paid"))
    return Overruns(
        rounds=expected.size,
        points=len(found),
        over=sum(float((each["spent"] / each["budget"]).mean()) > 1.0 for each in found),
        expected=float((expected > 1.0).mean()),
        made=float((made > 1.0).mean()),
        worst=float(expected.max()),
    )


def spending(results: Results, mechanism: str, level: float | None = None) -> str:
    """What the answers cost, at one budget or at all, in words: no accuracy is shown without it."""
    shares = [
        float((sample["spent"] / sample["budget"]).mean())
        for point in points(results)
        if level is None or point[3] == level
        for sample in samples_at(results, point, (mechanism,)).values()
    ]
    none = sum(cell.mechanism == mechanism and cell.experiment in MAIN for cell in results.unanswered)
    spent = f"it spends {np.mean(shares):.2f} budgets" if shares else "it buys nothing"
    return f"{spent} on average" + (f" and gives no answer at {none} points" if none and level is None else "")


def are_rare(results: Results, npqm: str) -> Verdict:
    """NPQM seldom pays more than the budget, on bids like those it was trained on."""
    return _rare(overruns_of(results, npqm))


def are_rare_on_other_bids(results: Results, npqm: str) -> Verdict:
    """NPQM seldom pays more than the budget where bids are normal or unlike those of its training."""
    return _rare(overruns_of(results, npqm, experiments=OTHER_BIDS))


def _rare(found: Overruns | None) -> Verdict:
    if found is None:
        return NOT_RUN
    number = (
        f"{found.said}; their mean passes it at {found.over} of {found.points} points;"
        f" {found.worst:.2f} budgets expected at worst"
    )
    return graded(1.0 - found.made, number, holds=0.95, in_part=0.80)


def gpqm_keeps_the_budget(results: Results) -> Verdict:
    """GPQM never spends more than the budget: true of expected payments; whoever is chosen is paid P/q."""
    return _never(overruns_of(results, "gpqm-linear", "gpqm-exp", "gpqm-log"), in_part=1.0)


def keeps_budget(results: Results, mechanism: str) -> Verdict:
    """No round passes the budget; in part if expected payments do so in one round of twenty at most."""
    return _never(overruns_of(results, mechanism), in_part=0.95)


def _never(found: Overruns | None, *, in_part: float) -> Verdict:
    if found is None:
        return NOT_RUN
    number = found.said + (f", {found.worst:.2f} times at worst as expected" if found.expected else "")
    within = 1.0 - max(found.expected, found.made)
    return (
        Verdict("holds", number) if within == 1.0 else graded(1.0 - found.expected, number, holds=2.0, in_part=in_part)
    )


def cured_by_another_run(results: Results, npqm: str) -> Verdict:
    """An overrun is resolved by running again: with new bids and coins, if some round of a hundred keeps the budget."""
    found = _samples(results, (npqm,))
    over = np.array([float((each["paid"] > each["budget"]).mean()) for each in found])
    overrun, cured = int((over > 0).sum()), int(((over > 0) & (over <= 0.5)).sum())
    if not overrun:
        return Verdict("holds", "0 overruns to cure") if found else NOT_RUN
    number = (
        f"of {overrun} points with an overrun, running again is likely to cure it (at most half overrun) at {cured}"
    )
    return graded(cured / overrun, number)
