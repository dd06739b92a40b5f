"""What is done to one piece: the core's functions on its batches, and nothing of their mathematics again.

Each kernel is a frozen description that can be sent to another machine, and a call from a piece to something mergeable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, Self, TypeVar, final

import numpy as np
import pyarrow as pa

from pdqs.clearing import drawn_offers, word_read
from pdqs.clearing.fixed import clear_openly
from pdqs.clearing.ladder import Calibration, apply
from pdqs.clearing.lottery import LotteryCalibration, apply_lottery, summarise_lottery
from pdqs.clearing.lottery.summaries import LotterySummary
from pdqs.clearing.summaries import BidSummary, summarise
from pdqs.estimate.evidence import Evidence, evidence_of
from pdqs.estimate.staged import share_asked
from pdqs.estimate.strata import Strata
from pdqs.model.arrays import Floats, Words
from pdqs.model.errors import TermsError
from pdqs.pricing.rules import ReadsBids
from pdqs.privacy.owner_entropy import OwnerEntropy
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports, drawn_reports
from pdqs.rounds.settlement import settle
from pdqs.rounds.stages import OpenStage, with_sides, with_words
from pdqs.rounds.terms import Terms
from pdqs.scale.batches import Batch
from pdqs.scale.parts import Folder
from pdqs.scale.source import Piece, batches
from pdqs.scale.sums import Totals, TradeSums, totals_of
from pdqs.scale.threads import ordered_map
from pdqs.tables.question_files import COLUMNS

BATCH_ROWS = 2**18
"""Rows worked on at once by a thread: some 40 MB with everything made from them."""

_SUMMARY_ROWS = 2**20  # counting needs little memory a row, and merging two histograms costs as much as 10^5 rows


class Mergeable(Protocol):
    """Something that adds up, in any order."""

    def merged(self, other: Self) -> Self: ...


Sum = TypeVar("Sum", bound=Mergeable)
Sum_co = TypeVar("Sum_co", bound=Mergeable, covariant=True)


class Kernel(Protocol[Sum_co]):
    """Work on one piece, spread over so many threads."""

    def __call__(self, piece: Piece, threads: int) -> Sum_co: ...


def merge(left: Sum, right: Sum) -> Sum:
    """Both together."""
    return left.merged(right)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the columns are called. ``owner`` is None where there is no column of ids."""

    owner: str | None = "owner"
    bid: str = "bid"
    value: str = "value"
    q: str = "q"
    report: str = "report"
    chance: str = "chance"

    def bidding(self, *more: str) -> list[str]:
        """The columns of owners and bids, and of what else is wanted."""
        return [*([self.owner] if self.owner else []), self.bid, *more]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRows:
    """Bids and the public words that clearing reads beside them, batch by batch.

    ``key`` is that of the public draws (:func:`pdqs.privacy.draws.draw_key`).
    """

    terms: Terms
    names: Names
    key: int

    def summarised(
        self, piece: Piece, threads: int, summarise_part: Callable[[Floats, Words, float, float], Sum]
    ) -> Sum:
        """The summary of a piece: the first pass."""
        low, high = self.terms.setting.low, self.terms.setting.high

        def count(batch: Batch) -> Sum:
            return summarise_part(batch.bids(self.names.bid, self.terms), self.words(batch), low, high)

        return reduce(merge, ordered_map(count, rows_of(piece, self.names.bidding(), _SUMMARY_ROWS), threads))

    def words(self, batch: Batch) -> Words:
        """The words of a batch."""
        return batch.draws(self.names.owner, self.key, word_read(self.terms))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountBids:
    """Summarise the market of a ladder."""

    rows: DrawnRows

    def __call__(self, piece: Piece, threads: int) -> BidSummary:
        return self.rows.summarised(piece, threads, summarise)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountDrawnBids:
    """Summarise a lottery."""

    rows: DrawnRows

    def __call__(self, piece: Piece, threads: int) -> LotterySummary:
        return self.rows.summarised(piece, threads, summarise_lottery)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """Bids to offers, batch by batch: apply a calibration, or a fixed curve that needs none. ``stages`` are those whose
    questions are known."""

    rows: DrawnRows
    calibration: Calibration | LotteryCalibration | None
    stages: tuple[OpenStage, ...] = ()

    @property
    def terms(self) -> Terms:
        """The terms of the round."""
        return self.rows.terms

    @property
    def names(self) -> Names:
        """What the columns are called."""
        return self.rows.names

    def __call__(self, batch: Batch) -> Offers:
        offers = with_words(self._priced(batch), lambda word: batch.draws(self.names.owner, self.rows.key, word))
        return reduce(with_sides, self.stages, offers)

    def _priced(self, batch: Batch) -> Offers:
        bids = batch.bids(self.names.bid, self.terms)
        if self.calibration is None:
            return clear_openly(bids, self.terms)
        words = self.rows.words(batch)
        if isinstance(self.calibration, Calibration):
            return apply(bids, words, self.calibration, self.terms)
        return drawn_offers(bids, words, apply_lottery(bids, words, self.calibration), self.terms)


