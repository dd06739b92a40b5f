"""The paper's GPQM: sort, add up, stop when the budget is gone (its Algorithm 3, as printed).

Not truthful, because the payment's integral runs to the top of the bid range as if there were no stop: an owner just
beyond the stop gains by bidding lower (section 5 of docs/theory). Kept for reproduction and as the negative control.
"""

from __future__ import annotations

import numpy as np

from pdqs.clearing.fixed import curve_for
from pdqs.model.arrays import Floats
from pdqs.model.money import payment_micros
from pdqs.rounds.offers import Offers, make_offers
from pdqs.rounds.terms import Terms


def clear_greedily(bids: Floats, terms: Terms) -> Offers:
    """Owners in descending order of q, each at her full payment, while the sum stays within the budget."""
    chosen = curve_for(bids, terms)
    q = chosen.q(bids)
    payments = chosen.payment_at(bids, q)
    order = np.argsort(-q, kind="stable")
    total = np.cumsum(payment_micros(payments[order]))
    bought = np.zeros(bids.size, dtype=bool)
    bought[order[: int(np.searchsorted(total, terms.budget_micros, side="right"))]] = True
    return make_offers(
        bids, np.where(bought, q, 0.0), np.where(bought, payments, 0.0), terms.asking, terms.budget_micros
    )
