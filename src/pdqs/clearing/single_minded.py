"""Owners who sell one eps or nothing (after Zhang et al. 2020): the budget-feasible proportional share, a baseline.

Everyone is asked for the same eps, the cap of the terms. Sort bids ascending; k is the largest with
b_k l <= beta / k, l being the load at the cap; the first k are bought, each for min(beta / k, b_{k+1} l), the top of
the range standing for b_{n+1}. That payment is the most she could have asked and still been bought, and it does not
depend on her own bid: truthful, rational and within budget (Singer 2010).
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.money import payment_micros
from pdqs.privacy.loss import round_q_down
from pdqs.rounds.offers import Draft, Offers
from pdqs.rounds.terms import Terms


def clear_single_minded(bids: Floats, terms: Terms) -> Offers:
    """The proportional share on whole micro-units: shares of the budget rounded down, the owners' prices up.

    >>> import pdqs
    >>> terms = pdqs.presets.single_minded(query=pdqs.Count(), budget=1.0, epsilon=1.0)
    >>> offers = pdqs.clear([0.1, 0.2, 0.3, 0.4], terms)
    >>> (offers.q > 0).tolist(), offers.payment.round(3).tolist()
    ([True, True, True, False], [0.333, 0.333, 0.333, 0.0])
    """
    draft = Draft(bids, terms.asking, terms.budget_micros)
    order = np.argsort(bids, kind="stable")
    q = round_q_down(np.array(terms.q_max))
    asked = payment_micros(np.append(bids[order], terms.setting.high) * terms.setting.load(q))
    shares = terms.budget_micros // np.arange(1, bids.size + 1)
    k = int(np.count_nonzero(asked[:-1] <= shares))  # asked rises and shares fall: they cross once
    if terms.budget_micros == 0 or k == 0:
        return draft.closed()
    draft.fill(order[:k], q, np.array(min(int(shares[k - 1]), int(asked[k]))))
    return draft.closed()
