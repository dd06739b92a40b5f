"""The passes that sides in stages need: how many owners stand where, and what the stages before leave open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol, final

import numpy as np

from pdqs.estimate.question_sums import StagedSides, side_sums_of
from pdqs.estimate.staged import by_chances, left_open, share_asked
from pdqs.model.arrays import Integers
from pdqs.model.names import QuestionKind
from pdqs.privacy.owner_entropy import OwnerEntropy
from pdqs.rounds.reports import drawn_reports
from pdqs.rounds.stages import OpenStage, place_counts, whole_domain
from pdqs.scale import kernels
from pdqs.scale.batches import Batch
from pdqs.scale.kernels import Kernel, Pricing, Sum, merge, rows_of
from pdqs.scale.source import Piece
from pdqs.scale.threads import ordered_map


class Passes(Protocol):
    """Passes over all rows: each has a name, and something done to every piece."""

    def __call__(self, stage: str, kernel: Kernel[Sum]) -> Sum: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """How many of the asked have their public words in each bin, a row a stage."""

    counts: Integers

    def merged(self, other: Places) -> Places:
        """Both sets of owners together."""
        return Places(self.counts + other.counts)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountPlaces:
    """Who stands where in each stage: known as soon as it is known who is asked."""

    pricing: Pricing

    def __call__(self, piece: Piece, threads: int) -> Places:
        stages = range(1, self.pricing.terms.asking.stages + 1)

        def count(batch: Batch) -> Places:
            offers = self.pricing(batch)
            return Places(np.stack([place_counts(offers.deal[offers.of_stage(stage)]) for stage in stages]))

        return reduce(merge, ordered_map(count, _bids(piece, self.pricing), threads))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TallySides:
    """Simulate the stages that are open so far, and add up what they say."""

    pricing: Pricing
    seed: int

    def __call__(self, piece: Piece, threads: int) -> StagedSides:
        terms, names = self.pricing.terms, self.pricing.names

        def add_up(batch: Batch) -> StagedSides:
            offers = self.pricing(batch)
            entropy = OwnerEntropy(self.seed, batch.numbers(names.owner))
            reports = drawn_reports(batch.codes(names.value, offers.domain), offers, entropy)
            return side_sums_of(reports, offers, share_asked(terms.query), chances=by_chances(terms))

        found = ordered_map(add_up, rows_of(piece, names.bidding(names.value), kernels.BATCH_ROWS), threads)
        return reduce(merge, found)


def first_stage(pricing: Pricing, reduced: Passes) -> Pricing:
    """Pricing that knows the questions of the first stage; as it is where there are no sides."""
    if pricing.terms.asking.kind != QuestionKind.SIDE:
        return pricing
    counts = reduced("placing", CountPlaces(pricing=pricing)).counts
    return replace(pricing, stages=(OpenStage(1, whole_domain(pricing.terms.asking), counts[0]),))


def all_stages(pricing: Pricing, seed: int, reduced: Passes) -> Pricing:
    """Pricing that knows the questions of every stage, each narrowed by what those before it said: a pass a stage."""
    terms = pricing.terms
    if terms.asking.kind != QuestionKind.SIDE:
        return pricing
    counts = reduced("placing", CountPlaces(pricing=pricing)).counts
    known = replace(pricing, stages=(OpenStage(1, whole_domain(terms.asking), counts[0]),))
    for stage in range(2, terms.asking.stages + 1):
        sums = reduced(f"stage {stage - 1}", TallySides(pricing=known, seed=seed))
        left = left_open(sums, stage - 1, terms, lottery=by_chances(terms))
        known = replace(known, stages=(*known.stages, OpenStage(stage, left, counts[stage - 1])))
    return known


def _bids(piece: Piece, pricing: Pricing) -> Iterator[Batch]:
    return rows_of(piece, pricing.names.bidding(), kernels.BATCH_ROWS)
