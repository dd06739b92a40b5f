"""q = (1 - b')^2 while b < s: a steeper relative of linear. The authors' code has another, min(0.99, 1 - b'^2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.names import RuleName
from pdqs.pricing.rules.base import Setting, vouched
from pdqs.pricing.rules.shape import Placement, Shape, cut, uncut


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Quadratic:
    """q(b; s) = (1 - b')^2 while b < s, else 0; b' = (b - lo) / (hi - lo).

    >>> Quadratic().q(np.array([0.25, 0.5, 0.75]), 0.6).tolist()
    [0.5625, 0.25, 0.0]
    """

    setting: Setting = Setting()
    name = RuleName.QUADRATIC.value

    def q(self, bids: Floats, scale: float) -> Floats:
        return np.where(bids < scale, (1.0 - self.setting.share(bids)) ** 2, 0.0)

    def shape(self) -> Shape:
        return uncut(self, self.setting)

    def placement(self, scale: float) -> Placement | None:
        return cut(scale, self.setting)
