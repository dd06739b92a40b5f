"""What each owner of a lottery is told: chance, whether asked, q, price. The proofs stand beside its clearing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pdqs.clearing.lottery.calibration import LotteryCalibration
from pdqs.clearing.lottery.costs import Costs, plain_charge
from pdqs.clearing.lottery.full_curve import FullRungs, in_parts
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import bid_bin
from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.privacy.loss import round_q_down


@dataclass(frozen=True, slots=True)
class Own:
    """What one batch is told; arrays in the order of its bids."""

    chance_words: Integers
    asked: Booleans
    q: Floats
    price_micros: Integers


def pricer(calibration: LotteryCalibration) -> Callable[[Floats, Words], Own]:
    """The way to price a batch: one of the three of the module's docstring."""
    if not calibration.exact:
        return lambda bids, draws: _by_cell(bids, draws, calibration)
    costs = calibration.costs
    if costs is None:
        return lambda bids, draws: _by_words(bids, draws.astype(np.int64), calibration)
    return lambda bids, draws: _at_q_star(bids, draws.astype(np.int64), calibration, costs)


def _last_of_each(fits: Callable[[Integers, Integers], Booleans], owners: int, below: int, high: int) -> Integers:
    """The same for many owners at once: ``fits(which, rungs)`` tells of those asked after."""
    low, above = np.full(owners, below, dtype=np.int64), np.full(owners, high + 1, dtype=np.int64)
    open_ = np.flatnonzero(above - low > 1)
    while open_.size:
        middle = (low[open_] + above[open_]) // 2
        holds = fits(open_, middle)
        low[open_] = np.where(holds, middle, low[open_])
        above[open_] = np.where(holds, above[open_], middle)
        open_ = open_[above[open_] - low[open_] > 1]
    return low


def _at_q_star(bids: Floats, draws: Integers, calibration: LotteryCalibration, costs: Costs) -> Own:
    """Few owners, all at q*: her rung from her own price, her price from everyone else."""
    market = calibration.market
    reserves, phi = market.reserve(bids), market.phi_of_bids(bids)
    # Whoever is not asked just above the top is charged nothing at any rung that is tried.
    charged = draws < market.count(phi, min(calibration.top + 1, market.ladder.highest))

    def left(which: Integers, rungs: Integers) -> Integers:
        """beta - B_i(g)."""
        found = market.budget_micros - costs.totals(rungs)
        some = np.flatnonzero(charged[which])
        found[some] += plain_charge(market, phi[which[some]], draws[which[some]], rungs[some])
        return found

    rungs = _last_of_each(
        lambda which, g: left(which, g) >= reserves[which], bids.size, calibration.bottom, calibration.top
    )
    counts = market.count(phi, rungs)
    asked = draws < counts
    chosen = np.flatnonzero(asked)
    prices = np.zeros(bids.size, dtype=np.int64)
    prices[chosen] = _crossing(chosen, draws, calibration, left)
    return Own(counts, asked, np.where(asked, market.form.best.q, 0.0), prices)


def _crossing(
    chosen: Integers, draws: Integers, calibration: LotteryCalibration, left: Callable[[Integers, Integers], Integers]
) -> Integers:
    """max_g min(beta - B_i(g), T(k_i; g)): the first falls with g and the second rises, so it is where they cross."""
    market, highest = calibration.market, calibration.market.ladder.highest
    words = draws[chosen]
    before = _last_of_each(
        lambda which, g: market.posted(words[which], g) <= left(chosen[which], g),
        chosen.size,
        calibration.bottom,
        calibration.top,
    )
    after = np.minimum(before + 1, highest)
    reached = np.where(before < market.ladder.lowest, 0, market.posted(words, before))
    beyond = np.minimum(left(chosen, after), market.posted(words, after))
    return np.maximum(reached, beyond)


