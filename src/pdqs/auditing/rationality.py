"""Rational (IR): is an honest owner ever paid less than her price for what she gives?

Ex ante: P >= theta l(q), the promise. Ex post: what she is really paid, coin by coin, against what the contract says
she lost: under ``on-report`` eps whatever the coin did; under ``on-selection`` eps if it chose the truth, else nothing.
Beside the promise stands what a report costs by the definition of LDP: eps, on the domain as it is, whatever the coin
did and however the terms price it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.bends import kinks
from pdqs.auditing.markets import Market
from pdqs.auditing.mechanism import Mechanism, only
from pdqs.auditing.scripted_draws import both_coins, unbounded, with_questions
from pdqs.auditing.truthfulness import SMALL
from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.privacy.loss import epsilon
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms

NOISE_MICROS = 1e-6
"""Payments are whole micro-units and loads are floats near 1e6 of them: what is below this is the float's last bits."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rationality:
    """The worst that honesty brought anyone, in micro-units: below zero is a loss.

    ``underpaid_share`` is the share of bought owners paid less on average than price times eps: a promise of none of
    the paper's terms, and of all that pay on report.
    """

    markets: int
    owners: int
    worst_ex_ante_micros: float
    worst_ex_post_micros: float
    underpaid_share: float
    worst_case: str

    @property
    def kept(self) -> bool:
        """Nobody loses by taking part, before the coin or after it."""
        return min(self.worst_ex_ante_micros, self.worst_ex_post_micros) >= -NOISE_MICROS


def examine(mechanism: Mechanism, terms: Terms, markets: Iterable[Market]) -> Rationality:
    """Every owner of every market, bidding her price."""
    worst_before = worst_after = np.inf
    count = owners = bought = underpaid = 0
    case = ""
    for market in markets:
        here = market.terms(terms)
        offers = mechanism.clear(market.bids, here, market.draws)
        before = _utility(offers.bids, offers.payment_micros.astype(np.float64), here.setting.load(offers.q))
        loser = int(before.argmin())
        if before[loser] < worst_before:
            case = f"owner {loser + 1} of {market.name}, price {offers.bids[loser]:.6g}"
        worst_before = min(worst_before, float(before[loser]), _worst_at_the_edge(mechanism, market, here))
        worst_after = min(worst_after, _worst_after_the_coin(mechanism, offers, here))
        true_loss = _utility(offers.bids, offers.payment_micros.astype(np.float64), _loss(offers))
        some = offers.q > 0
        count, owners, bought = count + 1, owners + len(offers), bought + int(some.sum())
        underpaid += int((true_loss[some] < -1.0).sum())
    return Rationality(
        markets=count,
        owners=owners,
        worst_ex_ante_micros=worst_before,
        worst_ex_post_micros=worst_after,
        underpaid_share=underpaid / max(bought, 1),
        worst_case=case,
    )


def _utility(prices: Floats, paid_micros: Floats, loss: Floats) -> Floats:
    return paid_micros - prices * loss * MICROS_PER_UNIT


def _loss(offers: Offers) -> Floats:
    """eps(q) on the domain as it is."""
    return epsilon(offers.q, offers.question.kappa)


def _worst_at_the_edge(mechanism: Mechanism, market: Market, terms: Terms) -> float:
    """The first owner of a small market, with her price moved to where her curve ends or bends.

    At the last bid that is bought nothing is paid beyond b l(q), so that is where a payment rounded down falls short.
    """
    if len(market) > SMALL:
        return np.inf
    worst = np.inf
    for price in kinks(market.bids, 0, terms, market.draws).tolist():
        bids = market.bids.copy()
        bids[0] = price
        worst = min(worst, mechanism.deal(bids, 0, terms, market.draws).utility_micros(price, terms.setting))
    return worst


def _worst_after_the_coin(mechanism: Mechanism, offers: Offers, terms: Terms) -> float:
    """Each bought owner once with either coin, paid by the mechanism's own settlement."""
    bought = np.flatnonzero(offers.q > 0)
    if not bought.size:
        return np.inf
    chosen = with_questions(only(offers, bought))
    worst = np.inf
    for truth_told, reports in both_coins(mechanism, chosen):
        paid = mechanism.settle(chosen, reports, unbounded(terms)).micros.astype(np.float64)
        priced = epsilon(chosen.q, terms.setting.domain_size)
        lost = priced if truth_told or terms.contract_terms.hides_coin else np.zeros_like(priced)
        worst = min(worst, float(_utility(chosen.bids, paid, lost).min()))
    return worst
