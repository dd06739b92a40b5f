"""Columns of one batch, parsed into what the core works on; a bad row is named by its number in the whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pdqs.model import columns
from pdqs.model.arrays import Floats, Integers, Values, Words
from pdqs.model.domain import Domain
from pdqs.model.errors import RowError
from pdqs.privacy.draws import words_of_owners
from pdqs.privacy.loss import round_q_down
from pdqs.privacy.owner_entropy import number_ids
from pdqs.privacy.philox import Numbers
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms
from pdqs.scale.source import Piece
from pdqs.tables.files import as_held
from pdqs.tables.question_files import COLUMNS, with_question
from pdqs.tables.round_files import LOTTERY_COLUMNS, OFFER_COLUMNS, checked_offers, refuse_other_terms, with_lottery


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of a piece; ``start`` of the piece's rows come before them."""

    piece: Piece
    start: int
    table: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def bids(self, column: str, terms: Terms) -> Floats:
        """The bids, each a number within the terms' range."""
        with self.rows_named():
            return columns.bids_in_range(_plain(self._full(column)), *map(float, terms.bid_range), column=column)

    def codes(self, column: str, domain: Domain) -> Integers:
        """The values as codes of the domain."""
        with self.rows_named():
            return _encoded(self._full(column), domain, column)

    def numbers(self, column: str | None) -> Numbers:
        """A number for each owner: by her id, or by her row where there are no ids."""
        if column is None:
            first = self.piece.first_row + self.start
            return np.arange(first, first + len(self), dtype=np.uint64)
        with self.rows_named():
            return number_ids(self.table.column(column), column=column)

    def draws(self, column: str | None, key: int, word: int) -> Words:
        """A public word of each owner: by her number, under the key of the draws."""
        return words_of_owners(self.numbers(column), key, word)

    def offers_under(self, terms: Terms) -> Offers:
        """Offers as :class:`pdqs.scale.kernels.PriceBids` wrote them; without chances everyone was asked."""
        with self.rows_named():
            made = [self._floats(name) for name in OFFER_COLUMNS[1:]]
            offers = checked_offers(made[0], made[1], made[2], made[3], terms.asking)
            chance, draw = (
                self._floats(name) if name in self.table.schema.names else np.full(len(self), otherwise)
                for name, otherwise in zip(LOTTERY_COLUMNS, (1.0, 0.0), strict=True)
            )
            refuse_other_terms(offers, terms)
            return self._with_question(with_lottery(offers, chance, draw))

    def _with_question(self, offers: Offers) -> Offers:
        """The offers with what each owner is asked, from the columns that her question has."""
        held = [name for name in COLUMNS[offers.question.kind] if name in self.table.schema.names]
        numbers = {name: self._floats(name) for name in held if name != "at_most"}
        return with_question(offers, numbers, self.table.column("at_most").to_pylist() if "at_most" in held else None)

    def q_alone(self, column: str, terms: Terms) -> Offers:
        """Offers of which only q is known: all that a tally without chances needs."""
        with self.rows_named():
            q = self._floats(column)
            good = (q >= 0) & (q < 1) & (round_q_down(q) == q)
            if not good.all():
                row = int(np.argmin(good))
                raise RowError(row + 1, column, f"{q[row]!r} is not a multiple of 2^-32 from 0 to below 1")
        return Offers(
            bids=q,
            q=q,
            epsilon=np.zeros(q.size),
            payment_micros=np.zeros(q.size, dtype=np.int64),
            domain=terms.domain,
            budget_micros=terms.budget_micros,
            question=terms.asking,
        )

    def with_chances(self, offers: Offers, bid: str, chance: str | None) -> Offers:
        """The offers with their bids and chances; everyone was asked for certain where there is no such column."""
        with self.rows_named():
            known = replace(offers, bids=self._floats(bid))
            if chance is None:
                return known
            try:
                return with_lottery(known, self._floats(chance), np.zeros(len(self)))
            except RowError as fault:
                raise RowError(fault.row, chance, fault.fault) from None

    def refuse_unasked(self, offers: Offers, reports: Reports, column: str) -> None:
        """Where chances count, nobody can have reported who was not asked."""
        strange = reports.arrived & ~offers.asked
        if strange.any():
            with self.rows_named():
                raise RowError(int(np.argmax(strange)) + 1, column, "a report from an owner who was not asked")

    def reports(self, column: str, domain: Domain) -> Reports:
        """Reports received; a missing one did not arrive."""
        found = self.table.column(column)
        arrived = np.asarray(found.is_valid())
        if pa.types.is_floating(found.type):
            arrived = arrived & ~np.asarray(pc.fill_null(pc.is_nan(found), False))
        codes = np.zeros(len(self), dtype=np.int64)
        with self.rows_named():
            try:
                codes[arrived] = _encoded(found.filter(pa.array(arrived)), domain, column)
            except RowError as fault:
                place = int(np.flatnonzero(arrived)[fault.row - 1])
                raise RowError(place + 1, fault.column, fault.fault) from None
        return Reports(codes=codes, arrived=arrived, selected=np.zeros(0, dtype=bool), domain=domain)

    def _floats(self, column: str) -> Floats:
        """A column of finite numbers."""
        return columns.floats(_plain(self._full(column)), column=column)

    def _full(self, column: str) -> pa.Array:
        """A column with nothing missing."""
        found = self.table.column(column)
        if found.null_count:
            row = int(np.argmax(np.asarray(found.is_null())))
            raise RowError(row + 1, column, "the value is missing")
        return found

    @contextmanager
    def rows_named(self) -> Iterator[None]:
        """Say of a bad row where it is in the whole, and where in its file."""
        try:
            yield
        except RowError as fault:
            in_file = fault.row + self.start + self.piece.first_row_in_file
            where = f"{fault.fault} (row {in_file} of {self.piece.path})"
            raise RowError(fault.row, fault.column, where).moved(self.start + self.piece.first_row) from None


def _plain(values: pa.Array) -> Values:
    """A column as NumPy has it, without a copy where that can be."""
    plain: Values = values.to_numpy(zero_copy_only=False)
    return plain


def _encoded(values: pa.Array, domain: Domain, column: str) -> Integers:
    """Codes of the domain. Each different value is looked up once, unless one is bad: then rows count."""
    if domain.ordered and not pa.types.is_string(values.type):
        return domain.encode(_plain(values), column=column)
    distinct = pc.dictionary_encode(values)
    try:
        codes = domain.encode([as_held(cell, domain) for cell in distinct.dictionary.to_pylist()], column=column)
    except RowError:
        domain.encode([as_held(cell, domain) for cell in values.to_pylist()], column=column)
        raise AssertionError("a value was bad among the different ones but not among all") from None
    found: Integers = codes[_plain(distinct.indices)]
    return found
