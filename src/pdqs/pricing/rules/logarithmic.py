"""q = -ln(c b') clipped, while b < s: the paper's GPQM-logarithmic."""

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
class Logarithmic:
    """q(b; s) = clip(-ln(c b'), q_min, q_max) while b < s, else 0.

    -ln(c b') leaves [0, 1) on most of its range, so the clip decides much: the authors' released code clips to
    [0.1, 0.9], the text not at all (q_min = 0 and the cap of the terms).

    >>> Logarithmic(2.0).q(np.array([0.3, 0.4, 0.9]), 1.0).round(4).tolist()
    [0.5108, 0.2231, 0.0]
    """

    c: float = 1.0
    q_min: float = 0.0
    q_max: float = 1.0 - 1e-6
    setting: Setting = Setting()
    name = RuleName.LOGARITHMIC.value

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c > 0):
            raise RuleError(f"rule logarithmic needs a finite c > 0, got {self.c}")
        if not 0 <= self.q_min <= self.q_max < 1:
            raise RuleError(f"rule logarithmic needs 0 <= q_min <= q_max < 1, got {self.q_min} and {self.q_max}")

    def q(self, bids: Floats, scale: float) -> Floats:
        product = self.c * self.setting.share(bids)
        # At b' = 0 the logarithm is infinite and the clip takes over; the floor only silences the division.
        curve = np.clip(-np.log(np.maximum(product, 1e-300)), self.q_min, self.q_max)
        return np.where(bids < scale, curve, 0.0)

    def shape(self) -> Shape:
        return uncut(self, self.setting)

    def placement(self, scale: float) -> Placement | None:
        return cut(scale, self.setting)
