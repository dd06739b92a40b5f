"""q = e^(-c b') while b < s: the paper's GPQM-exponential."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.names import RuleName
from pdqs.pricing.rules.base import Setting, vouched
from pdqs.pricing.rules.shape import Placement, Shape, cut, uncut


@vouched
@final
@dataclass(frozen=True, slots=True)
class Exponential:
    """q(b; s) = e^(-c b') while b < s, else 0. The paper draws c from U(0, 10) for every query.

    >>> Exponential(1.0).q(np.array([0.0, 0.5]), 0.6).round(4).tolist()
    [1.0, 0.6065]
    """

    c: float = 1.0
    setting: Setting = Setting()
    name = RuleName.EXPONENTIAL.value

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c >= 0):
            raise RuleError(f"rule exponential needs a finite c >= 0, got {self.c}")

    def q(self, bids: Floats, scale: float) -> Floats:
        return np.where(bids < scale, np.exp(-self.c * self.setting.share(bids)), 0.0)

    def shape(self) -> Shape:
        return uncut(self, self.setting)

    def placement(self, scale: float) -> Placement | None:
        return cut(scale, self.setting)
