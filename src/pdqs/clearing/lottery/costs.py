"""What a lottery would cost at a rung: A(g) = sum over owners of what each is charged, in micro-units.

Charges never fall as the rung rises, and an owner's charge does not depend on anybody else: both are what the proofs of
:mod:`pdqs.clearing.lottery` stand on.
"""

from __future__ import annotations

from typing import final

import numpy as np

from pdqs.clearing.lottery.full_curve import FullRungs
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import LotterySummary, bid_edges, draw_edges
from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import TermsError

_AT_ONCE = 2**18  # owners times rungs worked out in one go


def costs_of(summary: LotterySummary, market: LotteryMarket) -> PlainOwners | FullOwners | Cells:
    """The costs of a summary: owner by owner or cell by cell, at q* or beyond."""
    if largest_charge(market, market.ladder.highest) * summary.owners >= 2**63:
        raise TermsError("payments are too large to add up to a millionth: use a larger unit of money")
    if market.form.plain:
        if not summary.exact:
            return Cells(summary, market)
        return PlainOwners(market.phi_of_bids(summary.bids), summary.draws.astype(np.int64), market)
    return FullOwners(summary, market) if summary.exact else Cells(summary, market)


def largest_charge(market: LotteryMarket, rung: int) -> int:
    """The most that an owner's own bid and word could cost at a rung."""
    return market.dearest if market.form.plain else int(FullRungs(market, np.array([rung])).largest_charge[0, 0])


