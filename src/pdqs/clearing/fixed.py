"""A fixed curve and no cut: everyone is bought at q(b) whatever it costs. This is how the paper runs NPQM.

Truthful when the curve knows nothing of the bids it prices; within budget only by luck.
"""

from __future__ import annotations

from pdqs.model.arrays import Floats
from pdqs.pricing.payment import Curve, curve
from pdqs.pricing.rules import ReadsBids, Rule, printed_scale
from pdqs.rounds.offers import Offers, make_offers
from pdqs.rounds.terms import Terms


def curve_for(bids: Floats, terms: Terms) -> Curve:
    """The rule's plain curve, at the scale of the terms if they fix one.

    A rule that reads the whole bid vector (the paper's NPQM does) has ``read(bids)``, which gives the curve for it.
    """
    rule = terms.bound_rule
    read: Rule = rule.read(bids) if isinstance(rule, ReadsBids) else rule
    scale = printed_scale(read) if terms.scale is None else terms.scale
    return curve(read, scale, terms.setting)


def clear_openly(bids: Floats, terms: Terms) -> Offers:
    """Everyone at the curve, at full payment."""
    chosen = curve_for(bids, terms)
    q = chosen.q(bids)
    return make_offers(bids, q, chosen.payment_at(bids, q), terms.asking, terms.budget_micros)
