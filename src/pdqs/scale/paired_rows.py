"""Offers and reports in two places, row beside row: an answer and what is now due, without a join.

Reports must be in the order of the offers, which is how a market that sends them out and takes them in holds them; a
report that did not arrive is null. Every owner's id is compared, so rows that slipped are found and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pdqs.estimate.evidence import Evidence, evidence_of
from pdqs.estimate.staged import share_asked, up_to_stage
from pdqs.estimate.strata import Strata
from pdqs.model.errors import InputError, RowError
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms
from pdqs.scale.batches import Batch
from pdqs.scale.kernels import BATCH_ROWS, merge, rows_of, write_results
from pdqs.scale.parts import Folder
from pdqs.scale.source import Piece, Source, batches
from pdqs.scale.sums import Totals, totals_of
from pdqs.scale.threads import ordered_map
from pdqs.tables.round_files import REPORT_COLUMNS


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Reports added up, and what is paid for them."""

    evidence: Evidence
    paid_micros: int

    def merged(self, other: Due) -> Due:
        """Both sets of owners together."""
        return Due(evidence=self.evidence.merged(other.evidence), paid_micros=self.paid_micros + other.paid_micros)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AddUpOffers:
    """What the offers come to: known before any report is."""

    terms: Terms
    columns: tuple[str, ...]

    def __call__(self, piece: Piece, threads: int) -> Totals:
        def add_up(batch: Batch) -> Totals:
            offers = batch.offers_under(self.terms)
            return totals_of(replace(offers, budget_micros=self.terms.budget_micros))

        return reduce(merge, ordered_map(add_up, rows_of(piece, list(self.columns), BATCH_ROWS), threads))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRows:
    """Offers, of these columns, with the reports beside them; with ``stage``, those of the stages up to it."""

    terms: Terms
    columns: tuple[str, ...]
    reports: Source
    stage: int | None = None

    def of(self, piece: Piece) -> Iterator[tuple[Batch, Batch]]:
        """Each batch of offers with the same rows of the reports."""
        beside = replace(piece, path=self.reports.location, first_row_in_file=piece.first_row)
        stream = _between(self.reports, REPORT_COLUMNS, piece.first_row, piece.rows)
        held = next(stream)
        for start, table in batches(piece, self.columns, BATCH_ROWS):
            while held.num_rows < table.num_rows:
                held = pa.concat_tables([held, next(stream)])
            same_rows = held.slice(0, table.num_rows).combine_chunks().to_batches()[0]
            yield Batch(piece, start, table), Batch(beside, start, same_rows)
            held = held.slice(table.num_rows)

    def read(self, batch: tuple[Batch, Batch]) -> tuple[Offers, Reports]:
        """A pair parsed; rows of different owners are refused."""
        offered, reported = batch
        _refuse_slipped(offered, reported)
        offers = offered.offers_under(self.terms)
        reports = reported.reports(REPORT_COLUMNS[1], offers.question.answers)
        return up_to_stage(offers, reports, self.terms, self.stage)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOffers:
    """Tally and settle a piece of the offers with the reports beside them; parts of owner, paid where a folder is."""

    rows: PairedRows
    strata: Strata | None
    folder: Folder | None

    def __call__(self, piece: Piece, threads: int) -> Due:
        terms = self.rows.terms

        def work(pair: tuple[Batch, Batch]) -> tuple[pa.Table, Due]:
            offered, reported = pair
            offers, reports = self.rows.read(pair)
            if self.strata is not None:
                reported.refuse_unasked(offers, reports, REPORT_COLUMNS[1])
            sums = evidence_of(reports, offers, self.strata, p=share_asked(terms.query))
            if self.folder is None:
                return None, Due(evidence=sums, paid_micros=0)
            payments = settle(replace(offers, budget_micros=terms.budget_micros), reports, terms)
            made = {"owner": offered.table.column("owner"), "paid": pa.array(payments.amounts)}
            return pa.RecordBatch.from_pydict(made), Due(evidence=sums, paid_micros=payments.total_micros)

        done = ordered_map(work, self.rows.of(piece), threads)
        if self.folder is not None:
            return write_results(piece, done, self.folder)
        return reduce(merge, (due for _, due in done))


def refuse_other_lengths(offers: Source, reports: Source) -> None:
    """Rows stand beside each other only if there are as many of both."""
    if offers.rows != reports.rows:
        raise InputError(
            f"{reports.location}: {reports.rows:,} reports for {offers.rows:,} offers: a stream needs a row for every"
            " offer, in the same order, with null for a report that did not arrive"
        )


def _between(source: Source, columns: Sequence[str], first: int, rows: int) -> Iterator[pa.RecordBatch]:
    """The rows from ``first`` on, as tables, from whichever pieces hold them."""
    last = first + rows
    for piece in source.pieces:
        if piece.first_row >= last or piece.first_row + piece.rows <= first:
            continue
        for start, batch in batches(piece, columns, BATCH_ROWS):
            begin, end = (min(max(at - piece.first_row - start, 0), batch.num_rows) for at in (first, last))
            if begin < end:
                yield pa.Table.from_batches([batch.slice(begin, end - begin)])


def _refuse_slipped(offered: Batch, reported: Batch) -> None:
    ids, others = offered.table.column("owner"), reported.table.column("owner")
    if ids.type != others.type:
        ids, others = ids.cast(pa.string()), others.cast(pa.string())
    if not ids.equals(others):
        row = int(np.argmin(np.asarray(pc.fill_null(pc.equal(ids, others), False))))
        with reported.rows_named():
            fault = f"{others[row].as_py()!r} stands beside the offer to {ids[row].as_py()!r}: sort both alike"
            raise RowError(row + 1, "owner", fault)
