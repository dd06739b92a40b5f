"""A quantile from sides, stage by stage: what each stage leaves open, and what the next is asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from pdqs.estimate.evidence import Evidence
from pdqs.estimate.guarded import relaxed
from pdqs.estimate.level import z_of
from pdqs.estimate.question_sums import StagedSides, side_sums_of
from pdqs.estimate.readings import Cdf, Reading
from pdqs.estimate.side_intervals import WINDOW_REACH, Cheats, answer_reach, point, window
from pdqs.estimate.sides import SideTally, side_sums
from pdqs.model.arrays import Floats
from pdqs.model.checks import shown
from pdqs.model.errors import EstimateError, InputError, ensure
from pdqs.model.names import EstimatorName
from pdqs.model.query import Median, Quantile, Query
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.stages import OpenStage, Window, place_counts, whole_domain, with_sides
from pdqs.rounds.terms import Terms

_USUAL = 0.95
_POINTS = 16
"""So many points of the cumulative shares are shown: each from a sixteenth of what was told."""


def share_asked(query: Query) -> float:
    """The p of a quantile, and one half where none is asked for."""
    return float(query.p) if isinstance(query, Median | Quantile) else 0.5


def left_before(offers: Offers, reports: Reports, terms: Terms, stage: int) -> Window:
    """The codes that the reports of the stages before this one have not ruled out."""
    refuse_first_or_beyond(stage, terms)
    before = reports.only(offers.stage < stage)
    lottery = by_chances(terms)
    sums = side_sums_of(before, offers, share_asked(terms.query), chances=lottery, stages=stage - 1)
    return left_open(sums, stage - 1, terms, lottery=lottery)


def narrowed(offers: Offers, reports: Reports, terms: Terms, stage: int) -> Offers:
    """The offers with the sides of this stage, spread over what the reports of those before it leave open."""
    left = left_before(offers, reports, terms, stage)
    return with_sides(offers, OpenStage(stage, left, place_counts(offers.deal[offers.of_stage(stage)])))


def refuse_first_or_beyond(stage: int, terms: Terms) -> None:
    """Only a stage after the first is narrowed down to."""
    if not 2 <= stage <= terms.asking.stages:
        raise InputError(f"there are stages 2 to {terms.asking.stages} to narrow down here, not {shown(stage)}")


def by_chances(terms: Terms) -> bool:
    """Whether sides are weighted by the chances of a lottery."""
    return terms.estimator == EstimatorName.UNBIASED


def up_to_stage(offers: Offers, reports: Reports, terms: Terms, stage: int | None) -> tuple[Offers, Reports]:
    """Offers and reports as they stood when a stage had come to its end; None is the last."""
    if stage is None:
        return offers, reports
    if not 1 <= stage <= terms.asking.stages:
        raise EstimateError(f"there are stages 1 to {terms.asking.stages} here, not {shown(stage)}")
    later = offers.stage > stage
    return replace(offers, side=np.where(later, -1, offers.side)), reports.only(~later)


def in_stages(offers: Offers, terms: Terms, asked: Callable[[Offers], Reports]) -> tuple[Offers, Reports]:
    """All stages in turn: the offers with every side, and the reports. ``asked`` gives those of all whose question is
    known, of which each stage keeps its own; without stages it is called once."""
    reports = asked(offers)
    if terms.asking.stages > 1:
        reports = reports.only(offers.stage == 1)
    for stage in range(2, terms.asking.stages + 1):
        offers = narrowed(offers, reports, terms, stage)
        reports = reports.joined(asked(offers).only(offers.stage == stage))
    return offers, reports


def left_open(sums: StagedSides, after: int, terms: Terms, *, lottery: bool) -> Window:
    """The codes that so many stages have not ruled out: where the next one asks."""
    if not after:
        return whole_domain(terms.asking)
    return window(sums.up_to(after), terms.domain_size, WINDOW_REACH, lottery=lottery)


def read_sides(evidence: Evidence, terms: Terms, level: float) -> Reading:
    """The smallest value that at least a share p of owners do not exceed.

    The reaches of section 10 are for 95 %; others are scaled as those of the normal law. Under a lottery the interval
    is the hull of the two cases of :mod:`pdqs.estimate.guarded`, each with the test moved by its gap. The value is the
    point, brought into the interval where two ends that crossed left it outside. The standard error is that of an
    interval as wide under the normal law: half-width / z.
    """
    moved = MovedSides(evidence=evidence, terms=terms, level=level)
    low, high = (float(end) for end in moved.at(0.0))
    tally, lottery = moved.tally, evidence.by_price is not None
    code = point(tally, terms.domain_size, lottery=lottery)
    value = _number(terms, code)
    value = min(max(value, low), high)
    sums = side_sums(tally)
    return Reading(
        value=value,
        raw=value,
        interval=(low, high),
        simultaneous=(low, high),
        standard_error=0.5 * (high - low) / z_of(level),
        widening=moved,
        slack=answer_reach(lottery=lottery) * float(np.sqrt(sums.variance.sum()) / sums.weight.sum()),
    )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class MovedSides:
    """The interval from sides when a share of the weight is in the hands of cheats, who may all have been asked about
    neighbouring values."""

    evidence: Evidence
    terms: Terms
    level: float

    @property
    def tally(self) -> SideTally:
        """The sides of all stages."""
        sums = self.evidence.sums
        assert isinstance(sums, StagedSides), "a quantile from sides is read from their sums"
        return sums.together

    def at(self, share: float) -> Floats:
        q = self.evidence.least_q
        cheats = Cheats(share, (1.0 + q) / (2.0 * q))  # a report made right is at most so far from any share
        ends = [self._window(level, gap, cheats) for level, gap in self._cases()]
        low, high = min(each.low for each in ends), max(each.high for each in ends)
        return np.array([_number(self.terms, low), _number(self.terms, high)])

    def cdf(self) -> Cdf:
        """The cumulative shares at the values asked about, a few neighbours together, made monotone; and what was left
        open after each stage."""
        from scipy.optimize import isotonic_regression  # a slow import, needed by pictures only

        sums, tally = side_sums(self.tally), self.tally
        heaped = np.cumsum(sums.variance) / max(float(sums.variance.sum()), 1e-300)
        starts = np.unique(np.searchsorted(heaped, np.arange(_POINTS) / _POINTS))
        first, weight, variance = (np.add.reduceat(x, starts) for x in (sums.first, sums.weight, sums.variance))
        codes = np.add.reduceat(sums.weight * tally.thresholds, starts) / weight
        share, half = tally.p + first / weight, z_of(self.level) * np.sqrt(variance) / weight
        seen = stages_seen(self.evidence, self.terms)
        return Cdf(
            numbers=self.terms.domain.start + self.terms.domain.step * codes,
            share=np.clip(isotonic_regression(share, weights=weight).x, 0.0, 1.0),
            low=np.clip(share - half, 0.0, 1.0),
            high=np.clip(share + half, 0.0, 1.0),
            p=tally.p,
            windows=tuple((each.left_from, each.left_to) for each in seen),
        )

    def _cases(self) -> list[tuple[float, float]]:
        """The level and the gap of each of the two cases of :mod:`pdqs.estimate.guarded`; one without a lottery."""
        if self.evidence.by_price is None:
            return [(self.level, 0.0)]
        drawn = self.evidence.drawn
        return [(self.level, drawn.barred), (relaxed(self.level, drawn.unheard), drawn.gap)]

    def _window(self, level: float, gap: float, cheats: Cheats) -> Window:
        lottery = self.evidence.by_price is not None
        reach = answer_reach(lottery=lottery) * z_of(level) / z_of(_USUAL)
        return window(self.tally, self.terms.domain_size, reach, lottery=lottery, gap=gap, cheats=cheats)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StageSeen:
    """One stage: how many sides were told, between which values they were asked, and which are left open after it."""

    stage: int
    reports: int
    asked_from: float
    asked_to: float
    left_from: float
    left_to: float

    def __str__(self) -> str:
        if not self.reports:
            return "no reports"
        reports = f"{self.reports:,} report{'s' * (self.reports != 1)}"
        asked = f"{reports} about {self.asked_from:,.6g} to {self.asked_to:,.6g}"
        return f"{asked}; leaves {self.left_from:,.6g} to {self.left_to:,.6g} open"


def stages_seen(evidence: Evidence, terms: Terms) -> tuple[StageSeen, ...]:
    """What each stage that was heard from asked and excluded; none where sides were not asked."""
    sums = evidence.sums
    if not isinstance(sums, StagedSides):
        return ()
    seen = []
    for stage, tally in enumerate(sums.stages, start=1):
        if not tally.reports:
            continue
        left = left_open(sums, stage, terms, lottery=evidence.by_price is not None)
        ends = int(tally.thresholds[0]), int(tally.thresholds[-1]), left.low, left.high
        asked_from, asked_to, left_from, left_to = (_number(terms, end) for end in ends)
        seen.append(
            StageSeen(
                stage=stage,
                reports=tally.reports,
                asked_from=asked_from,
                asked_to=asked_to,
                left_from=left_from,
                left_to=left_to,
            )
        )
    return tuple(seen)


def _number(terms: Terms, code: int) -> float:
    ensure(0 <= code < terms.domain_size, "a code outside the domain")
    return terms.domain.start + terms.domain.step * code
