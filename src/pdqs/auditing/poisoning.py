"""Poisoning: how far can a few dishonest owners move the answer?

A dishonest owner bids what she likes and reports what she likes; no local randomiser can stop her. Her pull is what her
place in the estimate allows: with weights q it is largest for the most bought, with weights 1/q for the least. The
audit lets 1, 2 and 5 % of owners, all of whose true values stand at the bottom of the domain, report the top of it:
those whom honest bids make strongest, or strangers who bid the lowest or the highest price. It takes the largest mean
shift of the answer over the same rounds drawn honestly, and sets it beside the interval, which knows of noise and not
of lies; and it counts how often that interval, and the one for so many dishonest owners, still hold the truth.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.coverage import holds, truth_of
from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism, only
from pdqs.auditing.scripted_draws import truths
from pdqs.estimate import Answer
from pdqs.model.arrays import Figure, Integers
from pdqs.model.errors import EstimateError
from pdqs.pricing.rules import Asks
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.terms import Terms

SHARES = (0.01, 0.02, 0.05)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Poisoning:
    """The mean shift of the answer that this many liars cause, and the half-width that is printed beside the answer.

    Both in the unit of the answer: owners for a count, the domain's own unit for a mean or a quantile. Of ``answered``
    poisoned answers, ``held`` counts the intervals with the truth in them, ``held_widened`` those of
    ``interval_if_dishonest`` for this share of the owners.
    """

    share: float
    liars: int
    shift: float
    half_width: float
    attack: str
    rounds: int
    answered: int
    held: int
    held_widened: int


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
    offers = mechanism.clear(market.bids, market.terms(terms), market.draws)
    # Under a lottery who is asked is not known before the draw: her chance stands for what is bought of her.
    bought = offers.chance if isinstance(terms.bound_rule, Asks) else offers.q
    order = np.argsort(bought, kind="stable")
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
    domain = here.domain
    codes = rng.integers(0, domain.size, len(market))
    codes[liars] = 0
    values, truth = domain.decode(codes), truth_of(here.query, codes)
    shifts, widths, held, widened = [], [], [], []
    for i in range(rounds):
        offers = mechanism.clear(market.bids, here, i)
        offers, honest = mechanism.asked(values, offers, here, rng)
        lying = honest.codes.copy()
        lying[liars] = truths(only(offers, liars), np.full(liars.size, domain.size - 1))
        before = _read(mechanism, honest, offers, here)
        after = _read(mechanism, dataclasses.replace(honest, codes=lying), offers, here)
        if before is None or after is None:  # too little was bought for any answer: nothing to poison
            continue
        shifts.append(_last(after.raw) - _last(before.raw))
        low, high = np.atleast_2d(before.interval)[-1]
        widths.append(float(high - low) / 2.0)
        held.append(holds(after.interval, truth))
        widened.append(holds(after.interval_if_dishonest(liars.size / len(market)), truth))
    return Poisoning(
        share=share,
        liars=int(liars.size),
        shift=float(np.mean(shifts)) if shifts else 0.0,
        half_width=float(np.mean(widths)) if widths else np.inf,
        attack=name,
        rounds=rounds,
        answered=len(held),
        held=sum(held),
        held_widened=sum(widened),
    )


def _read(mechanism: Mechanism, reports: Reports, offers: Offers, terms: Terms) -> Answer | None:
    """The answer, if there is one."""
    try:
        found = mechanism.answer(reports, offers, terms)
    except EstimateError:  # the estimator cannot work with these offers at all
        return None
    return None if found.value is None else found


def _last(raw: Figure) -> float:
    """The answer before clipping; of a histogram, the row of its last value."""
    return float(np.atleast_1d(raw)[-1])
