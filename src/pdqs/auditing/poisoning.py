"""Poisoning: how far can a few dishonest owners move the answer?

A dishonest owner bids what she likes and reports what she likes; no local randomiser can stop her. Her pull is what her
place in the estimate allows: with weights q it is largest for the most bought, with weights 1/q for the least. The
audit lets 1, 2 and 5 % of owners, all of whose true values stand at the bottom of the domain, report the top of it:
those whom honest bids make strongest, or strangers who bid the lowest or the highest price. It takes the largest mean
shift of the answer over the same rounds drawn honestly, and sets it beside the interval, which knows of noise and not
of lies.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism
from pdqs.estimate import answer
from pdqs.model.arrays import Integers
from pdqs.model.errors import EstimateError
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

SHARES = (0.01, 0.02, 0.05)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Poisoning:
    """The mean shift of the answer that this many liars cause, and the half-width that is printed beside the answer.

    Both in the unit of the answer: owners for a count, the domain's own unit for a mean or a quantile.
    """

    share: float
    liars: int
    shift: float
    half_width: float
    attack: str
    rounds: int


def examine(
    mechanism: Mechanism, terms: Terms, market: Market, rounds: int, rng: np.random.Generator
) -> tuple[Poisoning, ...]:
    """Each share of liars, each way for them to be chosen; the worst way of each share."""
    found = []
    for share in SHARES:
        liars = max(1, round(share * len(market)))
        tried = [
            _attack(mechanism, terms, attacked, who, name, rounds, share, rng)
            for name, attacked, who in _attacks(mechanism, terms, market, liars)
        ]
        found.append(max(tried, key=lambda each: abs(each.shift)))
    return tuple(found)


def _attacks(mechanism: Mechanism, terms: Terms, market: Market, liars: int) -> list[tuple[str, Market, Integers]]:
    """Who lies, and the market as their bids make it."""
    q = mechanism.clear(market.bids, market.terms(terms)).q
    order = np.argsort(q, kind="stable")
    middle = order[(len(market) - liars) // 2 :][:liars]
    attacks = [("the most bought lie", market, order[-liars:]), ("the least bought lie", market, order[:liars])]
    for name, bid in zip(("liars bid lowest", "liars bid highest"), terms.bid_range, strict=True):
        bids = market.bids.copy()
        bids[middle] = bid
        attacks.append((name, dataclasses.replace(market, bids=bids), middle))
    return attacks


def _attack(
    mechanism: Mechanism,
    terms: Terms,
    market: Market,
    liars: Integers,
    name: str,
    rounds: int,
    share: float,
    rng: np.random.Generator,
) -> Poisoning:
    """The same rounds, with the liars honest and with them lying: what remains is their doing."""
    here = market.terms(terms)
    offers = mechanism.clear(market.bids, here)
    top = offers.domain.size - 1
    codes = rng.integers(0, offers.domain.size, len(offers))
    codes[liars] = 0
    values = offers.domain.decode(codes)
    shifts, widths = np.zeros(rounds), np.full(rounds, np.inf)
    for i in range(rounds):
        honest = mechanism.randomise(values, offers, rng)
        lying = honest.codes.copy()
        lying[liars] = top
        before, width = _read(honest, offers, here)
        after, _ = _read(dataclasses.replace(honest, codes=lying), offers, here)
        shifts[i], widths[i] = after - before, width
    return Poisoning(
        share=share,
        liars=int(liars.size),
        shift=float(shifts.mean()),
        half_width=float(widths.mean()),
        attack=name,
        rounds=rounds,
    )


def _read(reports: Reports, offers: Offers, terms: Terms) -> tuple[float, float]:
    """The answer before clipping, and half its interval; of a histogram, the row of its last value."""
    try:
        found = answer(reports, offers, terms)
    except EstimateError:  # the estimator cannot work with these offers at all: nothing to poison
        return 0.0, np.inf
    if found.value is None:  # too little was bought for any answer
        return 0.0, np.inf
    raw = float(np.atleast_1d(found.raw)[-1])
    low, high = np.atleast_2d(found.interval)[-1]
    return raw, float(high - low) / 2.0
