"""A round in stages over streams: what the stages so far leave open, and the offers with the questions of the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import final

import pyarrow as pa

from pdqs.estimate.question_sums import StagedSides, side_sums_of
from pdqs.estimate.staged import by_chances, left_open, refuse_first_or_beyond, share_asked
from pdqs.rounds.stages import OpenStage, place_counts, with_sides
from pdqs.rounds.terms import Terms
from pdqs.scale import kernels
from pdqs.scale.batches import Batch
from pdqs.scale.kernels import at_most_column, merge, rows_of, write_results
from pdqs.scale.paired_rows import PairedRows
from pdqs.scale.parts import Folder
from pdqs.scale.source import Piece
from pdqs.scale.stage_passes import Passes, Places
from pdqs.scale.sums import Totals, totals_of
from pdqs.scale.threads import ordered_map


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TallyTold:
    """Add up the sides that the stages so far have told, from offers with the reports beside them."""

    rows: PairedRows

    def __call__(self, piece: Piece, threads: int) -> StagedSides:
        terms = self.rows.terms

        def add_up(pair: tuple[Batch, Batch]) -> StagedSides:
            offers, reports = self.rows.read(pair)
            return side_sums_of(reports, offers, share_asked(terms.query), chances=by_chances(terms))

        return reduce(merge, ordered_map(add_up, self.rows.of(piece), threads))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountOffered:
    """Who stands where in one stage, from offers as they were written."""

    terms: Terms
    columns: tuple[str, ...]
    stage: int

    def __call__(self, piece: Piece, threads: int) -> Places:
        def count(batch: Batch) -> Places:
            offers = batch.offers_under(self.terms)
            return Places(place_counts(offers.deal[offers.of_stage(self.stage)]))

        return reduce(merge, ordered_map(count, rows_of(piece, list(self.columns), kernels.BATCH_ROWS), threads))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowOffers:
    """The offers once more, with the sides of a stage that has opened."""

    terms: Terms
    columns: tuple[str, ...]
    opened: OpenStage
    folder: Folder

    def __call__(self, piece: Piece, threads: int) -> Totals:
        def narrow(batch: Batch) -> tuple[pa.RecordBatch, Totals]:
            offers = with_sides(batch.offers_under(self.terms), self.opened)
            place = batch.table.schema.get_field_index("at_most")
            made = batch.table.set_column(place, "at_most", at_most_column(offers))
            return made, totals_of(replace(offers, budget_micros=self.terms.budget_micros))

        done = ordered_map(narrow, rows_of(piece, list(self.columns), kernels.BATCH_ROWS), threads)
        return write_results(piece, done, self.folder)


def next_stage(rows: PairedRows, stage: int, reduced: Passes) -> OpenStage:
    """What the stage after ``stage`` is asked about: two passes, over reports and over who is asked."""
    terms, following = rows.terms, stage + 1
    refuse_first_or_beyond(following, terms)
    told = reduced(f"stage {stage}", TallyTold(rows=replace(rows, stage=stage)))
    left = left_open(told, stage, terms, lottery=by_chances(terms))
    counts = reduced("placing", CountOffered(terms=terms, columns=rows.columns, stage=following)).counts
    return OpenStage(following, left, counts)
