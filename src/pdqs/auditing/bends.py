"""Where an owner's curve bends or stops: the places at which a lie is likeliest to pay."""

from __future__ import annotations

import numpy as np

from pdqs.auditing.temptation import Deal
from pdqs.clearing import drawn_words
from pdqs.clearing.fallah import curve_ahead
from pdqs.clearing.fixed import curve_for
from pdqs.clearing.ladder import calibrate, summarise
from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.pricing.payment import Curve, curve
from pdqs.pricing.piecewise import last_true
from pdqs.pricing.rules import Asks
from pdqs.rounds.terms import Terms


def posted_price(best: Deal, terms: Terms) -> Floats:
    """Under a lottery, the last bid at which an owner is asked, from her deal at the lowest bid; empty if at none."""
    if best.q == 0.0:
        return np.array([])
    posted = best.payment_micros / MICROS_PER_UNIT / best.load(terms.setting)
    return np.clip([posted], *terms.bid_range)


def kinks(bids: Floats, owner: int, terms: Terms, draws: int) -> Floats:
    """Where the curve that she faces bends or stops, and where the ladder passes from one rung to the next."""
    found: list[float] = []
    if not terms.clearing_facts.by_rule or isinstance(terms.bound_rule, Asks):
        return np.array(found)
    if terms.clearing_facts.ahead:
        ahead = curve_ahead(bids.size, terms)
        return np.array(found if ahead is None else _bends(ahead))
    if terms.clearing_facts.calibrates:
        words = drawn_words(draws, None, bids.size, terms)
        calibration = calibrate(summarise(bids, words, *terms.bid_range), terms)
        found += calibration.uppers[:8].tolist()
        rung = int(calibration.rung_of(bids[owner : owner + 1], words[owner : owner + 1])[0])
        scale = calibration.ladder.scale(rung)
        if scale == 0.0:
            return np.array(found)
        faced = curve(terms.bound_rule, scale, terms.setting)
    else:
        faced = curve_for(bids, terms)
    return np.array([*found, *_bends(faced)])


def _bends(faced: Curve) -> list[float]:
    """The end of the flat top, and the last bid that is bought."""
    low, high = faced.setting.low, faced.setting.high
    top = float(faced.q(np.array([low]))[0])
    return [last_true(lambda x: faced.q(x) >= top, low, high), last_true(lambda x: faced.q(x) > 0, low, high)]
