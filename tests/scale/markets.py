"""Small markets on disk, and the core's own results for them in memory: the oracle of every test here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import pdqs
from pdqs.scale import OwnerEntropy, Run, Threads, number_ids


def market(n: int, rng: np.random.Generator, *, ties: bool = False) -> pa.Table:
    """n owners with a bid and a value of 0 to 4; with ties, bids are sixteenths."""
    bids = rng.integers(0, 17, n) / 16 if ties else rng.random(n)
    return pa.table(
        {"owner": [f"owner-{i}" for i in range(n)], "bid": bids, "value": rng.integers(0, 5, n).astype(np.int64)}
    )


def terms_for(n: int, **changes: Any) -> pdqs.Terms:
    """A round in which about a third of the owners are bought."""
    given: dict[str, Any] = {
        "query": pdqs.Histogram(pdqs.Domain.grid(0, 4, 1)),
        "budget": 0.3 * max(n, 1),
        "question": "value",
    }
    return pdqs.presets.sound(**(given | changes))


def save(table: pa.Table, folder: Path, *, groups: Sequence[Sequence[int]]) -> Path:
    """The rows in order as one file per entry of ``groups``, which lists the rows of each row group (0 is allowed)."""
    folder.mkdir(parents=True)
    at = 0
    for index, sizes in enumerate(groups):
        with pq.ParquetWriter(folder / f"rows-{index:04d}.parquet", table.schema) as writer:
            for size in sizes:
                writer.write_table(table.slice(at, size), row_group_size=max(size, 1))
                at += size
    assert at == table.num_rows, "every row has its place"
    return folder


def lottery_for(n: int, **changes: Any) -> pdqs.Terms:
    """A round by the default terms: a lottery, an unbiased answer."""
    given: dict[str, Any] = {
        "query": pdqs.Histogram(pdqs.Domain.grid(0, 4, 1)),
        "budget": 0.3 * max(n, 1),
        "question": "value",
    }
    return pdqs.Terms(**(given | changes))


def in_memory(table: pa.Table, terms: pdqs.Terms, seed: int) -> pdqs.Trade:
    """The round by the core, on arrays."""
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"], draws=seed)
    reports = pdqs.randomise(np.asarray(table["value"]), offers, OwnerEntropy(seed, number_ids(table["owner"])))
    answer, payments = pdqs.answer(reports, offers, terms), pdqs.settle(offers, reports, terms)
    return pdqs.Trade(terms=terms, offers=offers, reports=reports, answer=answer, payments=payments)


def same_bits(left: Any, right: Any) -> bool:
    """Equality to the last bit, not to a tolerance."""
    left, right = np.asarray(left), np.asarray(right)
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def assert_same_round(folder: Path, table: pa.Table, expected: pdqs.Trade) -> None:
    """What was written is what the core gives, row by row and bit by bit."""
    found = pq.read_table(folder)
    assert found["owner"].to_pylist() == table["owner"].to_pylist()
    for column, values in (
        ("bid", expected.offers.bids),
        ("q", expected.offers.q),
        ("epsilon", expected.offers.epsilon),
        ("payment", expected.offers.payment),
        ("chance", expected.offers.chance),
        ("draw", expected.offers.draw),
        ("paid", expected.payments.amounts),
    ):
        assert same_bits(found[column], values), column
    reports = expected.reports
    assert np.array_equal(found["report"].is_valid(), reports.arrived), "reports only of those asked"
    assert found["report"].drop_null().to_pylist() == reports.domain.decode(reports.codes[reports.arrived]).tolist()


def assert_same_answer(found: pdqs.Answer, expected: pdqs.Answer) -> None:
    """Every figure of an answer, to the last bit."""
    for figure in ("value", "raw", "interval", "simultaneous", "standard_error", "information"):
        assert same_bits(getattr(found, figure), getattr(expected, figure)), figure
    for plain in ("owners", "asked", "reports", "heard", "warnings", "sensitivity"):
        assert getattr(found, plain) == getattr(expected, plain), plain
    for ours, theirs in zip(found.by_price, expected.by_price, strict=True):
        for field in dataclasses.fields(ours):
            assert same_bits(getattr(ours, field.name), getattr(theirs, field.name)), field.name


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a small market lies on disk, and how it is read: ties, tiny and empty row groups, empty files, threads."""

    groups: list[list[int]]
    ties: bool
    seed: int
    threads: int
    piece_rows: int

    def assert_trades_as_in_memory(self, place: Path, terms_of: Callable[[int], pdqs.Terms]) -> None:
        """The round over the stream is the round in memory, bit by bit."""
        table = market(sum(map(sum, self.groups)), np.random.default_rng(self.seed), ties=self.ties)
        terms = terms_of(table.num_rows)
        rows = save(table, place / "rows", groups=self.groups)
        run = Run(engine=Threads(self.threads), piece_rows=self.piece_rows)
        done = run.trade(rows, terms, place / "round", seed=self.seed)
        expected = in_memory(table, terms, self.seed)
        assert_same_round(place / "round", table, expected)
        assert_same_answer(done.answer, expected.answer)
        assert_same_answer(run.answer(place / "round", terms), expected.answer)
        assert done.sums.paid_micros == expected.payments.total_micros
        assert done.sums.offers.spent_micros == expected.offers.spent_micros


def layouts(piece_rows: st.SearchStrategy[int]) -> st.SearchStrategy[Layout]:
    """Any layout of two rows or more."""
    groups = st.lists(st.lists(st.integers(0, 40), max_size=6), min_size=1, max_size=5)
    return st.builds(
        Layout,
        groups=groups.filter(lambda found: sum(map(sum, found)) >= 2),
        ties=st.booleans(),
        seed=st.integers(0, 2**64 - 1),
        threads=st.integers(1, 3),
        piece_rows=piece_rows,
    )
