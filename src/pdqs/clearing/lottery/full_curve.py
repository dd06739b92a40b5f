"""Prices of a lottery whose cap lies beyond q*: the cheap report at more than q*, as some rungs see it.

Up to b1, where phi(b1) = m1 s, everyone is asked and q falls with the bid; beyond it q is q* and only the chance falls.
An owner with word k is asked up to the bid t(k), never below b1, so her Archer-Tardos payment splits in two:

    P(b, k; s) = b l(q(b)) + integral_b^t(k) l(q(x)) dx = base(b) + l* t(k)
    base(b) = b e(b) + integral_b^hi e(x) dx,   e(x) = l(q(x)) - l* where phi(x) < m1 s, else 0

On a straight piece of phi the mean of e over bids is that over m = phi/s, whose integral is tabulated once for all
rungs. Where phi is nearly flat that would divide the difference of two nearly equal figures by a small one, so over a
narrow stretch of m the mean is taken from e itself, at Gauss's points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np

from pdqs.clearing.lottery.market import CHARGE, LotteryMarket
from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.model.money import MICROS_PER_UNIT, payment_micros

_SHAVED = 1.0 - 1e-11  # a budget turned into a bid is taken this much lower, so that roundings never favour the owner
_AT_ONCE = 2**18
_NARROW = 0.01  # of m: there three of Gauss's points are right to 1e-15, and the table would lose digits
_POINTS, _WEIGHTS = 0.5 * (np.polynomial.legendre.leggauss(3)[0] + 1.0), 0.5 * np.polynomial.legendre.leggauss(3)[1]


@final
class FullRungs:
    """Some rungs of such a market. Arrays have a row a rung and a column an owner."""

    def __init__(self, market: LotteryMarket, rungs: Integers) -> None:
        assert market.form.full is not None, "a plain lottery has no curve beyond q*"
        self._market, self._form, self._full = market, market.form, market.form.full
        self._rungs = np.asarray(rungs, dtype=np.int64)[:, None]
        self._scale = market.ladder.scale(self._rungs)
        line = self._form.line
        whole = self._over(line.knots[:-1], line.knots[1:], line.prices[:-1], line.prices[1:])
        beyond = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1]
        self._beyond = np.concatenate([beyond, np.zeros_like(self._scale)], axis=1)
        self.lowest_base = self.base_charge(np.array([self._form.setting.low]))
        self.largest_charge = self.lowest_base + self.offer_charge(np.zeros(1, dtype=np.int64))

    def _excess(self, m: Floats) -> Floats:
        """e at m = phi/s."""
        found: Floats = self._form.setting.load(self._full.q(m)) - self._form.best.load
        return np.maximum(found, 0.0)

    def _over(self, bids: Floats, ends: Floats, prices: Floats, end_prices: Floats) -> Floats:
        """The integral of e from each bid to the end of its straight piece of phi."""
        full, least, most = self._full, *np.broadcast_arrays(prices / self._scale, end_prices / self._scale)
        start, stop = np.clip(least, full.full_at, full.m1), np.clip(most, full.full_at, full.m1)
        # e is constant up to full_at, curved up to m1, nothing beyond: shares of the way, all of it if there is none.
        way = most - least
        flat = np.divide(np.clip(full.full_at - least, 0.0, way), way, out=(least <= full.full_at) * 1.0, where=way > 0)
        bent = np.divide(stop - start, way, out=(least > full.full_at) * 1.0, where=way > 0)
        means = np.zeros_like(way)
        narrow = stop - start <= _NARROW * start
        near, far = narrow & (bent > 0), ~narrow
        means[near] = self._mean_excess(start[near], stop[near])
        means[far] = (full.excess.tail(start[far]) - full.excess.tail(stop[far])) / (stop[far] - start[far])
        mean: Floats = flat * self._excess(np.array(full.full_at)) + bent * means
        return (ends - bids) * mean

    def _mean_excess(self, start: Floats, stop: Floats) -> Floats:
        """The mean of e over a narrow stretch of m."""
        mean: Floats = _WEIGHTS @ self._excess(start + _POINTS[:, None] * (stop - start))
        return mean

    def words(self, bids: Floats) -> Integers:
        """R(b): at how many words a bid is asked."""
        return self._market.count(self._form.line.at(bids), self._rungs)

    def q(self, bids: Floats) -> Floats:
        """q(b; s)."""
        return self._form.q(bids, self._scale)

    def base(self, bids: Floats) -> Floats:
        """What is paid beyond l* t(k)."""
        line = self._form.line
        piece, prices = np.atleast_1d(line.piece_of(bids)), line.at(bids)
        here = self._over(bids, line.knots[piece + 1], prices, line.prices[piece + 1])
        owed: Floats = bids * self._excess_at(prices) + here + self._beyond[:, piece + 1]
        return owed

    def _excess_at(self, prices: Floats) -> Floats:
        """e where phi is this; nothing from m1 s on."""
        m = prices / self._scale
        return np.where(m < self._full.m1, self._excess(np.minimum(m, self._full.m1)), 0.0)

    def offered(self, draws: Words | Integers) -> Floats:
        """t(k): the dearest bid that is asked at this word; 0 if none is."""
        return np.maximum(self._market.threshold(draws, self._rungs), 0.0)

    def payment(self, bids: Floats, draws: Words | Integers) -> Integers:
        """P(b, k; s) of an owner who is asked, in micro-units, rounded up."""
        offered = np.maximum(self.offered(draws), bids)  # they agree but for an ulp, in which she must not lose
        return payment_micros(self.base(bids) + self._form.best.load * offered)

    def charge(self, bids: Floats, draws: Words | Integers) -> Integers:
        """What the budget is charged for an owner: a hair more than she is paid; 0 if she is not asked."""
        asked = (np.asarray(draws, dtype=np.int64) < self.words(bids)) & self._payable(bids)
        return np.where(asked, self.base_charge(bids) + self.offer_charge(draws), 0)

    def _payable(self, bids: Floats) -> Booleans:
        """Whether the budget could ever pay a bid."""
        return self._market.reserve(bids) <= self._market.budget_micros

    def base_charge(self, bids: Floats) -> Integers:
        """The part of the charge that the bid makes."""
        return payment_micros(self.base(bids) * CHARGE)

    def offer_charge(self, draws: Words | Integers) -> Integers:
        """The part of the charge that the word makes."""
        return payment_micros(self._form.best.load * self.offered(draws) * CHARGE)

    def first_word(self, left: Integers) -> Integers:
        """v: the first word at which the lowest bid would be charged no more than is left; 2^bits if there is none."""
        load, low, high = self._form.best.load, self._form.setting.low, self._form.setting.high
        dearest = (left - self.lowest_base) * (_SHAVED / (load * MICROS_PER_UNIT * CHARGE))
        found = self.words(np.minimum(np.maximum(dearest, low), high))
        return np.where(left >= self.largest_charge, 0, np.where(dearest < low, self._market.words, found))


def in_parts(market: LotteryMarket, bottom: int, top: int, owners: int) -> Iterator[Integers]:
    """The rungs bottom..top, as many at once as fit in memory."""
    together = max(1, _AT_ONCE // max(owners, market.form.line.knots.size))
    for start in range(bottom, top + 1, together):
        yield np.arange(start, min(start + together, top + 1))
