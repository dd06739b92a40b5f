"""What reports to a smaller question add up to beside the plain tally, batch by batch, exact and mergeable.

Levels where prices tell nothing, buckets, and the sides of every stage; whole values need nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import final

import numpy as np

from pdqs.estimate.bucket_histograms import BucketTally, tally_buckets
from pdqs.estimate.drawn_buckets import DrawnBuckets, tally_drawn_buckets
from pdqs.estimate.level_means import LevelTally, tally_levels
from pdqs.estimate.sides import SideTally, tally_sides
from pdqs.estimate.strata import Strata
from pdqs.model.arrays import Booleans
from pdqs.model.errors import EstimateError, ensure
from pdqs.model.names import QuestionKind
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class StagedSides:
    """The tally of each stage's sides, in the order of the stages."""

    stages: tuple[SideTally, ...]

    def merged(self, other: StagedSides) -> StagedSides:
        """The tallies of both sets of owners together."""
        ensure(len(self.stages) == len(other.stages), "sides of different stages")
        both = zip(self.stages, other.stages, strict=True)
        return StagedSides(stages=tuple(ours.merged(theirs) for ours, theirs in both))

    def up_to(self, stage: int) -> SideTally:
        """All sides of the first so many stages."""
        return self._heaped[stage - 1]

    @property
    def together(self) -> SideTally:
        """The sides of all stages."""
        return self.up_to(len(self.stages))

    @cached_property
    def _heaped(self) -> tuple[SideTally, ...]:
        return tuple(accumulate(self.stages, SideTally.merged))


QuestionSums = LevelTally | BucketTally | DrawnBuckets | StagedSides


def sums_for_question(reports: Reports, offers: Offers, strata: Strata | None, p: float) -> QuestionSums | None:
    """Add up one batch; with ``strata`` for estimates with chances. ``p`` is the share that a quantile asks about."""
    arrived = reports.arrived & offers.asked
    match offers.question.kind:
        case QuestionKind.LEVEL if strata is None:
            return tally_levels(reports.codes[arrived], offers.q[arrived], offers.question.codes)
        case QuestionKind.BUCKET:
            return _buckets(reports, offers, arrived, strata)
        case QuestionKind.SIDE:
            return side_sums_of(reports, offers, p, chances=strata is not None)
        case _:
            return None


def side_sums_of(
    reports: Reports, offers: Offers, p: float, *, chances: bool, stages: int | None = None
) -> StagedSides:
    """The sides of every stage, or of the first so many, in one batch; ``chances`` count under a lottery."""
    arrived = reports.arrived & offers.asked
    if bool((early := arrived & (offers.side < 0)).any()):
        row = int(np.argmax(early)) + 1
        raise EstimateError(f"row {row}: a report from an owner whose stage, {offers.stage[row - 1]}, has not come yet")

    def tallied(stage: int) -> SideTally:
        here = arrived & (offers.stage == stage)
        drawn = offers.chance[here] if chances else None
        return tally_sides(offers.side[here], reports.codes[here], offers.q[here], p, chances=drawn)

    last = offers.question.stages if stages is None else stages
    return StagedSides(stages=tuple(tallied(stage) for stage in range(1, last + 1)))


def _buckets(reports: Reports, offers: Offers, arrived: Booleans, strata: Strata | None) -> BucketTally | DrawnBuckets:
    size, buckets = offers.domain.size, offers.question.codes
    if strata is None:
        return tally_buckets(offers.deal[arrived], reports.codes[arrived], offers.q[arrived], size, buckets)
    return tally_drawn_buckets(
        strata,
        bids=offers.bids,
        chances=offers.chance,
        q=offers.q,
        asked=offers.asked,
        seeds=offers.deal,
        reports=reports.codes,
        arrived=arrived,
        domain_size=size,
        buckets=buckets,
    )


def merged_sums(ours: QuestionSums | None, theirs: QuestionSums | None) -> QuestionSums | None:
    """Both together; both of one question."""
    if ours is None or theirs is None:
        ensure(ours is None and theirs is None, "sums of different questions")
        return None
    ensure(type(ours) is type(theirs), "sums of different questions")
    return ours.merged(theirs)  # type: ignore[arg-type]  # of one kind: made sure of
