"""What is done to one piece: the core's functions on its batches, and nothing of their mathematics again.

Each kernel is a frozen description that can be sent to another machine, and a call from a piece to something mergeable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Protocol, Self, TypeVar, final

import pyarrow as pa

from pdqs.clearing.fixed import clear_openly
from pdqs.clearing.ladder import Calibration, apply
from pdqs.clearing.summaries import BidSummary, summarise
from pdqs.estimate.evidence import Evidence, evidence_of
from pdqs.model.arrays import Booleans, Floats
from pdqs.model.errors import TermsError
from pdqs.pricing.rules import Asks, ReadsBids
from pdqs.privacy.owner_entropy import OwnerEntropy
from pdqs.privacy.randomiser import draw_reports, q_numerators
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms
from pdqs.scale.batches import Batch
from pdqs.scale.sink import write_part
from pdqs.scale.source import Piece, batches
from pdqs.scale.sums import Totals, TradeSums, totals_of
from pdqs.scale.threads import ordered_map

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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountBids:
    """Summarise: the first pass."""

    terms: Terms
    names: Names

    def __call__(self, piece: Piece, threads: int) -> BidSummary:
        low, high = self.terms.setting.low, self.terms.setting.high

        def count(batch: Batch) -> BidSummary:
            return summarise(batch.bids(self.names.bid, self.terms), low, high)

        found = ordered_map(count, _rows(piece, [self.names.bid], _SUMMARY_ROWS), threads)
        return reduce(merge, found)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """Bids to offers, batch by batch: apply a calibration, or a fixed curve that needs none."""

    terms: Terms
    calibration: Calibration | None

    def __call__(self, bids: Floats) -> Offers:
        if self.calibration is not None:
            return apply(bids, self.calibration, self.terms)
        return clear_openly(bids, self.terms)


def refuse_lottery(terms: Terms) -> None:
    """A lottery's chances and strata take passes that streams do not make."""
    if isinstance(terms.bound_rule, Asks):
        raise TermsError(f"rule {terms.rule_name!r} cannot be streamed yet: use rule 'optimal', or one file in memory")


def refuse_unstreamable(terms: Terms) -> None:
    """Only what needs no look at all bids at once can be streamed."""
    refuse_lottery(terms)
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
    names: Names
    folder: Path

    def __call__(self, piece: Piece, threads: int) -> Totals:
        owner = self.names.owner
        columns = [*([owner] if owner else []), self.names.bid]

        def price(batch: Batch) -> tuple[pa.Table, Totals]:
            offers = self.pricing(batch.bids(self.names.bid, self.pricing.terms))
            return _table(_offer_columns(batch, owner, offers), self.pricing.terms), totals_of(offers)

        return _written(piece, columns, price, threads, self.folder)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TradeRows:
    """Apply, randomise, tally and settle in one pass: a simulation of a whole round."""

    pricing: Pricing
    names: Names
    seed: int
    folder: Path

    def __call__(self, piece: Piece, threads: int) -> TradeSums:
        owner = self.names.owner
        columns = [*([owner] if owner else []), self.names.bid, self.names.value]

        def trade(batch: Batch) -> tuple[pa.Table, TradeSums]:
            terms = self.pricing.terms
            offers = self.pricing(batch.bids(self.names.bid, terms))
            reports = _randomised(batch, self.names, offers, self.seed)
            payments = settle(offers, reports, terms)
            made = _offer_columns(batch, owner, offers)
            made |= {"report": pa.array(reports.values), "paid": pa.array(payments.amounts)}
            sums = TradeSums(
                offers=totals_of(offers), evidence=evidence_of(reports, offers), paid_micros=payments.total_micros
            )
            return _table(made, terms), sums

        return _written(piece, columns, trade, threads, self.folder)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TallyReports:
    """Add up reports that came in: all that an answer needs."""

    terms: Terms
    names: Names

    def __call__(self, piece: Piece, threads: int) -> Evidence:
        def add_up(batch: Batch) -> Evidence:
            offers = batch.chances(self.names.q, self.terms)
            return evidence_of(batch.reports(self.names.report, offers.domain), offers)

        found = ordered_map(add_up, _rows(piece, [self.names.q, self.names.report], BATCH_ROWS), threads)
        return reduce(merge, found)


def _randomised(batch: Batch, names: Names, offers: Offers, seed: int) -> Reports:
    """Every owner's report, drawn from her own words."""
    codes = batch.codes(names.value, offers.domain)
    entropy = OwnerEntropy(seed, batch.numbers(names.owner))
    reported, selected = draw_reports(codes, q_numerators(offers.q), offers.domain.size, entropy)
    arrived: Booleans = codes >= 0  # in a simulation every report arrives
    return Reports(codes=reported, arrived=arrived, selected=selected, domain=offers.domain)


def _rows(piece: Piece, columns: list[str], rows: int) -> Iterator[Batch]:
    return (Batch(piece, start, table) for start, table in batches(piece, columns, rows))


def _written(
    piece: Piece, columns: list[str], work: Callable[[Batch], tuple[pa.Table, Sum]], threads: int, folder: Path
) -> Sum:
    """Work through a piece, write what comes out as one part, and give what it adds up to."""
    return write_results(piece, ordered_map(work, _rows(piece, columns, BATCH_ROWS), threads), folder)


def write_results(piece: Piece, done: Iterator[tuple[pa.Table, Sum]], folder: Path) -> Sum:
    """Write the tables of one piece's batches as one part, and give what their sums add up to."""
    first, total = next(done)
    sums = [total]

    def tables() -> Iterator[pa.Table]:
        yield first
        for made, more in done:
            sums[0] = sums[0].merged(more)
            yield made

    write_part(folder, piece.index, tables(), first.schema)
    return sums[0]


def _offer_columns(batch: Batch, owner: str | None, offers: Offers) -> dict[str, object]:
    ids = {} if owner is None else {"owner": batch.table.column(owner)}
    made = {"bid": offers.bids, "q": offers.q, "epsilon": offers.epsilon, "payment": offers.payment}
    return ids | {name: pa.array(values) for name, values in made.items()}


def _table(columns: dict[str, object], terms: Terms) -> pa.Table:
    """A record batch that says which terms it was made under."""
    return pa.RecordBatch.from_pydict(columns).replace_schema_metadata({"pdqs.rounds.terms": terms.canonical()})
