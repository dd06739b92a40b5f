"""What is audited: four functions and the terms they are run under.

A mechanism is how bids become offers, how a value becomes a report, how reports become an answer, and how a report
becomes money. The shipped one is pdqs itself. Anything else with the same four signatures can be put in its place,
which is how the audit is itself tested: a deliberately broken mechanism must be caught.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pdqs.auditing.temptation import Deal, Temptation, tempted
from pdqs.clearing import clear, drawn_offers, drawn_words
from pdqs.clearing.ladder import apply, calibrate, summarise
from pdqs.clearing.lottery import LotteryMarket, apply_lottery, calibrate_lottery, summarise_lottery
from pdqs.clearing.summaries import EXACT
from pdqs.estimate import Answer, answer, in_stages
from pdqs.model.arrays import Column, Floats, Integers
from pdqs.pricing.rules import Asks
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports, randomise
from pdqs.rounds.settlement import Payments, settle
from pdqs.rounds.terms import Terms


def clear_drawn(bids: Floats, terms: Terms, draws: int) -> Offers:
    """pdqs's own clearing; ``draws`` is the seed of the public words, which depend on an owner's row and on no bid."""
    return clear(bids, terms, draws=draws)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """``clear(bids, terms, draws)``, ``randomise(values, offers, entropy)``, ``answer(reports, offers, terms)`` and
    ``settle(offers, reports, terms)``.

    ``draws`` is a seed: it says who is asked by a lottery, and on the ladder who goes first among equal bids; an
    owner's word is that of her row.

    >>> from dataclasses import replace
    >>> replace(SHIPPED, name="a clearing of my own", clear=lambda bids, terms, draws: clear(bids, terms)).name
    'a clearing of my own'
    """

    name: str = "pdqs as shipped"
    clear: Callable[[Floats, Terms, int], Offers] = clear_drawn
    randomise: Callable[[Any, Offers, Any], Reports] = randomise
    answer: Callable[[Reports, Offers, Terms], Answer] = answer
    settle: Callable[[Offers, Reports, Terms], Payments] = settle

    def asked(self, values: Column, offers: Offers, terms: Terms, rng: np.random.Generator) -> tuple[Offers, Reports]:
        """The reports of a whole round, all its stages in turn, and the offers with what each owner was asked."""
        return in_stages(offers, terms, lambda known: self.randomise(values, known, rng))

    def deal(self, bids: Floats, owner: int, terms: Terms, draws: int = 0) -> Deal:
        """What one owner is offered when these are the bids and the draws.

        The shipped ladders are asked after that owner alone: the same summarise, calibrate and apply that clear
        everyone.
        """
        if self.asks_after_one(bids, terms):
            return Deal.of(_offer_to_one(bids, owner, terms, draws), 0)
        return self.deal_in_full(bids, owner, terms, draws)

    def temptation(self, bids: Floats, owner: int, lie: float, terms: Terms, draws: int = 0) -> Temptation:
        """What an owner whose price is her bid gains by bidding ``lie`` instead, given every draw."""
        told = bids.copy()
        told[owner] = lie
        honest, lying = self.deal(bids, owner, terms, draws), self.deal(told, owner, terms, draws)
        return tempted(honest, lying, float(bids[owner]), terms.setting)

    def asks_after_one(self, bids: Floats, terms: Terms) -> bool:
        """Whether one owner's deal is found without the others': the shipped ladder, on bids summarised as they are."""
        return self.clear is clear_drawn and terms.clearing_facts.calibrates and bids.size <= EXACT

    def deal_in_full(self, bids: Floats, owner: int, terms: Terms, draws: int = 0) -> Deal:
        """The same by clearing the whole market: the audit compares the two on a sample."""
        return Deal.of(self.clear(bids, terms, draws), owner)


def _offer_to_one(bids: Floats, owner: int, terms: Terms, draws: int) -> Offers:
    """One owner's offer on the shipped ladder of scales, or by the shipped lottery on it."""
    own, rule = bids[owner : owner + 1], terms.bound_rule
    words = drawn_words(draws, None, bids.size, terms)
    hers = words[owner : owner + 1]
    if not isinstance(rule, Asks):
        return apply(own, hers, calibrate(summarise(bids, words, *terms.bid_range), terms, bids=own), terms)
    market = LotteryMarket(rule=rule, budget_micros=terms.budget_micros)
    summary = summarise_lottery(bids, words, terms.setting.low, terms.setting.high, bits=market.bits)
    return drawn_offers(own, hers, apply_lottery(own, hers, calibrate_lottery(summary, market)), terms)


SHIPPED = Mechanism()
"""pdqs as it is installed."""


def only(offers: Offers, rows: Integers) -> Offers:
    """The offers of some owners, in that order; a row may come more than once."""
    return Offers(
        bids=offers.bids[rows],
        q=offers.q[rows],
        epsilon=offers.epsilon[rows],
        payment_micros=offers.payment_micros[rows],
        domain=offers.domain,
        budget_micros=offers.budget_micros,
        chance=offers.chance[rows],
        draw=offers.draw[rows],
        question=offers.question,
        deal=offers.deal[rows],
        stage=offers.stage[rows],
        side=offers.side[rows],
    )
