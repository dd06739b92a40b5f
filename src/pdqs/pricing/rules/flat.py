"""The simplest lottery: the same chance for everyone, everyone asked paid as if she had bid the top of the range."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

from pdqs.model.names import RuleName
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.lottery import LotteryForm, OfForm, best_buy
from pdqs.pricing.rules.prices import flat_line


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Flat(OfForm):
    """rho(b; s) = sqrt(min(1, m1 s / hi)) whatever the bid, q = q*: the baseline that the lottery must beat.

    It needs no prior and no price tells anything; it pays dear where most bids are far below the top. The threshold is
    hi where the draw is below the chance, else minus infinity.

    >>> import numpy as np
    >>> Flat().chance(np.array([0.1, 0.9]), 0.5).round(3).tolist()
    [0.602, 0.602]
    """

    setting: Setting = Setting()
    name = RuleName.FLAT.value

    def form(self) -> LotteryForm:
        return _form(self.setting)


@lru_cache(maxsize=64)
def _form(setting: Setting) -> LotteryForm:
    best = best_buy(setting.contract, setting.domain_size, setting.q_max)
    return LotteryForm(setting, best, flat_line(setting), None)
