"""The paper's claims about the budget, judged from rounds: what was expected to be paid, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.experiments.results import Results, Sample
from pdqs.experiments.verdicts import NOT_RUN, Verdict, graded, points, samples_at


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Overruns:
    """Shares of ``rounds`` in which expected payments, and payments made, passed the budget; the worst expected."""

    rounds: int
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


def _samples(results: Results, mechanisms: tuple[str, ...]) -> list[Sample]:
    """The rounds of each mechanism by point, wherever it was run and answered."""
    return [
        sample
        for point in points(results)
        for mechanism in mechanisms
        for sample in samples_at(results, point, (mechanism,)).values()
    ]


def overruns_of(results: Results, *mechanisms: str) -> Overruns | None:
    """How often these mechanisms pass the budget; nothing where they were not run."""
    found = _samples(results, mechanisms)
    if not found:
        return None
    expected, made = (np.concatenate([each[money] / each["budget"] for each in found]) for money in ("spent", "paid"))
    return Overruns(
        rounds=expected.size,
        expected=float((expected > 1.0).mean()),
        made=float((made > 1.0).mean()),
        worst=float(expected.max()),
    )


def are_rare(results: Results, npqm: str) -> Verdict:
    """NPQM seldom pays more than the budget."""
    found = overruns_of(results, npqm)
    return NOT_RUN if found is None else graded(1.0 - found.made, found.said, holds=0.95, in_part=0.80)


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
