"""The sound learned rule: a falling curve fixed before the bids it prices are known. NumPy only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.neural import logistic
from pdqs.pricing.rules import Optimal
from pdqs.pricing.rules.base import Setting, vouched

LINKS = ("response", "sigmoid")


@final
@dataclass(frozen=True, slots=True)
class LearnedPrice:
    """A virtual price learned from past bids, in the place of phi(b) = b + F(b)/f(b): it never needed f.

    ln v(b) is joined by straight lines between ``knots`` (shares of the bid range, from 0 to 1). ``quantiles`` are the
    past bids' own, evenly spaced in share.
    """

    knots: tuple[float, ...]
    log_prices: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0
    quantiles: tuple[float, ...] = (0.0, 1.0)

    @property
    def bid_range(self) -> tuple[float, float]:
        """The range of the past bids."""
        return float(self.low), float(self.high)

    def virtual_price(self, bids: Floats) -> Floats:
        share = (bids - self.low) / (self.high - self.low)
        price: Floats = np.exp(np.interp(share, self.knots, self.log_prices))
        return price

    def quantile(self, shares: Floats) -> Floats:
        bids: Floats = np.interp(shares, np.linspace(0.0, 1.0, len(self.quantiles)), self.quantiles)
        return bids


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """q(b; s) = link(z(b) + ln s), z a falling broken line learned from past bids alone.

    With link ``sigmoid`` the curve is q_max sigma(z + ln s). With link ``response`` it is the optimal rule's own
    response at the learned virtual price v = e^-z: argmax of q^2 - v(b) l(q) / s. Either way the curve knows nothing of
    the bids it prices, so the ladder makes it truthful, rational and within budget for any number of owners and any
    budget.

    >>> rule = Learned(knots=(0.0, 1.0), heights=(2.0, -2.0), link="sigmoid")
    >>> rule.q(np.array([0.0, 0.5]), 1.0).round(3).tolist()
    [0.849, 0.482]
    """

    knots: tuple[float, ...]
    heights: tuple[float, ...]
    link: str = "response"
    quantiles: tuple[float, ...] = (0.0, 1.0)
    setting: Setting = Setting()
    name = "learned"
    printed_scale = 1.0

    def __post_init__(self) -> None:
        knots, heights = np.asarray(self.knots), np.asarray(self.heights)
        if self.link not in LINKS:
            raise RuleError(f"unknown link {self.link!r}: choose one of {', '.join(LINKS)}")
        if knots.ndim != 1 or knots.shape != heights.shape or knots.size < 2:
            raise RuleError(f"a learned rule needs as many heights as knots, got {heights.size} and {knots.size}")
        if not (np.isfinite(heights).all() and (np.diff(heights) <= 0).all()):
            raise RuleError("a learned rule's heights must be finite and never rise")
        if not (knots[0] == 0 and knots[-1] == 1 and (np.diff(knots) > 0).all()):
            raise RuleError("a learned rule's knots must rise from 0 to 1")

    @property
    def price(self) -> LearnedPrice:
        """The learned virtual price, e^-z: a prior for every rule that takes one."""
        falling = tuple(-height for height in self.heights)
        return LearnedPrice(self.knots, falling, self.setting.low, self.setting.high, self.quantiles)

    def q(self, bids: Floats, scale: float) -> Floats:
        if scale <= 0:
            return np.zeros_like(bids)
        if self.link == "response":
            return Optimal(prior=self.price, setting=self.setting).q(bids, scale)
        z = np.interp(self.setting.share(bids), self.knots, self.heights) + math.log(scale)
        q: Floats = self.setting.q_max * logistic.sigmoid(z)
        return q
