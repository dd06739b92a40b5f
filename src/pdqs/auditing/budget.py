"""Within budget (BF): ex ante for the bids at hand, and ex post, when coins have fallen.

Ex ante: sum P_i <= beta on the integers, for every market tried. Ex post: rounds are played with the mechanism's own
randomiser and settlement. Under ``on-report`` each must end within the budget; under ``on-selection`` the sum is
right on average only, and the chance of passing the budget is measured, with an interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.bounds import lower_bound, upper_bound
from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism
from pdqs.auditing.scripted_draws import unbounded
from pdqs.model.arrays import Floats, Integers
from pdqs.pricing.rules import Asks
from pdqs.rounds.terms import Terms

LEVEL = 0.95


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Budget:
    """``worst_share`` is the largest sum of expected payments over a budget; ``spends`` what rounds really cost over
    it.

    ``overspent`` counts the rounds of ``rounds`` that passed the budget.
    """

    markets: int
    passed: int
    worst_share: float
    worst_market: str
    rounds: int
    overspent: int
    chance_interval: tuple[float, float]
    spends: Floats

    @property
    def kept_ex_ante(self) -> bool:
        """No market was promised more than its budget."""
        return self.passed == 0

    @property
    def kept_ex_post(self) -> bool:
        """No round cost more than its budget."""
        return self.overspent == 0

    @property
    def chance(self) -> float:
        """Share of rounds that passed the budget."""
        return self.overspent / max(self.rounds, 1)


def examine(
    mechanism: Mechanism, terms: Terms, markets: Iterable[Market], played: Market, rounds: int, rng: np.random.Generator
) -> Budget:
    """Ex ante over all markets; ex post by ``rounds`` rounds of one of them."""
    shares: list[tuple[float, str]] = []
    passed = 0
    for market in markets:
        here = market.terms(terms)
        spent = mechanism.clear(market.bids, here, market.draws).spent_micros
        shares.append((spent / max(here.budget_micros, 1), market.name))
        passed += spent > here.budget_micros
    worst_share, worst_market = max(shares)
    spent_micros, budget_micros = play(mechanism, terms, played, rounds, rng)
    overspent = int((spent_micros > budget_micros).sum())
    tail = (1.0 - LEVEL) / 2.0
    return Budget(
        markets=len(shares),
        passed=passed,
        worst_share=worst_share,
        worst_market=worst_market,
        rounds=rounds,
        overspent=overspent,
        chance_interval=(lower_bound(overspent, rounds, tail), upper_bound(overspent, rounds, tail)),
        spends=spent_micros / max(budget_micros, 1),
    )


def play(
    mechanism: Mechanism, terms: Terms, market: Market, rounds: int, rng: np.random.Generator
) -> tuple[Integers, int]:
    """What each of many rounds of one market costs, in micro-units, and its budget; a lottery is drawn anew in each."""
    here = market.terms(terms)
    by_lot = isinstance(here.bound_rule, Asks)
    offers = mechanism.clear(market.bids, here, market.draws)
    values = offers.domain.decode(rng.integers(0, offers.domain.size, len(offers)))
    totals = np.empty(rounds, dtype=np.int64)
    for i in range(rounds):
        if by_lot:
            offers = mechanism.clear(market.bids, here, i)
        offers, reports = mechanism.asked(values, offers, here, rng)
        totals[i] = mechanism.settle(offers, reports, unbounded(here)).total_micros
    return totals, here.budget_micros
