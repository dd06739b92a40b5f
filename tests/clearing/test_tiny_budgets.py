"""A tiny budget at a high cap: as quick as any other, and the offers are those of the long way, bit for bit."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pdqs
from pdqs.clearing import clear
from pdqs.clearing.lottery.calibration import calibrate_lottery
from pdqs.clearing.lottery.costs import FullOwners, costs_of, largest_charge
from pdqs.clearing.lottery.full_curve import FullRungs, in_parts
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.clearing.lottery.summaries import LotterySummary, summarise_lottery
from pdqs.clearing.steps import last_that
from pdqs.model.arrays import Floats, Integers, Words


def words_of(size: int, rng: np.random.Generator) -> Words:
    return rng.integers(0, 2**32, size, dtype=np.uint64).astype(np.uint32)


def the_long_way(bids: Floats, draws: Integers, market: LotteryMarket) -> tuple[Integers, Integers]:
    """Counts and rungs by going over every owner at every rung up to where nobody at all could fit."""
    ladder, budget = market.ladder, market.budget_micros
    payable = market.reserve(bids) <= budget

    def totals(rungs: Integers) -> Integers:
        return np.asarray(FullRungs(market, rungs).charge(bids, draws).sum(axis=1))

    def total(rung: int) -> int:
        return int(totals(np.array([rung]))[0])

    spare = largest_charge(market, ladder.highest)
    bottom = last_that(lambda g: total(g) + largest_charge(market, g) <= budget, ladder.lowest - 1, ladder.highest)
    top = last_that(lambda g: total(g) - spare <= budget, bottom, ladder.highest)
    phi = np.where(payable, market.form.line.at(bids), np.inf)
    reached = market.count(phi, bottom)
    counts, rungs, first = reached.copy(), np.full(bids.size, bottom), np.zeros(bids.size, dtype=np.int64)
    for part in in_parts(market, bottom + 1, top, bids.size):
        curves = FullRungs(market, part)
        left = budget - (totals(part)[:, None] - curves.charge(bids, draws))
        starts = np.maximum(np.maximum.accumulate(curves.first_word(left), axis=0), first)
        words = market.count(phi, part[:, None])
        before = np.concatenate([reached[None, :], words[:-1]])
        counts += np.maximum(words - np.maximum(before, starts), 0).sum(axis=0)
        fitting = (draws >= starts).sum(axis=0)
        rungs = np.where(fitting > 0, part[0] + fitting - 1, rungs)
        reached, first = words[-1], starts[-1]
    return counts, np.where(draws < market.count(phi, rungs), rungs, bottom)


def held(terms: pdqs.Terms, bids: Floats, draws: Words) -> tuple[LotteryMarket, LotterySummary]:
    market = LotteryMarket(rule=terms.bound_rule, budget_micros=round(1e6 * terms.budget))  # type: ignore[arg-type]
    return market, summarise_lottery(bids, draws, *terms.bid_range, bits=market.bits)


@pytest.mark.parametrize("cap", [4.0, 8.0, 16.0])
@pytest.mark.parametrize("budget", [0.001, 0.5, 30.0, 3000.0])
@pytest.mark.parametrize("low", [0.0, 0.2])
def test_the_offers_are_those_of_the_long_way(cap: float, budget: float, low: float) -> None:
    rng = np.random.default_rng(round(100 * cap + 10 * budget + low))
    terms = pdqs.Terms(query=pdqs.Count("x"), budget=budget, epsilon_max=cap, bid_range=(low, 1.0))
    bids, draws = low + (1 - low) * rng.random(60) ** 3, words_of(60, rng) >> np.uint32(rng.integers(0, 12))
    market, _ = held(terms, bids, draws)
    assert not market.form.plain
    counts, rungs = the_long_way(bids, draws.astype(np.int64), market)
    offers = clear(bids, terms, draws=draws)
    assert np.array_equal(np.asarray(offers.chance), counts / market.words)
    paid = [
        int(FullRungs(market, np.array([rung])).payment(bids[[place]], draws[[place]])[0, 0])
        if offers.asked[place]
        else 0
        for place, rung in enumerate(rungs.tolist())
    ]
    assert offers.payment_micros.tolist() == paid


def test_no_rung_is_gone_over_at_which_nobody_fits() -> None:
    rng = np.random.default_rng(3)
    bids, draws = rng.random(500), words_of(500, rng)
    market, summary = held(pdqs.Terms(query=pdqs.Count("x"), budget=1.0, epsilon_max=16.0), bids, draws)
    found, costs = calibrate_lottery(summary, market), costs_of(summary, market)
    assert isinstance(costs, FullOwners)
    assert costs.without_the_dearest(found.top) <= market.budget_micros < costs.without_the_dearest(found.top + 1)


def test_a_tiny_budget_at_a_high_cap_is_no_slower_than_another() -> None:
    rng = np.random.default_rng(1)
    terms = pdqs.Terms(query=pdqs.Count("x"), budget=1.0, epsilon_max=16.0)
    bids, draws = rng.random(20_000), words_of(20_000, rng)
    began = time.process_time()
    clear(bids, terms, draws=draws)
    assert time.process_time() - began < 3, "it took eight seconds of a core, and takes a tenth of one"
