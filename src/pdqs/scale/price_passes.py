"""The pass before a tally with chances: prices added up, from which the strata are cut that all batches share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Generic, Protocol, TypeVar, final

from pdqs.estimate.evidence import prices_of
from pdqs.estimate.strata import PriceSummary, summarise_prices
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.scale import kernels
from pdqs.scale.batches import Batch
from pdqs.scale.kernels import Pricing, merge, rows_of
from pdqs.scale.source import Piece
from pdqs.scale.threads import ordered_map

Rows = TypeVar("Rows")


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prices:
    """Prices added up, and whether any draw left an owner out, or could have."""

    summary: PriceSummary
    by_lottery: bool

    def merged(self, other: Prices) -> Prices:
        """The prices of both sets of owners together."""
        return Prices(summary=self.summary.merged(other.summary), by_lottery=self.by_lottery or other.by_lottery)


class OffersAndReports(Protocol[Rows]):
    """Where offers and reports are read from, batch by batch."""

    def of(self, piece: Piece) -> Iterator[Rows]: ...

    def read(self, batch: Rows) -> tuple[Offers, Reports]: ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AddUpPrices(Generic[Rows]):
    """The prices of offers and of those whose report arrived; ``grain`` is the width of a bin."""

    rows: OffersAndReports[Rows]
    grain: float

    def __call__(self, piece: Piece, threads: int) -> Prices:
        def add_up(batch: Rows) -> Prices:
            offers, reports = self.rows.read(batch)
            return Prices(summary=prices_of(reports, offers, grain=self.grain), by_lottery=offers.by_lottery)

        return reduce(merge, ordered_map(add_up, self.rows.of(piece), threads))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AddUpTradedPrices:
    """The same of a round that is simulated: everyone who is asked will report."""

    pricing: Pricing
    grain: float

    def __call__(self, piece: Piece, threads: int) -> Prices:
        def add_up(batch: Batch) -> Prices:
            offers = self.pricing(batch)
            summary = summarise_prices(offers.bids, offers.chance, offers.asked, grain=self.grain)
            return Prices(summary=summary, by_lottery=offers.by_lottery)

        batches = rows_of(piece, self.pricing.names.bidding(), kernels.BATCH_ROWS)
        return reduce(merge, ordered_map(add_up, batches, threads))
