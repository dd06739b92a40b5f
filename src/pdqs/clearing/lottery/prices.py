"""What each owner of a lottery is told: chance, whether asked, q, price. The proofs stand beside its clearing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pdqs.clearing.lottery.calibration import LotteryCalibration
from pdqs.clearing.lottery.costs import PlainOwners
from pdqs.clearing.lottery.full_curve import FullRungs, in_parts
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import bid_bin
from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.privacy.loss import round_q_down

_MOST_ROWS, _TABLE = 2**10, 2**17  # rungs, and rungs times owners, up to which every price is worked out
_MOST_TRIES, _AT_ONCE = 31, 2**13  # rungs of an owner tried together, and prices worked out for them


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


def _last_of_each(
    fits: Callable[[Integers, Integers], Booleans], owners: int, calibration: LotteryCalibration, heard: int
) -> Integers:
    """The last rung of each owner up to the top where a condition that is true up to some point holds, else the bottom.

    ``fits(which, rungs)`` tells of those asked after. Several rungs of an owner are tried at once where calls cost more
    than what they work out: each rung takes the prices of ``heard`` owners.
    """
    low = np.full(owners, calibration.bottom, dtype=np.int64)
    above = np.full(owners, calibration.top + 1, dtype=np.int64)
    open_ = np.flatnonzero(above - low > 1)
    while open_.size:
        start, way = low[open_], above[open_] - low[open_]
        rungs = int(np.count_nonzero(np.diff(np.sort(start)))) + 1
        tries = max(1, min(_MOST_TRIES, _AT_ONCE // (rungs * max(heard, 1)), _AT_ONCE // open_.size))
        tried = start[:, None] + np.arange(1, tries + 1) * way[:, None] // (tries + 1)
        holds = fits(np.repeat(open_, tries), tried.ravel()).reshape(tried.shape).sum(axis=1)
        ends = np.column_stack([start, tried, start + way])  # what holds comes first
        each = np.arange(open_.size)
        low[open_], above[open_] = ends[each, holds], ends[each, holds + 1]
        open_ = open_[above[open_] - low[open_] > 1]
    return low


def _table(calibration: LotteryCalibration, costs: PlainOwners, owners: int) -> Integers | None:
    """A(g) at all rungs from the bottom to just above the top, where they and the owners to be priced are not many."""
    rungs = calibration.top - calibration.bottom
    if rungs > _MOST_ROWS or rungs * max(owners, len(costs)) > _TABLE:
        return None
    return costs.worked_out(
        np.arange(calibration.bottom, min(calibration.top + 1, calibration.market.ladder.highest) + 1)
    )


def _last_affordable(
    spare: Integers, calibration: LotteryCalibration, costs: PlainOwners, totals: Integers | None
) -> Integers:
    """The last rung at which the whole market costs no more than each of these sums."""
    if totals is None:
        return _last_of_each(lambda which, g: costs.totals(g) <= spare[which], spare.size, calibration, len(costs))
    tried = totals[1 : calibration.top - calibration.bottom + 1]
    return calibration.bottom + np.searchsorted(tried, spare, side="right")


def _at_q_star(bids: Floats, draws: Integers, calibration: LotteryCalibration, costs: PlainOwners) -> Own:
    """Few owners, all at q*: her rung from her own price, her price from everyone else."""
    market = calibration.market
    reserves, phi = market.reserve(bids), market.phi_of_bids(bids)
    # Whoever is not asked just above the top is charged nothing at any rung that is tried.
    charged = draws < market.count(phi, min(calibration.top + 1, market.ladder.highest))
    some, others = np.flatnonzero(charged), np.flatnonzero(~charged)
    rungs, prices = np.empty(bids.size, dtype=np.int64), np.zeros(bids.size, dtype=np.int64)
    totals = _table(calibration, costs, some.size)
    rungs[others] = _last_affordable(market.budget_micros - reserves[others], calibration, costs, totals)
    rungs[some], prices[some] = (
        _searched(reserves[some], phi[some], draws[some], calibration, costs)
        if totals is None
        else _looked_up(reserves[some], phi[some], draws[some], calibration, totals)
    )
    counts = market.count(phi, rungs)
    asked = draws < counts
    return Own(counts, asked, np.where(asked, market.form.best.q, 0.0), np.where(asked, prices, 0))


def _looked_up(
    reserves: Integers, phi: Floats, draws: Integers, calibration: LotteryCalibration, totals: Integers
) -> tuple[Integers, Integers]:
    """G_i, and max_g min(beta - B_i(g), T(k_i; g)): the first falls with g and the second rises, so it is where they
    cross. From a table with a row for each rung and a column for each owner."""
    market = calibration.market
    rungs = (calibration.bottom + np.arange(totals.size))[:, None]
    posted = market.posted(draws, rungs)
    left = market.budget_micros - totals[:, None] + np.where(draws < market.count(phi, rungs), posted, 0)
    tried = slice(1, calibration.top - calibration.bottom + 1)
    last, before = ((left >= need)[tried].sum(axis=0) for need in (reserves, posted))
    each, after = np.arange(draws.size), np.minimum(before + 1, rungs.size - 1)
    reached = np.where(before + calibration.bottom < market.ladder.lowest, 0, posted[before, each])
    return calibration.bottom + last, np.maximum(reached, np.minimum(left, posted)[after, each])


def _searched(
    reserves: Integers, phi: Floats, draws: Integers, calibration: LotteryCalibration, costs: PlainOwners
) -> tuple[Integers, Integers]:
    """The same without a table; both are searched for together, for they go over the same rungs."""
    market, owners = calibration.market, draws.size

    def left(which: Integers, rungs: Integers, posted: Integers) -> Integers:
        """beta - B_i(g): what is charged to herself is taken out of the total."""
        asked = draws[which] < market.count(phi[which], rungs)
        return market.budget_micros - costs.totals(rungs) + np.where(asked, posted, 0)

    def fits(which: Integers, rungs: Integers) -> Booleans:
        one = which % owners
        posted = market.posted(draws[one], rungs)
        return left(one, rungs, posted) >= np.where(which < owners, reserves[one], posted)

    found = _last_of_each(fits, 2 * owners, calibration, len(costs))
    last, before = found[:owners], found[owners:]
    after = np.minimum(before + 1, market.ladder.highest)
    reached = np.where(before < market.ladder.lowest, 0, market.posted(draws, before))
    posted = market.posted(draws, after)
    return last, np.maximum(reached, np.minimum(left(np.arange(owners), after, posted), posted))


def posted_prices(bids: Floats, draws: Words, calibration: LotteryCalibration) -> Integers:
    """Of a small market at q*: the highest price at which each owner, asked or not, would be asked."""
    market, costs = calibration.market, calibration.costs
    assert costs is not None, "prices beyond q* or of large markets are those of the rung"
    words = draws.astype(np.int64)
    prices = _searched(market.reserve(bids), market.phi_of_bids(bids), words, calibration, costs)[1]
    return np.maximum(prices, 0)


def _by_words(bids: Floats, draws: Integers, calibration: LotteryCalibration) -> Own:
    """Few owners, beyond q*: rung by rung, counting the words at which each owner is asked.

    Whoever the budget could never pay is never asked, and whoever has nothing left at a rung has nothing above it.
    """
    market = calibration.market
    phi = _payable_phi(market, bids)
    counts, rungs = market.count(phi, calibration.bottom), np.full(bids.size, calibration.bottom, dtype=np.int64)
    climbing = np.flatnonzero(np.isfinite(phi))
    reached, first = counts[climbing], np.zeros(climbing.size, dtype=np.int64)  # R and the first word, a rung before
    for part in in_parts(market, calibration.bottom + 1, calibration.top, bids.size):
        starts = np.maximum(_first_words(part, bids[climbing], draws[climbing], phi[climbing], calibration), first)
        words = market.count(phi[climbing], part[:, None])
        before = np.concatenate([reached[None, :], words[:-1]])
        counts[climbing] += np.maximum(words - np.maximum(before, starts), 0).sum(axis=0)
        fitting = (draws[climbing] >= starts).sum(axis=0)  # starts rise with the rung, so those that fit come first
        rungs[climbing] = np.where(fitting > 0, part[0] + fitting - 1, rungs[climbing])
        on = starts[-1] < market.words
        climbing, reached, first = climbing[on], words[-1, on], starts[-1, on]
        if not climbing.size:
            break
    asked = draws < market.count(phi, rungs)
    return _priced(bids, draws, rungs, counts, asked, market)


def _first_words(
    part: Integers, bids: Floats, draws: Integers, phi: Floats, calibration: LotteryCalibration
) -> Integers:
    """From which word on each owner fits at each of some rungs; of those who cost nothing there it is one and the same.

    Arrays have a row a rung and a column an owner.
    """
    market = calibration.market
    curves, left = FullRungs(market, part), market.budget_micros - calibration.totals[part - calibration.bottom, None]
    starts = np.repeat(curves.first_word(left), bids.size, axis=1)
    asked = np.flatnonzero(draws < market.count(phi, part[-1]))
    starts[:, asked] = curves.first_word(left + curves.charge(bids[asked], draws[asked]))
    return np.maximum.accumulate(starts, axis=0)


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