def refuse_unstreamable(terms: Terms) -> None:
    """Only what needs no look at all bids at once can be streamed."""
    if not terms.clearing_facts.streams or isinstance(terms.bound_rule, ReadsBids):
        raise TermsError(
            f"clearing {terms.clearing!r} with rule {terms.rule_name!r} looks at all bids together, which a stream"
            " cannot: use clearing 'ladder', or a file that fits in memory"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBids:
    """Apply: bids in, a part of offers out."""

    pricing: Pricing
    folder: Folder

    def __call__(self, piece: Piece, threads: int) -> Totals:
        names = self.pricing.names

        def price(batch: Batch) -> tuple[pa.Table, Totals]:
            offers = self.pricing(batch)
            return _table(_offer_columns(batch, names.owner, offers), self.pricing.terms), totals_of(offers)

        return _written(piece, names.bidding(), price, threads, self.folder)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TradeRows:
    """Apply, randomise, tally and settle in one pass: a simulation of a whole round.

    ``strata`` are those of a pass before, for answers that stand on chances; ``seed`` is that of the owners' coins.
    """

    pricing: Pricing
    seed: int
    strata: Strata | None
    folder: Folder

    def __call__(self, piece: Piece, threads: int) -> TradeSums:
        terms, names = self.pricing.terms, self.pricing.names

        def trade(batch: Batch) -> tuple[pa.Table, TradeSums]:
            offers = self.pricing(batch)
            codes, numbers = batch.codes(names.value, offers.domain), batch.numbers(names.owner)
            reports = drawn_reports(codes, offers, OwnerEntropy(self.seed, numbers))
            payments = settle(offers, reports, terms)
            made = _offer_columns(batch, names.owner, offers)
            made |= {"report": _report_column(reports), "paid": pa.array(payments.amounts)}
            sums = TradeSums(
                offers=totals_of(offers),
                evidence=evidence_of(reports, offers, self.strata, p=share_asked(terms.query)),
                paid_micros=payments.total_micros,
            )
            return _table(made, terms), sums

        return _written(piece, names.bidding(names.value), trade, threads, self.folder)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRows:
    """How rows of q and report are read. ``by_price``: bids too, and chances where ``drawn`` says there are any."""

    terms: Terms
    names: Names
    by_price: bool
    drawn: bool

    def of(self, piece: Piece) -> Iterator[Batch]:
        """The batches of a piece."""
        names = self.names
        more = [*([names.bid] if self.by_price else []), *([names.chance] if self.by_price and self.drawn else [])]
        return rows_of(piece, [names.q, names.report, *more], BATCH_ROWS)

    def read(self, batch: Batch) -> tuple[Offers, Reports]:
        """The offers as far as they are needed, and the reports."""
        names = self.names
        offers = batch.q_alone(names.q, self.terms)
        reports = batch.reports(names.report, offers.question.answers)
        if self.by_price:
            offers = batch.with_chances(offers, names.bid, names.chance if self.drawn else None)
        return offers, reports


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TallyReports:
    """Add up reports that came in: all that an answer needs."""

    rows: ReportRows
    strata: Strata | None

    def __call__(self, piece: Piece, threads: int) -> Evidence:
        def add_up(batch: Batch) -> Evidence:
            offers, reports = self.rows.read(batch)
            if self.strata is not None:
                batch.refuse_unasked(offers, reports, self.rows.names.report)
            return evidence_of(reports, offers, self.strata, p=share_asked(self.rows.terms.query))

        return reduce(merge, ordered_map(add_up, self.rows.of(piece), threads))


def rows_of(piece: Piece, columns: list[str], rows: int) -> Iterator[Batch]:
    """The batches of a piece, of at most so many rows."""
    return (Batch(piece, start, table) for start, table in batches(piece, columns, rows))


def _written(
    piece: Piece, columns: list[str], work: Callable[[Batch], tuple[pa.Table, Sum]], threads: int, folder: Folder
) -> Sum:
    """Work through a piece, write what comes out as one part, and give what it adds up to."""
    return write_results(piece, ordered_map(work, rows_of(piece, columns, BATCH_ROWS), threads), folder)


def write_results(piece: Piece, done: Iterator[tuple[pa.Table, Sum]], folder: Folder) -> Sum:
    """Write the tables of one piece's batches as one part, and give what their sums add up to."""
    first, total = next(done)
    sums = [total]

    def tables() -> Iterator[pa.Table]:
        yield first
        for made, more in done:
            sums[0] = sums[0].merged(more)
            yield made

    folder.write(piece.index, tables(), first.schema)
    return sums[0]


def _offer_columns(batch: Batch, owner: str | None, offers: Offers) -> dict[str, object]:
    ids = {} if owner is None else {"owner": batch.table.column(owner)}
    made = {
        "bid": offers.bids,
        "q": offers.q,
        "epsilon": offers.epsilon,
        "payment": offers.payment,
        "chance": offers.chance,
        "draw": offers.draw,
    }
    told = {"deal": offers.deal, "stage": offers.stage}
    needs = COLUMNS[offers.question.kind]
    made |= {name: told[name] for name in needs if name in told}
    asked = {"at_most": at_most_column(offers)} if "at_most" in needs else {}
    return ids | {name: pa.array(values) for name, values in made.items()} | asked


def at_most_column(offers: Offers) -> pa.Array:
    """The value each owner is asked about, null before her stage; of one type whoever is asked."""
    values = offers.domain.decode(np.maximum(offers.side, 0))
    return pa.array(values, mask=offers.side < 0)


def _report_column(reports: Reports) -> pa.Array:
    """Reported values, null where none was sent; of one type whoever was asked, so that all batches fit one file."""
    kind = pa.array(reports.domain.decode(np.zeros(1, dtype=np.int64))).type
    return pa.array(reports.domain.decode(reports.codes), type=kind, mask=~reports.arrived)


def _table(columns: dict[str, object], terms: Terms) -> pa.Table:
    """A record batch that says which terms it was made under."""
    return pa.RecordBatch.from_pydict(columns).replace_schema_metadata({"pdqs.rounds.terms": terms.canonical()})
