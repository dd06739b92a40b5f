"""A rule that reads the bids it prices, made by hand: it stands in for NPQM as printed where none has been trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.pricing.rules.base import Setting, vouched


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadsBids:
    """q(b; s) = 0.9 / (1 + e^(slope b' - intercept) / s), whose intercept follows the mean of the bids it is shown.

    This is the flaw of the paper's NPQM in one line: its weights are functions of the whole bid vector, so that an
    owner's own bid moves her own curve. The dearer the market looks, the more it buys of everyone.

    >>> rule = ReadsBids()
    >>> rule.read(np.array([0.2, 0.4])).intercept < rule.read(np.array([0.2, 0.9])).intercept
    True
    """

    slope: float = 6.0
    intercept: float = -1.5
    pull: float = 3.0
    setting: Setting = Setting()
    name = "reads-bids"
    printed_scale = 1.0

    def q(self, bids: Floats, scale: float) -> Floats:
        if scale <= 0:
            return np.zeros_like(bids)
        z = self.intercept - self.slope * self.setting.share(bids) + math.log(scale)
        q: Floats = 0.9 / (1.0 + np.exp(-z))
        return q

    def read(self, bids: Floats) -> ReadsBids:
        """The curve for this bid vector."""
        mean = float(self.setting.share(bids).mean())
        return ReadsBids(
            slope=self.slope, intercept=self.intercept + self.pull * mean, pull=self.pull, setting=self.setting
        )
