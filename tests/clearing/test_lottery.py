"""The lottery: truthful, rational and within budget for any bids and any draws, and chances that are frequencies."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import pdqs
from pdqs.auditing.temptation import Deal, tempted
from pdqs.clearing.lottery import (
    EXACT,
    LotteryMarket,
    LotteryResult,
    apply_lottery,
    calibrate_lottery,
    clear_by_lottery,
    posted_prices,
    prices,
    summaries,
    summarise_lottery,
)
from pdqs.clearing.lottery.costs import costs_of
from pdqs.clearing.lottery.full_curve import FullRungs
from pdqs.clearing.lottery.market import ScaleLadder
from pdqs.clearing.lottery.summaries import bid_bin, bid_edges, count_cells, draw_bin, draw_edges
from pdqs.model.arrays import Floats
from pdqs.model.errors import PdqsError
from pdqs.model.priors import TruncatedNormal
from pdqs.pricing.payment import misreport_micros
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.flat import Flat
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.loss import cap_q

RANGES = [(0.0, 1.0), (2.0, 3.0), (100.0, 101.0), (0.0, 25.0), (0.5, 40.0)]
CAPS = [0.5, 1.0, 2.0, 4.0, 8.0]
SIZES = [2, 3, 5, 48]


def market_of(
    budget: float,
    *,
    cap: float = 2.0,
    k: int = 2,
    span: Any = (0.0, 1.0),
    prior: Any = None,
    bits: int = 32,
    flat: bool = False,
) -> LotteryMarket:
    setting = Setting(low=span[0], high=span[1], domain_size=k, q_max=cap_q(cap, k))
    rule = Flat(setting=setting) if flat else Lottery(prior=prior, setting=setting)
    return LotteryMarket(rule=rule, budget_micros=int(budget * 1e6), bits=bits)


@st.composite
def markets(draw: Any, bits: Any = 32, caps: Any = CAPS) -> Any:
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


def bids_within(market: LotteryMarket, n: int) -> Any:
    low, high = market.form.setting.low, market.form.setting.high
    middle = low + 0.25 * (high - low)
    return st.lists(st.floats(low, high) | st.sampled_from([low, middle, high]), min_size=n, max_size=n)


def words_within(market: LotteryMarket, n: int) -> Any:
    top = market.words - 1
    return st.lists(st.integers(0, top) | st.sampled_from([0, 1, top // 2, top]), min_size=n, max_size=n)


def cleared(bids: Any, words: Any, market: LotteryMarket) -> LotteryResult:
    return clear_by_lottery(np.array(bids, dtype=np.float64), np.array(words, dtype=np.uint32), market)


def deal(found: LotteryResult, i: int) -> Deal:
    return Deal(q=float(found.q[i]), payment_micros=int(found.price_micros[i]))


def best_gain_micros(bids: Floats, words: list[int], i: int, lies: Any, market: Any, clear: Any = cleared) -> float:
    honest = deal(clear(bids, words, market), i)
    lying = [deal(clear([*bids[:i], lie, *bids[i + 1 :]], words, market), i) for lie in lies]
    return max(tempted(honest, each, bids[i], market.form.setting).gain_micros for each in lying)


def most_gain_micros(market: Any, price: float) -> float:
    """Nothing at q*; beyond it what rounding gives."""
    return 1e-6 if market.form.plain else misreport_micros(price, market.form.setting)


def tempting_lies(bids: Floats, market: Any) -> list[float]:
    """The ends, the others' bids, and a grid."""
    low, high = market.form.setting.low, market.form.setting.high
    return [low, high, *bids, *np.linspace(low, high, 9).tolist()]


def frequency(bids: Any, words: Any, i: Any, market: Any) -> int:
    """At how many of her words owner i is asked, everyone else as they are."""
    asked = 0
    for own in range(market.words):
        asked += int(cleared(bids, [*words[:i], own, *words[i + 1 :]], market).asked[i])
    return asked


# --- the promises ---------------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(markets(), st.data())
def test_no_owner_gains_by_misreporting_her_price_whatever_the_draw(case: Any, data: st.DataObject) -> None:
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    lies = tempting_lies(bids, market) + data.draw(bids_within(market, 2))
    gain = best_gain_micros(bids, words, 0, lies, market)
    assert gain <= most_gain_micros(market, bids[0])


