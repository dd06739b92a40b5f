"""Clearing, answering and trading over Parquet: summarise, calibrate, apply, on any engine, with one result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from pdqs.clearing.ladder import calibrate
from pdqs.estimate import Answer, answer_from_evidence
from pdqs.model.errors import InputError, ensure
from pdqs.model.money import short_money
from pdqs.present.text import Shown
from pdqs.rounds.terms import Terms
from pdqs.scale.engines import Engine, Threads, cores
from pdqs.scale.kernels import (
    CountBids,
    Kernel,
    Names,
    PriceBids,
    Pricing,
    Sum,
    TallyReports,
    TradeRows,
    refuse_lottery,
    refuse_unstreamable,
)
from pdqs.scale.paired_rows import AddUpOffers, AnswerOffers, refuse_other_lengths
from pdqs.scale.progress import Progress, silent
from pdqs.scale.sink import complete_folder
from pdqs.scale.source import PIECE_ROWS, Piece, Source, open_source
from pdqs.scale.sums import Totals, TradeSums
from pdqs.tables.round_files import OFFER_COLUMNS, REPORT_COLUMNS


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StreamedTrade(Shown):
    """One round over a stream: what it adds up to, and the answer."""

    terms: Terms
    sums: TradeSums
    answer: Answer

    def title(self) -> str:
        return f"Trade by rule {self.terms.rule_name}, clearing {self.terms.clearing}, contract {self.terms.contract}"

    def rows(self) -> list[tuple[str, str]]:
        offers = self.sums.offers
        return [
            ("offers", f"{offers.bought:,} of {offers.owners:,} owners, {offers.rows()[0][1]}"),
            ("answer", self.answer.title()),
            *self.answer.rows()[:-1],
            ("paid", f"{short_money(self.sums.paid_micros)} of {short_money(self.terms.budget_micros)}"),
        ]

    def notes(self) -> tuple[str, ...]:
        over = self.sums.paid_micros - self.terms.budget_micros
        return (*self.answer.warnings, *((f"{short_money(over)} over the budget",) if over > 0 else ()))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How to run: on which engine, in pieces of how many rows, telling whom of progress, columns under which names."""

    engine: Engine = Threads(cores())
    piece_rows: int = PIECE_ROWS
    progress: Progress = silent
    names: Names = Names()

    def clear(self, bids: str | Path, terms: Terms, out: str | Path) -> Totals:
        """Offers for every bid of the files, as a folder of Parquet; two passes over the bids, no sort."""
        source, names = self._opened(bids, [self.names.bid])
        pricing = self._priced(source, terms, names)
        with complete_folder(out) as folder:
            return self._reduced("pricing", PriceBids(pricing=pricing, names=names, folder=folder), source)

    def trade(
        self, rows: str | Path, terms: Terms, out: str | Path, *, seed: int, level: float = 0.95
    ) -> StreamedTrade:
        """A whole round, simulated: offers, reports and payments as a folder of Parquet, and the answer."""
        source, names = self._opened(rows, [self.names.bid, self.names.value])
        pricing = self._priced(source, terms, names)
        with complete_folder(out) as folder:
            kernel = TradeRows(pricing=pricing, names=names, seed=seed, folder=folder)
            sums = self._reduced("trading", kernel, source)
            kept = not terms.keeps_budget or sums.paid_micros <= terms.budget_micros
            ensure(kept, "a mechanism that keeps the budget has passed it")
            return StreamedTrade(terms=terms, sums=sums, answer=answer_from_evidence(sums.evidence, terms, level=level))

    def answer(self, reports: str | Path, terms: Terms, *, level: float = 0.95) -> Answer:
        """The answer from rows of q and report, wherever they lie: only their sums are brought together."""
        refuse_lottery(terms)
        source, names = self._opened(reports, [self.names.q, self.names.report])
        _refuse_empty(source)
        sums = self._reduced("adding up", TallyReports(terms=terms, names=names), source)
        return answer_from_evidence(sums, terms, level=level)

    def add_up(self, offers: str | Path, terms: Terms) -> Totals:
        """What offers come to that were written before."""
        source, _ = self._opened(offers, OFFER_COLUMNS)
        _refuse_empty(source)
        return self._reduced("adding up offers", AddUpOffers(terms=terms), source)

    def answer_offers(
        self,
        offers: str | Path,
        reports: str | Path,
        terms: Terms,
        *,
        out: str | Path | None = None,
        level: float = 0.95,
    ) -> Answer:
        """The answer from offers and the reports beside them, row by row; with ``out``, also what is now due."""
        refuse_lottery(terms)
        source, _ = self._opened(offers, OFFER_COLUMNS)
        reported, _ = self._opened(reports, REPORT_COLUMNS)
        _refuse_empty(source)
        refuse_other_lengths(source, reported)
        with nullcontext() if out is None else complete_folder(out) as folder:
            due = self._reduced("adding up", AnswerOffers(terms=terms, reports=reported, folder=folder), source)
            return answer_from_evidence(due.evidence, terms, level=level)

    def _opened(self, location: str | Path, needs: Sequence[str]) -> tuple[Source, Names]:
        """The source, and the names in it: where there are no ids, row numbers stand for owners."""
        wanted = [self.names.owner] if self.names.owner else []
        source = open_source(location, needs=needs, wanted=wanted, piece_rows=self.piece_rows)
        return source, self.names if self.names.owner in source.columns else replace(self.names, owner=None)

    def _priced(self, source: Source, terms: Terms, names: Names) -> Pricing:
        refuse_unstreamable(terms)
        if source.rows < 2:
            raise InputError(f"column {names.bid!r}: a market needs at least 2 owners, got {source.rows}")
        if not terms.clearing_facts.calibrates:
            return Pricing(terms=terms, calibration=None)
        summary = self._reduced("counting bids", CountBids(terms=terms, names=names), source)
        return Pricing(terms=terms, calibration=calibrate(summary, terms))

    def _reduced(self, stage: str, kernel: Kernel[Sum], source: Source) -> Sum:
        done = 0
        rows = source.rows
        self.progress(stage, 0, rows)

        def tell(piece: Piece) -> None:
            nonlocal done
            done += piece.rows
            self.progress(stage, done, rows)

        return self.engine.reduce(kernel, source.pieces, tell)


def _refuse_empty(source: Source) -> None:
    if not source.rows:
        raise InputError(f"{source.location}: no rows to answer from")
