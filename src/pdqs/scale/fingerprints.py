"""Whether machines compute alike: a hash of figures that every worker makes for itself."""

from __future__ import annotations

import hashlib
import itertools
from functools import lru_cache

import numpy as np

from pdqs.clearing.lottery import LotteryMarket, clear_by_lottery
from pdqs.pricing.payment import curve
from pdqs.pricing.rules import Optimal, Setting
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.contracts import ON_REPORT
from pdqs.privacy.draws import LOTTERY_WORD, draw_key, words_of_owners


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """A hash of prices and chances on a few thousand bids: equal on machines whose floating point is the same.

    Of a lottery too, at q* and beyond it.

    >>> fingerprint() == fingerprint()
    True
    """
    bids = np.linspace(0.0, 1.0, 4097)
    found = hashlib.sha256()
    for domain_size, scale in itertools.product((2, 64), (0.5, 1.0, 3.0)):
        setting = Setting(contract=ON_REPORT, domain_size=domain_size)
        chosen = curve(Optimal(setting=setting), scale, setting)
        found.update(chosen.q(bids).tobytes())
        found.update(chosen.payment(bids).tobytes())
        found.update(setting.load(chosen.q(bids)).tobytes())
    few = bids[::16]
    words = words_of_owners(np.arange(few.size, dtype=np.uint64), draw_key(0), LOTTERY_WORD)
    for q_max in (0.5, 0.99):
        rule = Lottery(setting=Setting(contract=ON_REPORT, q_max=q_max))
        drawn = clear_by_lottery(few, words, LotteryMarket(rule=rule, budget_micros=50_000_000))
        for figures in (drawn.chance, drawn.q, drawn.price_micros):
            found.update(figures.tobytes())
    return found.hexdigest()
