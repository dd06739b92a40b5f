"""A curve fixed ahead so that the *expected* payment is the budget (after Fallah et al. 2022): a baseline.

The multiplier (here the scale s) is set before any bid is known, from the number of owners, the budget and the prior:
n E[P(b; s)] = n E[phi(b) l(q(b; s))] = beta. Nobody's bid moves anybody's curve, so it is truthful and rational; the
budget holds on average if bids follow the prior, and is passed in about half of all rounds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.priors import Prior
from pdqs.pricing.payment import Curve, capped_q, curve
from pdqs.pricing.rules import Rule, Setting
from pdqs.rounds.offers import Draft, Offers, make_offers
from pdqs.rounds.terms import Terms

PLACES = 2**14  # equally likely bids that stand for the prior


def clear_as_expected(bids: Floats, terms: Terms) -> Offers:
    """Everyone at the curve that spends the budget on average."""
    chosen = curve_ahead(bids.size, terms)
    if chosen is None:
        return Draft(bids, terms.asking, terms.budget_micros).closed()
    q = chosen.q(bids)
    return make_offers(bids, q, chosen.payment_at(bids, q), terms.asking, terms.budget_micros)


def curve_ahead(owners: int, terms: Terms) -> Curve | None:
    """The curve for this many owners; none where nothing can be bought."""
    scale = scale_ahead(terms.bound_rule, terms.setting, terms.bid_prior, terms.budget / owners)  # type: ignore[arg-type]  # rules are frozen, so hashable
    return None if scale == 0.0 else curve(terms.bound_rule, scale, terms.setting)


@lru_cache(maxsize=256)
def scale_ahead(rule: Rule, setting: Setting, prior: Prior, budget_each: float) -> float:
    """The largest scale at which an owner whose bid follows the prior is paid no more than that, on average."""
    bids = prior.quantile((np.arange(PLACES) + 0.5) / PLACES)
    prices = prior.virtual_price(bids)

    def expected(scale: float) -> float:
        return float((prices * setting.load(capped_q(rule, bids, scale, setting))).mean())

    low, high = np.log(setting.high * 1e-9), np.log(setting.high * 1e9)
    if budget_each <= 0 or expected(float(np.exp(low))) > budget_each:
        return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expected(float(np.exp(middle))) <= budget_each else (low, middle)
    return float(np.exp(low))