def posted_prices(bids: Floats, draws: Words, calibration: LotteryCalibration) -> Integers:
    """Of a small market at q*: the highest price at which each owner, asked or not, would be asked."""
    market, costs = calibration.market, calibration.costs
    assert costs is not None, "prices beyond q* or of large markets are those of the rung"
    phi, words = market.phi_of_bids(bids), draws.astype(np.int64)

    def left(which: Integers, rungs: Integers) -> Integers:
        return market.budget_micros - costs.totals(rungs) + plain_charge(market, phi[which], words[which], rungs)

    return np.maximum(_crossing(np.arange(bids.size), words, calibration, left), 0)


def _by_words(bids: Floats, draws: Integers, calibration: LotteryCalibration) -> Own:
    """Few owners, beyond q*: rung by rung, counting the words at which each owner is asked."""
    market = calibration.market
    phi = _payable_phi(market, bids)
    reached = market.count(phi, calibration.bottom)  # R at the rung before
    counts, rungs = reached.copy(), np.full(bids.size, calibration.bottom, dtype=np.int64)
    first = np.zeros(bids.size, dtype=np.int64)
    for part in in_parts(market, calibration.bottom + 1, calibration.top, bids.size):
        curves, totals = FullRungs(market, part), calibration.totals[part - calibration.bottom]
        left = market.budget_micros - (totals[:, None] - curves.charge(bids, draws))
        starts = np.maximum(np.maximum.accumulate(curves.first_word(left), axis=0), first)
        words = market.count(phi, part[:, None])
        before = np.concatenate([reached[None, :], words[:-1]])
        counts += np.maximum(words - np.maximum(before, starts), 0).sum(axis=0)
        fitting = (draws >= starts).sum(axis=0)  # starts rise with the rung, so those that fit come first
        rungs = np.where(fitting > 0, part[0] + fitting - 1, rungs)
        reached, first = words[-1], starts[-1]
    asked = draws < market.count(phi, rungs)
    return _priced(bids, draws, rungs, counts, asked, market)


def _by_cell(bids: Floats, draws: Words, calibration: LotteryCalibration) -> Own:
    """Many owners: the rung of her cell, which neither her bid nor her word can move."""
    market = calibration.market
    phi = market.phi_of_bids(bids) if market.form.plain else _payable_phi(market, bids)
    counts = market.count(phi, calibration.bottom)
    if not calibration.climbs.size:
        return _priced(bids, draws, calibration.bottom, counts, draws < counts, market)
    rungs = np.full(bids.size, calibration.bottom, dtype=np.int64)
    climbing = np.arange(bids.size)
    bins = bid_bin(bids, market.form.setting.low, market.form.setting.high)
    for rung, climbs in zip(calibration.rungs[1:].tolist(), calibration.climbs, strict=True):
        climbing = climbing[draws[climbing] < climbs[bins[climbing]]]
        if not climbing.size:
            break
        rungs[climbing] = rung
    above = np.flatnonzero(rungs > calibration.bottom)
    counts[above] = market.count(phi[above], rungs[above])
    return _priced(bids, draws, rungs, counts, draws < counts, market)


def _payable_phi(market: LotteryMarket, bids: Floats) -> Floats:
    """phi of each bid itself; infinite for those that the budget could never pay."""
    return np.where(market.reserve(bids) <= market.budget_micros, market.form.line.at(bids), np.inf)


def _priced(
    bids: Floats,
    draws: Words | Integers,
    rungs: Integers | int,
    counts: Integers,
    asked: Booleans,
    market: LotteryMarket,
) -> Own:
    """q and price of the asked at their rungs."""
    chosen = np.flatnonzero(asked)
    q = np.where(asked, market.form.best.q, 0.0)
    prices = np.zeros(bids.size, dtype=np.int64)
    if market.form.plain:
        prices[chosen] = market.posted(draws[chosen], rungs if isinstance(rungs, int) else rungs[chosen])
        return Own(counts, asked, q, prices)
    rungs = np.broadcast_to(np.asarray(rungs, dtype=np.int64), bids.shape)
    for rung in np.unique(rungs[chosen]).tolist():
        here = chosen[rungs[chosen] == rung]
        curve = FullRungs(market, np.array([rung]))
        q[here] = round_q_down(curve.q(bids[here])[0])
        prices[here] = curve.payment(bids[here], draws[here])[0]
    return Own(counts, asked, q, prices)