@settings(max_examples=25)
@given(markets(), st.data())
def test_every_owner_asked_is_paid_her_price_and_the_budget_holds(case: Any, data: st.DataObject) -> None:
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    found = cleared(bids, words, market)
    assert int(found.price_micros.sum()) <= market.budget_micros
    assert all(deal(found, i).utility_micros(bids[i], market.form.setting) >= 0 for i in range(n))
    assert (found.asked == (np.array(words) < found.chance_words)).all() or not market.form.plain
    assert (found.price_micros[~found.asked] == 0).all()
    assert (found.q[~found.asked] == 0).all()
    assert (found.chance_words[found.asked] > 0).all()


@settings(max_examples=12)
@given(markets(bits=5), st.data())
def test_the_chance_is_the_frequency_over_her_own_draws(case: Any, data: st.DataObject) -> None:
    market, n = with_coarse_ladder(case[0]), case[1]
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    found = cleared(bids, words, market)
    assert int(found.chance_words[0]) == frequency(bids, words, 0, market)


@settings(max_examples=20)
@given(markets(), st.data())
def test_the_chance_of_an_owner_does_not_read_her_own_draw(case: Any, data: st.DataObject) -> None:
    market, n = case
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    others = [data.draw(words_within(market, 1))[0], *words[1:]]
    assert cleared(bids, words, market).chance_words[0] == cleared(bids, others, market).chance_words[0]


# --- the same by the book -------------------------------------------------------------------------------------------


def with_coarse_ladder(market: LotteryMarket) -> LotteryMarket:
    """The same market on a ladder of 60 rungs, so that an oracle can try them all."""
    market.__dict__["ladder"] = ScaleLadder(market.form.setting.high, 6, -48, 18 if market.form.plain else 60)
    return market


def plain_by_the_book(bids: Floats, words: list[int], market: Any) -> Any:
    """THEORY section 9, plain case, lo = 0 and uniform phi = 2b: every rung tried, prices searched for one by one."""
    load, m1, beta = market.form.best.load, market.form.best.m1, market.budget_micros
    price = [math.ceil(b * load * 1e6 - 1e-9) for b in bids]
    top = min(math.ceil(load * 1e6 * market.form.setting.high - 1e-9), beta)
    rungs = range(market.ladder.lowest, market.ladder.highest + 1)

    def asked_words(c: Any, g: Any) -> Any:
        scale = market.form.setting.high * 2.0 ** (g / 6)
        rho = 1.0 if c == 0 else min(1.0, math.sqrt(m1 * scale / (2 * c / (load * 1e6))))
        return math.floor(rho * market.words)

    def offered(k: int, g: Any) -> Any:
        scale = market.form.setting.high * 2.0 ** (g / 6)
        return min(top, math.floor(1e-9 + load * 1e6 * m1 * scale / (2 * ((k + 1) / market.words) ** 2)))

    def charged(j: int, g: Any) -> Any:
        return offered(words[j], g) if price[j] <= beta and words[j] < asked_words(price[j], g) else 0

    found = []
    for i in range(len(bids)):
        left = {g: beta - sum(charged(j, g) for j in range(len(bids)) if j != i) for g in rungs}
        fitting = [g for g in rungs if price[i] <= left[g]]
        chance = asked_words(price[i], max(fitting)) if fitting and price[i] <= beta else 0
        highest = max(min(left[g], offered(words[i], g)) for g in rungs)
        found.append((chance, highest if words[i] < chance else 0))
    return found