@final
class PlainOwners:
    """Owner by owner, at q*. Each rung is worked out once, several at a time where owners are few."""

    def __init__(self, phi: Floats, draws: Integers, market: LotteryMarket) -> None:
        self._market, self._phi, self._draws = market, phi, draws
        self._known: dict[int, int] = {}

    def __len__(self) -> int:
        return int(self._draws.size)

    def up_to(self, rung: int) -> PlainOwners:
        """The same costs for rungs up to this one: whoever is not asked there is asked at none of them."""
        asked = self._draws < self._market.count(self._phi, rung)
        return PlainOwners(self._phi[asked], self._draws[asked], self._market)

    def totals(self, rungs: Integers) -> Integers:
        """A(g) for each of these rungs."""
        wanted = np.unique(rungs)
        missing = np.array([g for g in wanted.tolist() if g not in self._known], dtype=np.int64)
        self._known.update(zip(missing.tolist(), self.worked_out(missing).tolist(), strict=True))
        found = np.array([self._known[g] for g in wanted.tolist()], dtype=np.int64)
        return found[np.searchsorted(wanted, rungs)]

    def worked_out(self, rungs: Integers) -> Integers:
        """The same without looking what is known, nor keeping it."""
        together = max(1, _AT_ONCE // max(self._draws.size, 1))
        parts = [self._worked_out(rungs[start : start + together]) for start in range(0, rungs.size, together)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def _worked_out(self, rungs: Integers) -> Integers:
        asked = self._draws < self._market.count(self._phi, rungs[:, None])
        if rungs.size == 1:
            return np.array([self._market.posted(self._draws[asked[0]], rungs).sum()])
        if 2 * np.count_nonzero(asked) > asked.size:
            found: Integers = np.where(asked, self._market.posted(self._draws, rungs[:, None]), 0).sum(axis=1)
            return found
        row, owner = np.nonzero(asked)
        heaped = np.zeros(row.size + 1, dtype=np.int64)
        np.cumsum(self._market.posted(self._draws[owner], rungs, row), out=heaped[1:])
        return np.diff(heaped[np.searchsorted(row, np.arange(rungs.size + 1))])


@final
class FullOwners:
    """Owner by owner, beyond q*. Whom the budget could never pay costs nothing, and whoever is not asked at a rung."""

    def __init__(self, summary: LotterySummary, market: LotteryMarket) -> None:
        self._market = market
        payable = market.reserve(summary.bids) <= market.budget_micros
        self._bids, self._draws = summary.bids[payable], summary.draws[payable].astype(np.int64)
        self._phi = market.form.line.at(self._bids)

    def totals(self, rungs: Integers) -> Integers:
        """A(g) for each of these rungs, which rise."""
        together = max(1, _AT_ONCE // max(self._draws.size, self._market.form.line.knots.size))
        parts = [rungs[start : start + together] for start in range(0, rungs.size, together)]
        sums = [self._charges(part).sum(axis=1) for part in parts]
        return np.concatenate([np.zeros(0, dtype=np.int64), *sums])

    def without_the_dearest(self, rung: int) -> int:
        """The least of B_i(g): A(g) without whoever is charged most. It never falls as the rung rises."""
        charges = self._charges(np.array([rung]))[0]
        return int(charges.sum() - charges.max(initial=0))

    def _charges(self, rungs: Integers) -> Integers:
        """What those are charged who are asked at the last of these rungs, which rise; a row a rung."""
        asked = self._draws < self._market.count(self._phi, rungs[-1])
        if not asked.any():
            return np.zeros((rungs.size, 0), dtype=np.int64)
        return FullRungs(self._market, rungs).charge(self._bids[asked], self._draws[asked])


@final
class Cells:
    """Cell by cell, each owner at her cell's lower corner.

    The bids asked at a word are the lowest ones, so a draw bin needs one sum: that of its owners up to some bid bin.
    """

    def __init__(self, summary: LotterySummary, market: LotteryMarket) -> None:
        self._market = market
        self._bids, self._draws = bid_edges(summary.low, summary.high), draw_edges(summary.bits)
        self._reserves, self._phi = market.reserve(self._bids), market.phi_of_bids(self._bids)
        self._payable = self._reserves <= market.budget_micros
        rows = np.zeros((summary.cells.shape[0], summary.cells.shape[1] + 1), dtype=np.int64)
        np.cumsum(summary.cells, axis=1, out=rows[:, 1:])
        self._up_to, self._by_bid = rows, summary.cells.sum(axis=0)

    def totals(self, rungs: Integers) -> Integers:
        """A(g) for each of these rungs."""
        one = self._plain if self._market.form.plain else self._full
        return np.array([one(g) for g in rungs.tolist()], dtype=np.int64)

    def _asked(self, words: Integers) -> Integers:
        """How many owners of each draw bin are asked when bid bin b is asked at ``words[b]`` words (falling)."""
        bins = words.size - np.searchsorted(words[::-1], self._draws, side="right")
        return self._up_to[np.arange(self._draws.size), bins]

    def _plain(self, rung: int) -> int:
        asked = self._asked(self._market.count(self._phi, rung))
        some = asked > 0
        return int(np.dot(asked[some], self._market.posted(self._draws[some], rung)))

    def _full(self, rung: int) -> int:
        curve = FullRungs(self._market, np.array([rung]))
        words = np.where(self._payable, curve.words(self._bids)[0], 0)
        asked = self._asked(words)
        sure = np.where(words > 0, curve.base_charge(self._bids)[0], 0)  # not 0 only where everyone is asked
        return int(np.dot(asked, curve.offer_charge(self._draws)[0])) + int(np.dot(sure, self._by_bid))

    def climbing_words(self, rung: int, needed: int) -> Integers:
        """For each bid bin, below which word an owner's cell is charged at least ``needed`` at this rung.

        A charge never rises with the word, so those words come first; whole draw bins climb or stay.
        """
        if self._market.form.plain:
            asked = self._market.count(self._market.phi_of_reserves(np.maximum(self._reserves, needed)), rung)
            open_ = self._payable & (needed <= self._market.dearest)
            bins = np.searchsorted(self._draws, np.where(open_, asked, 0))
        else:
            curve = FullRungs(self._market, np.array([rung]))
            words = np.where(self._payable, curve.words(self._bids)[0], 0)
            offers = -curve.offer_charge(self._draws)[0]
            paid = np.searchsorted(offers, curve.base_charge(self._bids)[0] - needed, side="right")
            bins = np.minimum(np.searchsorted(self._draws, words), paid)
        return np.append(self._draws, self._market.words)[bins]
