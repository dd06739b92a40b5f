"""The lottery: truthful, rational and within budget for any bids and any draws, and chances that are frequencies."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pdqs.clearing.lottery import (
    LotteryMarket,
    LotteryResult,
    clear_by_lottery,
)
from pdqs.model.priors import TruncatedNormal
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.flat import Flat
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.loss import cap_q

RANGES = [(0.0, 1.0), (2.0, 3.0), (100.0, 101.0), (0.0, 25.0), (0.5, 40.0)]
CAPS = [0.5, 1.0, 2.0, 4.0, 8.0]
SIZES = [2, 3, 5, 48]


def market_of(
    budget: float, *, cap: float = 2.0, k: int = 2, span=(0.0, 1.0), prior=None, bits: int = 32, flat: bool = False
) -> LotteryMarket:
    setting = Setting(low=span[0], high=span[1], domain_size=k, q_max=cap_q(cap, k))
    rule = Flat(setting=setting) if flat else Lottery(prior=prior, setting=setting)
    return LotteryMarket(rule=rule, budget_micros=int(budget * 1e6), bits=bits)


@st.composite
def markets(draw, bits=32, caps=CAPS[:3]):
    """Any market of a few owners: range, cap, domain size, prior or flat chance, budget from nothing to plenty."""
    span = draw(st.sampled_from(RANGES))
    prior = draw(st.sampled_from([None, None, TruncatedNormal(span[0] + 0.3, 0.4, *span)]))
    n = draw(st.integers(2, 7))
    return market_of(
        draw(st.floats(0.0, 3.0)) * span[1] * n,
        cap=draw(st.sampled_from(caps)),
        k=draw(st.sampled_from(SIZES)),
        span=span,
        prior=prior,
        bits=bits,
        flat=draw(st.booleans()) and draw(st.booleans()),
    ), n


def bids_within(market: LotteryMarket, n: int):
    low, high = market.form.setting.low, market.form.setting.high
    middle = low + 0.25 * (high - low)
    return st.lists(st.floats(low, high) | st.sampled_from([low, middle, high]), min_size=n, max_size=n)


def words_within(market: LotteryMarket, n: int):
    top = market.words - 1
    return st.lists(st.integers(0, top) | st.sampled_from([0, 1, top // 2, top]), min_size=n, max_size=n)


def cleared(bids, words, market: LotteryMarket) -> LotteryResult:
    return clear_by_lottery(np.array(bids, dtype=np.float64), np.array(words, dtype=np.uint32), market)


def utility_micros(found: LotteryResult, i: int, price: float, market: LotteryMarket) -> float:
    """What owner i gains at her true price, in micro-units."""
    load = float(market.form.setting.load(found.q[i : i + 1])[0])
    return float(found.price_micros[i]) - price * load * 1e6


def best_gain_micros(bids, words, i, lies, market, clear=cleared) -> float:
    honest = utility_micros(clear(bids, words, market), i, bids[i], market)
    gains = []
    for lie in lies:
        told = [*bids[:i], lie, *bids[i + 1 :]]
        gains.append(utility_micros(clear(told, words, market), i, bids[i], market) - honest)
    return max(gains)


def tempting_lies(bids, market) -> list[float]:
    """The ends, the others' bids, and a grid."""
    low, high = market.form.setting.low, market.form.setting.high
    return [low, high, *bids, *np.linspace(low, high, 9).tolist()]


def frequency(bids, words, i, market) -> int:
    """At how many of her words owner i is asked, everyone else as they are."""
    asked = 0
    for own in range(market.words):
        asked += int(cleared(bids, [*words[:i], own, *words[i + 1 :]], market).asked[i])
    return asked


# --- the promises ---------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(markets(), st.data())
def test_no_owner_gains_by_misreporting_her_price_whatever_the_draw(case, data):
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    lies = tempting_lies(bids, market) + data.draw(bids_within(market, 2))
    gain = best_gain_micros(bids, words, 0, lies, market)
    assert gain <= (1e-6 if market.form.plain else 1.001)


@settings(max_examples=60)
@given(markets(), st.data())
def test_every_owner_asked_is_paid_her_price_and_the_budget_holds(case, data):
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    found = cleared(bids, words, market)
    assert int(found.price_micros.sum()) <= market.budget_micros
    assert all(utility_micros(found, i, bids[i], market) >= 0 for i in range(n))
    assert (found.asked == (np.array(words) < found.chance_words)).all() or not market.form.plain
    assert (found.price_micros[~found.asked] == 0).all()
    assert (found.q[~found.asked] == 0).all()
    assert (found.chance_words[found.asked] > 0).all()


@settings(max_examples=15)
@given(markets(bits=6), st.data())
def test_the_chance_is_the_frequency_over_her_own_draws(case, data):
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    found = cleared(bids, words, market)
    assert int(found.chance_words[0]) == frequency(bids, words, 0, market)


@settings(max_examples=30)
@given(markets(), st.data())
def test_the_chance_of_an_owner_does_not_read_her_own_draw(case, data):
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    others = [data.draw(words_within(market, 1))[0], *words[1:]]
    assert cleared(bids, words, market).chance_words[0] == cleared(bids, others, market).chance_words[0]