@settings(max_examples=25)
@given(
    bids=st.lists(st.floats(0.001, 1.0) | st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=6),
    words=st.lists(st.integers(0, 2**32 - 1), min_size=6, max_size=6),
    budget=st.floats(0.0, 8.0),
    cap=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_chances_and_prices_are_those_of_the_definition(
    bids: Floats, words: list[int], budget: float, cap: float
) -> None:
    market = with_coarse_ladder(market_of(budget, cap=cap))
    words = words[: len(bids)]
    found = cleared(bids, words, market)
    for i, (chance, price) in enumerate(plain_by_the_book(bids, words, market)):
        assert abs(int(found.chance_words[i]) - chance) <= 2 + chance * 1e-5  # the book's bid may be a micro-unit off
        assert abs(int(found.price_micros[i]) - price) <= 3 * len(bids)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("span", RANGES)
def test_a_posted_price_is_the_largest_that_its_word_is_asked_at(
    rng: np.random.Generator, span: Any, flat: Any
) -> None:
    """To the micro-unit, at words where the formula lands next to a whole price too: few words, many scales."""
    for bits, budget, normal in ((32, 50.0, False), (6, 1.995, False), (48, 50.0, not flat), (10, 1.995, not flat)):
        prior = TruncatedNormal(span[0] + 0.3, 0.4, *span) if normal else None
        market = market_of(budget * span[1], span=span, bits=bits, prior=prior, flat=flat)
        words = rng.integers(0, market.words, 4000)
        rungs = rng.integers(market.ladder.highest - 90_000, market.ladder.highest + 1, 4000)
        found = market.posted(words, rungs)

        def asked(prices: Any, words: Any = words, rungs: Any = rungs, market: Any = market) -> Any:
            return market.count(market.phi_of_reserves(prices), rungs) > words

        somebody = asked(np.full(4000, market.cheapest))
        assert (found[~somebody] == 0).all()
        assert (found[somebody] >= market.cheapest).all()
        assert (found <= market.dearest).all()
        assert asked(found)[somebody].all()
        assert not asked(np.minimum(found + 1, market.dearest))[somebody & (found < market.dearest)].any()


@pytest.mark.parametrize(("owners", "budget"), [(2, 3.0), (50, 10.0), (300, 60.0), (3000, 300.0), (3000, 2.5)])
def test_rungs_and_prices_are_the_same_by_table_and_by_search(
    rng: np.random.Generator, owners: int, budget: float
) -> None:
    """Of every owner, equal bids and bids beyond the budget among them, however many rungs are tried at once."""
    market = market_of(budget, span=(0.0, 4.0))
    bids = np.where(rng.random(owners) < 0.3, np.round(rng.random(owners), 1), 4.0 * rng.random(owners) ** 3)
    words = rng.integers(0, 2**32, owners, dtype=np.uint32)
    calibration = calibrate_lottery(summarise_lottery(bids, words, 0.0, 4.0), market)
    found = []
    for rows, tries in ((2**30, 31), (0, 31), (0, 1)):
        with mock.patch.multiple(prices, _MOST_ROWS=rows, _TABLE=rows, _MOST_TRIES=tries):
            found.append(apply_lottery(bids, words, calibration))
    for other in found[1:]:
        assert np.array_equal(other.chance_words, found[0].chance_words)
        assert np.array_equal(other.price_micros, found[0].price_micros)
    assert found[0].asked.any()


@pytest.mark.parametrize("off", [-1.5, -1.0, 0.25, 1.0])
def test_a_formula_that_is_a_micro_unit_off_is_put_right(rng: np.random.Generator, off: float) -> None:
    """The counts decide, not the formula: where it is thought doubtful, a wrong guess is searched for again."""
    market = market_of(50.0)
    words = rng.integers(0, market.words, 300)
    rungs = rng.integers(market.ladder.highest - 90_000, market.ladder.highest + 1, 300)
    right = market.posted(words, rungs)
    crooked = market_of(50.0)
    true_guess = LotteryMarket._unrounded
    with mock.patch.object(LotteryMarket, "_unrounded", lambda self, *given: true_guess(self, *given) + off):
        assert (crooked.posted(words, rungs) != right).any()  # the fault is seen where nothing is thought doubtful
        crooked.__dict__["_slack"] = 1.0
        assert np.array_equal(crooked.posted(words, rungs), right)


def full_payment(bid: Any, word: Any, scale: Any, market: Any) -> float:
    """P(b, k; s) = b l(q(b)) + integral_b^t l(q), by quadrature, for uniform phi = 2b; 0 if she is not asked."""
    form = market.form
    share = (word + 1) / market.words
    top = min(form.setting.high, form.best.m1 * scale / (2 * share**2))
    if bid > top:
        return 0.0

    def load(x: float) -> Any:
        return float(form.setting.load(form.q(np.array([x]), scale))[0])

    bends = [x for x in (form.full.full_at * scale / 2, form.best.m1 * scale / 2) if bid < x < top]
    return bid * load(bid) + quad(load, bid, top, points=bends or None, limit=200)[0]


def test_prices_beyond_q_star_are_those_of_the_definition(rng: np.random.Generator) -> None:
    for budget, cap in ((6.0, 4.0), (9.0, 8.0), (14.0, 4.0)):
        market = with_coarse_ladder(market_of(budget, cap=cap))
        bids, words = rng.random(3).round(3).tolist(), rng.integers(0, 2**32, 3).tolist()
        found = cleared(bids, words, market)
        for i in range(3):
            rung, above = market.ladder.lowest - 1, market.ladder.highest + 1
            while above - rung > 1:
                middle = (rung + above) // 2
                scale = 2.0 ** (middle / 6)
                others = sum(full_payment(bids[j], words[j], scale, market) for j in range(3) if j != i)
                fits = others + full_payment(0.0, words[i], scale, market) <= budget
                rung, above = (middle, above) if fits else (rung, middle)
            price = full_payment(bids[i], words[i], 2.0 ** (rung / 6), market)
            assert found.price_micros[i] == pytest.approx(price * 1e6, abs=3)
            assert found.asked[i] == (price > 0)


@pytest.mark.parametrize("cap", [4.0, 8.0, 12.0])
@pytest.mark.parametrize("spread", [0.2, 0.05])
def test_payments_beyond_q_star_never_rise_with_the_bid_where_a_prior_is_nearly_flat(cap: float, spread: float) -> None:
    """Next to the end of such a prior phi is capped: flat but for a hair. Differences of the table, divided by that
    hair, rose by 8e-9 of the dearest payment at a cap of 4 and by 3e-5 at 12."""
    market = market_of(1e5, cap=cap, span=(0.0, 1000.0), prior=TruncatedNormal(300.0, 1000.0 * spread, 0.0, 1000.0))
    bids = np.union1d(np.linspace(0.0, 1000.0, 2001), market.form.line.knots)
    rungs = np.linspace(market.ladder.lowest // 3, market.ladder.highest, 25).astype(np.int64)
    base = FullRungs(market, rungs).base(bids)
    assert np.diff(base, axis=1).max() <= 1e-12 * 1000.0 * cap
    assert np.diff(base, axis=0).min() >= -1e-12 * 1000.0 * cap  # nor do they fall with the rung


def test_a_free_owner_gains_nothing_by_asking_much_where_a_prior_is_nearly_flat() -> None:
    market = market_of(15_000.0, cap=6.0, k=15, span=(0.0, 1000.0), prior=TruncatedNormal(300.0, 200.0, 0.0, 1000.0))
    bids: Any = [0.0, 277.6887153]
    words = [684719262, 1517078632]
    gain = best_gain_micros(bids, words, 0, [875.0, 989.4613127864284], market)
    assert gain <= most_gain_micros(market, bids[0])  # it was 30 micro-units


# --- negative controls: each broken form must be caught by the same tests -------------------------------------------


def worst_gain(clear: Any, rng: np.random.Generator, rounds: int = 4) -> float:
    """The most that anyone gains in some seeded markets."""
    worst = 0.0
    for _ in range(rounds):
        market, bids, words = market_of(2.5), rng.random(4).tolist(), rng.integers(0, 2**32, 4).tolist()
        worst = max(worst, *(best_gain_micros(bids, words, i, np.linspace(0, 1, 11), market, clear) for i in range(4)))
    return worst


def with_own_bid(bids: Any, words: Any, market: Any) -> LotteryResult:
    """Broken: the price is that of the owner's own rung, which reads her bid."""
    found, setting = cleared(bids, words, market), market.form.setting
    bids, words = np.array(bids), np.array(words, dtype=np.int64)
    costs = costs_of(summarise_lottery(bids, words.astype(np.uint32), setting.low, setting.high), market)
    reserves, prices = market.reserve(bids), np.zeros(bids.size, dtype=np.int64)
    for i in np.flatnonzero(found.asked):
        low, high = market.ladder.lowest, market.ladder.highest + 1
        while high - low > 1:
            middle = np.array([(low + high) // 2])
            asked = words[i] < market.count(market.phi_of_bids(bids[i : i + 1]), middle)[0]
            own = market.posted(words[i : i + 1], middle)[0] if asked else 0
            fits = costs.totals(middle)[0] - own + reserves[i] <= market.budget_micros
            low, high = (int(middle[0]), high) if fits else (low, int(middle[0]))
        prices[i] = market.posted(words[i : i + 1], low)[0]
    return replace(found, price_micros=prices)


def paid_to_the_top(bids: Floats, words: list[int], market: Any) -> LotteryResult:
    """Broken: the integral of the payment runs to hi, as if every draw were asked at every bid."""
    found = cleared(bids, words, market)
    return replace(found, price_micros=np.where(found.asked, market.dearest, 0))


def draws_from_bids(bids: Floats, _words: Any, market: Any) -> LotteryResult:
    """Broken: the draw is a hash of the bid."""
    return cleared(bids, [int(b * 1e9) * 2654435761 % 2**32 for b in bids], market)


@pytest.mark.parametrize("broken", [with_own_bid, paid_to_the_top, draws_from_bids])
def test_a_broken_lottery_is_caught_as_untruthful(rng: np.random.Generator, broken: Any) -> None:
    assert worst_gain(broken, rng) > 1000.0


def test_the_true_lottery_passes_the_search_that_catches_the_broken(rng: np.random.Generator) -> None:
    assert worst_gain(cleared, rng, rounds=2) <= 1e-6


def test_a_chance_rounded_up_is_caught() -> None:
    market = market_of(1.0, bits=6)
    bids, words = [0.31, 0.47, 0.83], [40, 20, 9]
    true = cleared(bids, words, market)
    up = [min(int(c) + 1, market.words) for c in true.chance_words]
    assert [frequency(bids, words, i, market) for i in range(3)] == true.chance_words.tolist() != up


# --- corners --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [(2.0, 3.0), (100.0, 101.0)])
def test_bids_at_a_low_end_above_nothing_are_not_all_asked(rng: np.random.Generator, span: Any) -> None:
    words = rng.integers(0, 2**32, 300)
    market = market_of(60 * span[0], span=span)
    found = cleared(np.full(300, span[0]), words, market)
    assert 0 < found.asked.sum() < 100
    assert found.price_micros.sum() >= 0.9 * market.budget_micros


def test_bids_equal_to_the_top_can_be_asked(rng: np.random.Generator) -> None:
    found = cleared(np.ones(100), rng.integers(0, 2**32, 100), market_of(40.0))
    assert 15 <= found.asked.sum() <= 20
    assert (found.chance_words > 0).all()


def test_equal_bids_are_told_apart_by_their_draws(rng: np.random.Generator) -> None:
    market = market_of(20.0)
    found = cleared(np.full(200, 0.3), rng.integers(0, 2**32, 200), market)
    assert 0.9 * market.budget_micros <= found.price_micros.sum() <= market.budget_micros


def test_a_budget_below_the_cheapest_price_asks_nobody_and_names_everyone() -> None:
    found = cleared([2.0, 2.5, 3.0], [5, 6, 7], market_of(1.0, span=(2.0, 3.0)))
    assert not found.asked.any()
    assert (found.chance_words == 0).all()
    assert found.beyond_budget.all()


def test_owners_dearer_than_the_budget_are_named_and_cost_nobody_a_chance() -> None:
    market = market_of(1.0)
    found = cleared([0.1, 0.2, 0.9], [2**31, 2**20, 5], market)
    assert found.beyond_budget.tolist() == [False, False, True]
    assert found.chance_words[2] == 0
    assert found.asked[1]


def test_posted_prices_are_what_the_asked_are_paid_and_the_others_would_have_taken(rng: np.random.Generator) -> None:
    market, bids = market_of(6.0), rng.random(30)
    words = rng.integers(0, 2**32, 30, dtype=np.uint32)
    calibration = calibrate_lottery(summarise_lottery(bids, words, 0.0, 1.0), market)
    found, posted = apply_lottery(bids, words, calibration), posted_prices(bids, words, calibration)
    assert (posted[found.asked] == found.price_micros[found.asked]).all()
    assert (posted[~found.asked] < market.reserve(bids)[~found.asked]).all()


def test_draws_that_do_not_fit_the_bids_are_refused() -> None:
    market = market_of(1.0)
    wrong: list[tuple[Any, str]] = [
        (np.zeros(3, dtype=np.uint32), "3 draws for 2 bids"),
        (np.zeros(2), "whole words of 32 bits"),
        (np.array([1, 2**32]), "below 4294967296"),
    ]
    for draws, fault in wrong:
        with pytest.raises(PdqsError, match=fault):
            apply_lottery(np.array([0.1, 0.2]), draws, calibrate_lottery(
                summarise_lottery(np.array([0.1, 0.2]), np.zeros(2, dtype=np.uint32), 0.0, 1.0), market
            ))  # fmt: skip


# --- large markets --------------------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(markets(caps=[1.0, 2.0, 4.0, 8.0]), st.data())
def test_the_promises_hold_when_owners_are_counted_in_cells(case: Any, data: st.DataObject) -> None:
    """The large market's clearing, forced on a small one."""
    market, n = with_coarse_ladder(case[0]), case[1]
    bids, words = data.draw(bids_within(market, n)), data.draw(words_within(market, n))
    with mock.patch("pdqs.clearing.lottery.summaries.EXACT", 1):
        found = cleared(bids, words, market)
        assert int(found.price_micros.sum()) <= market.budget_micros
        assert all(deal(found, i).utility_micros(bids[i], market.form.setting) >= 0 for i in range(n))
        assert (found.asked == (np.array(words) < found.chance_words)).all()
        gain = best_gain_micros(bids, words, 0, tempting_lies(bids, market)[::2], market)
        assert gain <= most_gain_micros(market, bids[0])
        lied = cleared(bids, [data.draw(words_within(market, 1))[0], *words[1:]], market)
        assert lied.chance_words[0] == found.chance_words[0]


@pytest.mark.parametrize("cap", [2.0, 4.0])
def test_a_large_market_spends_nearly_all_and_any_split_gives_the_same(rng: np.random.Generator, cap: float) -> None:
    n = EXACT + 20_000
    bids, words, market = rng.random(n), rng.integers(0, 2**32, n, dtype=np.uint32), market_of(0.2 * n, cap=cap)
    whole = clear_by_lottery(bids, words, market)
    assert 0.99 * market.budget_micros <= whole.price_micros.sum() <= market.budget_micros
    cuts = [slice(0, 7), slice(7, 30_000), slice(30_000, n)]
    parts = [summarise_lottery(bids[cut], words[cut], 0.0, 1.0) for cut in cuts]
    calibration = calibrate_lottery(parts[2].merged(parts[0]).merged(parts[1]), market)
    batches = [apply_lottery(bids[cut], words[cut], calibration) for cut in cuts]
    for name in ("chance_words", "asked", "q", "price_micros", "beyond_budget"):
        assert np.array_equal(getattr(whole, name), np.concatenate([getattr(b, name) for b in batches])), name


@pytest.mark.parametrize("cap", [2.0, 4.0])
def test_a_small_market_cleared_in_batches_is_the_same(rng: np.random.Generator, cap: float) -> None:
    bids, words, market = rng.random(50), rng.integers(0, 2**32, 50, dtype=np.uint32), market_of(12.0, cap=cap)
    whole = clear_by_lottery(bids, words, market)
    merged = summarise_lottery(bids[20:], words[20:], 0.0, 1.0).merged(
        summarise_lottery(bids[:20], words[:20], 0.0, 1.0)
    )
    calibration = calibrate_lottery(merged, market)
    batches = [apply_lottery(bids[cut], words[cut], calibration) for cut in (slice(0, 20), slice(20, 50))]
    for name in ("chance_words", "asked", "q", "price_micros"):
        assert np.array_equal(getattr(whole, name), np.concatenate([getattr(b, name) for b in batches])), name


def test_cells_counted_in_batches_are_the_owners_added_one_by_one(rng: np.random.Generator) -> None:
    bids, words = rng.uniform(2.0, 3.0, 50), rng.integers(0, 2**32, 50).astype(np.uint32)
    with mock.patch.object(summaries, "_BATCH", 8):
        found = count_cells(bids, words, 2.0, 3.0, 32)
    expected = np.zeros_like(found)
    for bid, word in zip(bids, words, strict=True):
        expected[int(np.searchsorted(draw_edges(32), word, side="right")) - 1, int((bid - 2.0) * found.shape[1])] += 1
    assert np.array_equal(found, expected)
    assert count_cells(bids[:0], words[:0], 2.0, 3.0, 32).sum() == 0


@given(st.lists(st.floats(2.0, 3.0), min_size=1, max_size=30), st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_a_cell_stands_at_or_below_its_owners(bids: Any, words: Any) -> None:
    bids, words = np.array(bids), np.array(words, dtype=np.uint32)
    assert (bid_edges(2.0, 3.0)[bid_bin(bids, 2.0, 3.0)] <= bids).all()
    edges = draw_edges(32)[draw_bin(words, 32)]
    assert (edges <= words).all()
    assert (words <= edges * np.where(words < 2**16, 1 + 1 / 32, 1 + 1 / 128)).all()


@pytest.mark.parametrize(("budget", "share"), [(4, 0.4), (8, 0.7), (20, 0.85)])
def test_a_budget_of_few_payments_among_very_many_owners_is_spent(
    rng: np.random.Generator, budget: float, share: float
) -> None:
    """A million owners have 15 words below 2^-16: charged as if they were 0, they left nothing to spend of 20."""
    offers = pdqs.clear(rng.random(1_000_000), pdqs.Terms(query=pdqs.Count(), budget=budget), draws=1)
    assert share * budget <= offers.spent <= budget


def test_a_large_market_whose_budget_is_one_payment_asks_nobody_and_says_so(rng: np.random.Generator) -> None:
    """The largest payment, 2 here, is put aside: it is what keeps an owner's bid from moving her own offer."""
    offers = pdqs.clear(rng.random(EXACT + 1), pdqs.Terms(query=pdqs.Count(), budget=2.0), draws=1)
    assert offers.bought == 0
    assert offers.notes()[0] == "nobody is asked: at these prices a budget of 2.00 pays for no report"


# --- beyond q*, cell by cell as THEORY has it -----------------------------------------------------------------------


def chance_by_cells(
    bids: list[float], words: list[int], i: int, market: LotteryMarket, payment: Callable[..., float]
) -> int:
    """Chances beyond q*, the slow way: for each rung the words at which it is hers, and which of those ask her.

    chance = sum_g |[max(R_{g-1}, v_g), R_g)|: v_g is searched for among payments made by quadrature.
    """
    beta, form = market.budget_micros / 1e6, market.form

    def asked_words(bid: float, scale: float) -> int:
        return math.floor(market.words * min(1.0, math.sqrt(form.best.m1 * scale / (2 * bid))) + 1e-9)

    total, before = 0, 0
    for g in range(market.ladder.lowest, market.ladder.highest + 1):
        scale = form.setting.high * 2.0 ** (g / market.ladder.per_octave)
        others = sum(payment(bids[j], words[j], scale, market) for j in range(len(bids)) if j != i)
        if others > beta:
            break
        reach = asked_words(bids[i], scale)
        if reach > before:  # words fit from some word on: what the lowest bid would be paid falls with the word
            left = beta - others
            first = bisect.bisect_left(range(reach), True, key=lambda k: payment(0.0, k, scale, market) <= left)
            total += max(0, reach - max(before, first))
        before = reach
    return total


@pytest.mark.parametrize(("budget", "cap"), [(2.5, 4.0), (4.0, 3.0), (3.0, 5.0)])
def test_chances_beyond_q_star_are_the_sum_over_cells(rng: np.random.Generator, budget: float, cap: float) -> None:
    market = market_of(budget, cap=cap, bits=4)
    market.__dict__["ladder"] = ScaleLadder(1.0, 2, -12, 12)
    bids, words = (0.05 + 0.9 * rng.random(3)).tolist(), rng.integers(0, 16, 3).tolist()
    found = cleared(bids, words, market)
    payment = functools.cache(full_payment)
    assert not market.form.plain
    assert found.chance_words.tolist() == [chance_by_cells(bids, words, i, market, payment) for i in range(3)]
