"""Mechanisms that are broken on purpose: the audit must catch each of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pdqs import Answer, answer, clear, randomise, settle
from pdqs.auditing.mechanism import SHIPPED, Mechanism
from pdqs.clearing.ladder import ladder_of
from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.pricing.payment import curve
from pdqs.privacy.entropy import SeededEntropy
from pdqs.privacy.loss import Q_UNITS, epsilon, q_of_epsilon, round_q_down
from pdqs.rounds.offers import Offers, make_offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.settlement import Payments
from pdqs.rounds.terms import Terms


def _with_payments(offers: Offers, micros: np.ndarray) -> Offers:
    return dataclasses.replace(offers, payment_micros=np.where(offers.q > 0, micros, 0).astype(np.int64))


def _first_price(bids: Floats, terms: Terms, draws: int) -> Offers:
    """Everyone is paid her bid for her load, and not a bit more."""
    offers = clear(bids, terms, draws=draws)
    return _with_payments(offers, np.ceil(offers.bids * terms.setting.load(offers.q) * MICROS_PER_UNIT))


def _integral_cut_short(bids: Floats, terms: Terms, _draws: int) -> Offers:
    """P = b l(q) + integral to nine tenths of the range instead of its top."""
    low, high = terms.bid_range
    faced = curve(terms.bound_rule, 1.0, terms.setting)
    cut = np.array([low + 0.9 * (high - low)])
    beyond = float((faced.payment(cut) - cut * terms.setting.load(faced.q(cut)))[0])
    q = faced.q(np.asarray(bids))
    own = bids * terms.setting.load(q)
    return make_offers(
        np.asarray(bids),
        q,
        own + np.maximum(faced.payment(bids) - own - beyond, 0.0),
        terms.asking,
        terms.budget_micros,
    )


def _peeking_rung(bids: Floats, terms: Terms, _draws: int) -> Offers:
    """One rung for all: the highest at which everyone's payments, one's own included, fit the budget."""
    bids = np.asarray(bids)
    ladder = ladder_of(*terms.bid_range)
    low, high = ladder.lowest, ladder.highest + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = curve(terms.bound_rule, ladder.scale(middle), terms.setting).payment(bids).sum() <= terms.budget - 1e-5
        low, high = (middle, high) if fits else (low, middle)
    chosen = curve(terms.bound_rule, ladder.scale(low), terms.setting)
    return make_offers(bids, chosen.q(bids), chosen.payment(bids), terms.asking, terms.budget_micros)


def _overspending(bids: Floats, terms: Terms, draws: int) -> Offers:
    """The budget is held against a sum that forgets a tenth of what is paid."""
    offers = clear(bids, dataclasses.replace(terms, budget=terms.budget / 0.9), draws=draws)
    return dataclasses.replace(offers, budget_micros=terms.budget_micros)


def _payments_rounded_down(bids: Floats, terms: Terms, draws: int) -> Offers:
    """One micro-unit less than the payment rounded up: the payment rounded down."""
    offers = clear(bids, terms, draws=draws)
    return _with_payments(offers, offers.payment_micros - 1)


def _q_rounded_up(bids: Floats, terms: Terms, draws: int) -> Offers:
    """q goes up to the next multiple of 2^-32, and eps is stated for what it was before."""
    offers = clear(bids, terms, draws=draws)
    return dataclasses.replace(offers, q=np.where(offers.q > 0, offers.q + 1.0 / Q_UNITS, 0.0))


def _two_percent_more(values: Floats, offers: Offers, rng: np.random.Generator) -> Reports:
    """The device reports at 1.02 times the eps that the offer states."""
    more = q_of_epsilon(1.02 * epsilon(offers.q, offers.domain.size), offers.domain.size)
    return randomise(values, dataclasses.replace(offers, q=round_q_down(more)), rng)


def _understated(bids: Floats, terms: Terms, draws: int) -> Offers:
    """The offer states 2 % less than the report costs."""
    offers = clear(bids, terms, draws=draws)
    return dataclasses.replace(offers, epsilon=offers.epsilon / 1.02)


def _bonus_for_the_coin(offers: Offers, reports: Reports, terms: Terms) -> Payments:
    """A thousandth more to those whose coin chose the truth."""
    payments = settle(offers, reports, terms)
    bonus = np.where(reports.selected, payments.micros // 1000 + 1, 0)
    return dataclasses.replace(payments, micros=payments.micros + bonus)


def _lopsided_die(values: Floats, offers: Offers, rng: np.random.Generator) -> Reports:
    """Die words are taken modulo k without refusing the last few: the first values come up more often."""
    entropy = SeededEntropy(rng) if isinstance(rng, np.random.Generator) else rng
    codes = offers.domain.encode(values)
    selected = entropy.words(codes.size) < (offers.q * Q_UNITS).astype(np.uint32)
    dice = (entropy.words(codes.size) % np.uint32(offers.domain.size)).astype(np.int64)
    arrived = np.ones(codes.size, dtype=bool)
    return Reports(codes=np.where(selected, codes, dice), arrived=arrived, selected=selected, domain=offers.domain)


def _draws_from_bids(bids: Floats, terms: Terms, _draws: int) -> Offers:
    """The public word of an owner is made of her bid: whoever tries bids finds a lucky one."""
    return clear(bids, terms, draws=(np.asarray(bids).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32))


def _half_as_wide(reports: Reports, offers: Offers, terms: Terms) -> Answer:
    """The interval is drawn in to half its width."""
    found = answer(reports, offers, terms)
    if found.value is None:
        return found
    middle = 0.5 * (found.interval[0] + found.interval[1])
    narrow = tuple(0.5 * (end + middle) for end in found.interval)
    return dataclasses.replace(found, interval=narrow, simultaneous=narrow)


def _broken(name: str, **parts: Any) -> Mechanism:
    return dataclasses.replace(SHIPPED, name=name, **parts)


FIRST_PRICE = _broken("first-price payments", clear=_first_price)
INTEGRAL_CUT_SHORT = _broken("an integral cut short", clear=_integral_cut_short)
PEEKING_RUNG = _broken("a rung that peeks at the own bid", clear=_peeking_rung)
OVERSPENDING = _broken("a budget passed", clear=_overspending)
PAYMENTS_ROUNDED_DOWN = _broken("payments rounded the wrong way", clear=_payments_rounded_down)
Q_ROUNDED_UP = _broken("q rounded the wrong way", clear=_q_rounded_up)
TWO_PERCENT_MORE = _broken("an eps inflated by 2 %", randomise=_two_percent_more)
UNDERSTATED = _broken("an eps understated by 2 %", clear=_understated)
BONUS_FOR_THE_COIN = _broken("a payment that depends on the coin", settle=_bonus_for_the_coin)
LOPSIDED_DIE = _broken("a die that favours the first values", randomise=_lopsided_die)
DRAWS_FROM_BIDS = _broken("draws that depend on bids", clear=_draws_from_bids)
HALF_AS_WIDE = _broken("an interval half as wide", answer=_half_as_wide)
