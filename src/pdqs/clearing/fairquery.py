"""FairQuery (Ghosh and Roth 2011) with a local randomiser, as in the paper's appendix: the baseline.

Sort bids ascending; k is the largest with b_k / (n - k) <= beta / k; each of the first k sells eps = 1 / (n - k) for
min(beta / k, b_{k+1} / (n - k)), the others nothing. q = (e^eps - 1) / (e^eps + 1) whatever the domain, as printed.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.money import payment_micros
from pdqs.privacy.loss import cap_q
from pdqs.rounds.offers import Draft, Offers
from pdqs.rounds.terms import Terms


def clear_fairly(bids: Floats, terms: Terms) -> Offers:
    """FairQuery on whole micro-units: the share of the budget is rounded down, the owners' prices up."""
    draft = Draft(bids, terms.asking, terms.budget_micros)
    order = np.argsort(bids, kind="stable")
    ascending, n = bids[order], bids.size
    winners = np.arange(1, n)
    prices = payment_micros(ascending[:-1] / (n - winners))  # what the last of the first k asks for eps = 1 / (n - k)
    shares = terms.budget_micros // winners
    affordable = np.flatnonzero(prices <= shares)
    if terms.budget_micros == 0 or not affordable.size:
        return draft.closed()
    k = int(affordable[-1]) + 1
    eps = min(1.0 / (n - k), terms.epsilon_max)
    paid = min(int(shares[k - 1]), int(payment_micros(ascending[k : k + 1] / (n - k))[0]))
    draft.fill(order[:k], np.array(min(cap_q(eps, 2), terms.q_max)), np.array(paid))
    return draft.closed()
