"""Clearing, answering and trading over Parquet: summarise, calibrate, apply, on any engine, with one result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from pdqs.clearing.ladder import calibrate
from pdqs.clearing.lottery import LotteryMarket, calibrate_lottery
from pdqs.estimate import Answer, answer_from_evidence
from pdqs.estimate.answers import stands_on_chances
from pdqs.estimate.strata import Strata, cut, price_grain
from pdqs.model.errors import FileError, InputError, ensure
from pdqs.model.money import short_money
from pdqs.present.text import Shown
from pdqs.pricing.rules import Asks
from pdqs.privacy.draws import draw_key
from pdqs.rounds.terms import Terms
from pdqs.scale.engines import Engine, Threads, cores
from pdqs.scale.kernels import (
    CountBids,
    CountDrawnBids,
    DrawnRows,
    Kernel,
    Names,
    PriceBids,
    Pricing,
    ReportRows,
    Sum,
    TallyReports,
    TradeRows,
    refuse_unstreamable,
)
from pdqs.scale.narrowing import NarrowOffers, next_stage
from pdqs.scale.paired_rows import AddUpOffers, AnswerOffers, PairedRows, refuse_other_lengths
from pdqs.scale.price_passes import AddUpPrices, AddUpTradedPrices, Prices
from pdqs.scale.progress import Progress, silent
from pdqs.scale.sink import complete_folder
from pdqs.scale.source import PIECE_ROWS, Piece, Source, open_source
from pdqs.scale.stage_passes import Passes, all_stages, first_stage
from pdqs.scale.sums import Totals, TradeSums
from pdqs.tables.question_files import COLUMNS
from pdqs.tables.round_files import LOTTERY_COLUMNS, OFFER_COLUMNS, REPORT_COLUMNS


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

    def clear(self, bids: str | Path, terms: Terms, out: str | Path, *, draws: int | None = None) -> Totals:
        """Offers for every bid of the files, as a folder of Parquet; two passes over the bids, no sort.

        ``draws`` is the seed of the public draws, which follow from the hash of the terms without one: the words that
        :func:`pdqs.clear` takes for the same owners.
        """
        source, names = self._opened(bids, [self.names.bid])
        pricing = self._priced(source, terms, names, draws)
        pricing = first_stage(pricing, self._passes(source))
        with complete_folder(out) as folder:
            return self._reduced("pricing", PriceBids(pricing=pricing, folder=folder), source)

    def trade(
        self, rows: str | Path, terms: Terms, out: str | Path, *, seed: int, level: float = 0.95
    ) -> StreamedTrade:
        """A whole round, simulated: offers, reports and payments as a folder of Parquet, and the answer.

        ``seed`` is that of the public draws and, under a key of their own, of the owners' coins.
        """
        source, names = self._opened(rows, [self.names.bid, self.names.value])
        pricing = self._priced(source, terms, names, seed)
        strata = None
        if stands_on_chances(terms, by_lottery=False):
            strata = self._cut(AddUpTradedPrices(pricing=pricing, grain=_grain(source, terms)), source, terms)
        pricing = all_stages(pricing, seed, self._passes(source))
        with complete_folder(out) as folder:
            kernel = TradeRows(pricing=pricing, seed=seed, strata=strata, folder=folder)
            sums = self._reduced("trading", kernel, source)
            kept = not terms.keeps_budget or sums.paid_micros <= terms.budget_micros
            ensure(kept, "a mechanism that keeps the budget has passed it")
            return StreamedTrade(terms=terms, sums=sums, answer=answer_from_evidence(sums.evidence, terms, level=level))

    def answer(self, reports: str | Path, terms: Terms, *, level: float = 0.95) -> Answer:
        """The answer from rows of q and report, wherever they lie: only their sums are brought together.

        With rule `lottery` and estimator `unbiased` the rows need their bid and chance too, and are read twice.
        """
        source, names = self._opened(reports, [self.names.q, self.names.report], [self.names.bid, self.names.chance])
        _refuse_empty(source)
        if COLUMNS[terms.asking.kind]:
            kind = terms.asking.kind
            raise InputError(f"reports to a {kind} question are answered beside the offers that ask it")
        drawn = names.chance in source.columns and names.chance != names.q
        rows = ReportRows(terms=terms, names=names, by_price=stands_on_chances(terms, by_lottery=drawn), drawn=drawn)
        strata = None
        if rows.by_price:
            if names.bid not in source.columns:
                raise FileError(f"{reports}: no column {names.bid!r}, which an unbiased answer from a lottery needs")
            strata = self._cut(AddUpPrices(rows=rows, grain=_grain(source, terms)), source, terms)
        sums = self._reduced("adding up", TallyReports(rows=rows, strata=strata), source)
        return answer_from_evidence(sums, terms, level=level)

    def add_up(self, offers: str | Path, terms: Terms) -> Totals:
        """What offers come to that were written before."""
        source, _ = self._opened(offers, OFFER_COLUMNS, _more_columns(terms))
        _refuse_empty(source)
        return self._reduced(
            "adding up offers", AddUpOffers(terms=terms, columns=_offer_columns(source, terms)), source
        )

    def answer_offers(
        self,
        offers: str | Path,
        reports: str | Path,
        terms: Terms,
        *,
        out: str | Path | None = None,
        level: float = 0.95,
        stage: int | None = None,
    ) -> Answer:
        """The answer from offers and the reports beside them, row by row; with ``out``, also what is now due.

        With ``stage``, the answer is that from the reports of the stages up to it.
        """
        source, rows = self._paired(offers, reports, terms, stage)
        strata = None
        if stands_on_chances(terms, by_lottery="chance" in source.columns):
            strata = self._cut(AddUpPrices(rows=rows, grain=_grain(source, terms)), source, terms)
        with nullcontext() if out is None else complete_folder(out) as folder:
            due = self._reduced("adding up", AnswerOffers(rows=rows, strata=strata, folder=folder), source)
            return answer_from_evidence(due.evidence, terms, level=level)

    def narrow(self, offers: str | Path, reports: str | Path, terms: Terms, out: str | Path, *, stage: int) -> Totals:
        """The offers with the questions of the stage after ``stage``, spread over what the reports so far leave open:
        what :func:`pdqs.estimate.narrowed` gives for the same owners."""
        source, rows = self._paired(offers, reports, terms, None)
        opened = next_stage(rows, stage, self._passes(source))
        columns = (*(["owner"] if "owner" in source.columns else []), *rows.columns)
        with complete_folder(out) as folder:
            kernel = NarrowOffers(terms=terms, columns=tuple(dict.fromkeys(columns)), opened=opened, folder=folder)
            return self._reduced("writing", kernel, source)

    def _paired(
        self, offers: str | Path, reports: str | Path, terms: Terms, stage: int | None
    ) -> tuple[Source, PairedRows]:
        source, _ = self._opened(offers, OFFER_COLUMNS, _more_columns(terms))
        reported, _ = self._opened(reports, REPORT_COLUMNS)
        _refuse_empty(source)
        refuse_other_lengths(source, reported)
        columns = _offer_columns(source, terms)
        return source, PairedRows(terms=terms, columns=columns, reports=reported, stage=stage)

    def _opened(self, location: str | Path, needs: Sequence[str], may_have: Sequence[str] = ()) -> tuple[Source, Names]:
        """The source, and the names in it: where there are no ids, row numbers stand for owners."""
        wanted = [*([self.names.owner] if self.names.owner else []), *may_have]
        source = open_source(location, needs=needs, wanted=wanted, piece_rows=self.piece_rows)
        if self.names.owner in source.columns:
            return source, self.names
        if self.names.owner not in (None, Names().owner):
            raise FileError(f"{source.location}: no column {self.names.owner!r} of owners")
        return source, replace(self.names, owner=None)

    def _priced(self, source: Source, terms: Terms, names: Names, draws: int | None) -> Pricing:
        refuse_unstreamable(terms)
        rows = DrawnRows(terms=terms, names=names, key=draw_key(terms.hash if draws is None else draws))
        if source.rows < 2:
            raise InputError(f"column {names.bid!r}: a market needs at least 2 owners, got {source.rows}")
        if not terms.clearing_facts.calibrates:
            return Pricing(rows=rows, calibration=None)
        rule = terms.bound_rule
        if isinstance(rule, Asks):
            drawn = self._reduced("counting bids", CountDrawnBids(rows=rows), source)
            market = LotteryMarket(rule=rule, budget_micros=terms.budget_micros)
            return Pricing(rows=rows, calibration=calibrate_lottery(drawn, market))
        summary = self._reduced("counting bids", CountBids(rows=rows), source)
        return Pricing(rows=rows, calibration=calibrate(summary, terms))

    def _cut(self, kernel: Kernel[Prices], source: Source, terms: Terms) -> Strata | None:
        """The strata of all rows, or None where nobody was or could be left out by a draw."""
        found = self._reduced("adding up prices", kernel, source)
        return cut(found.summary) if stands_on_chances(terms, by_lottery=found.by_lottery) else None

    def _passes(self, source: Source) -> Passes:
        """Further passes over the same rows."""

        def over(stage: str, kernel: Kernel[Sum]) -> Sum:
            return self._reduced(stage, kernel, source)

        return over

    def _reduced(self, stage: str, kernel: Kernel[Sum], source: Source) -> Sum:
        done = 0
        rows = source.rows
        self.progress(stage, 0, rows)

        def tell(piece: Piece) -> None:
            nonlocal done
            done += piece.rows
            self.progress(stage, done, rows)

        return self.engine.reduce(kernel, source.pieces, tell)


def _grain(source: Source, terms: Terms) -> float:
    return price_grain(source.rows, terms.setting.low, terms.setting.high)


def _offer_columns(source: Source, terms: Terms) -> tuple[str, ...]:
    return (*OFFER_COLUMNS, *(name for name in _more_columns(terms) if name in source.columns))


def _more_columns(terms: Terms) -> tuple[str, ...]:
    """The columns that offers may have besides, or need for their question."""
    return (*LOTTERY_COLUMNS, *COLUMNS[terms.asking.kind])


def _refuse_empty(source: Source) -> None:
    if not source.rows:
        raise InputError(f"{source.location}: no rows to answer from")
