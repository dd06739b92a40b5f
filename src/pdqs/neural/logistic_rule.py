"""The logistic rule, as the core sees it: NumPy only, so that a trained rule clears on a machine without JAX."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.neural import logistic
from pdqs.pricing.rules.base import Setting, vouched


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """q(b; s) = q_max sigma(intercept - slope b' + ln s), b' = (b - lo)/(hi - lo): at s = 1 the curve itself.

    >>> Logistic(slope=4.0, intercept=2.0).q(np.array([0.0, 0.5, 1.0]), 1.0).round(4).tolist()
    [0.8808, 0.5, 0.1192]
    """

    slope: float
    intercept: float
    q_max: float = 1.0
    setting: Setting = Setting()
    name = "logistic"
    printed_scale = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and self.slope >= 0 and math.isfinite(self.intercept)):
            raise RuleError(f"a logistic rule needs a finite slope >= 0 and intercept: {self.slope}, {self.intercept}")
        if not 0 < self.q_max <= 1:
            raise RuleError(f"a logistic rule needs 0 < q_max <= 1, got {self.q_max}")

    def q(self, bids: Floats, scale: float) -> Floats:
        if scale <= 0:
            return np.zeros_like(bids)
        z = self.intercept - self.slope * self.setting.share(bids) + math.log(scale)
        q: Floats = self.q_max * logistic.sigmoid(z)
        return q
