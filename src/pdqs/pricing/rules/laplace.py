"""q as Fallah et al. (2022) would choose eps: the best linear estimate from Laplace reports for the money."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.names import RuleName
from pdqs.model.priors import Prior
from pdqs.pricing.rules.base import Setting, vouched
from pdqs.pricing.rules.shape import Placement, Shape, at_virtual_price, stretched, virtual_line
from pdqs.privacy.loss import epsilon, q_of_epsilon

EPSILON_STAR = math.sqrt(8.0)
"""Where the precision of a Laplace report for its eps is largest."""


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    r"""The eps at which a report with Laplace noise is worth its virtual price, as a chance of truth.

    A value in [0, 1] with Laplace noise of scale 1/eps has variance at most 1/4 + 2/eps^2, and the best linear weights
    give the mean of owners a precision of sum 1/(1/4 + 2/eps^2) = 4 sum h(eps), h(e) = e^2/(e^2 + 8). So

    .. math:: \varepsilon(b; s) = \arg\max_{0 \le e \le \varepsilon_{max}} h(e) - \phi(b)\, e / s

    with phi the virtual price of the prior. h is S-shaped: nothing is bought, or at least eps* = sqrt(8) (or the cap,
    where that is lower). The report itself is k-ary randomised response at that eps.

    >>> Laplace().q(np.array([0.01, 0.06, 0.3]), 1.0).round(3).tolist()
    [0.964, 0.957, 0.0]
    """

    prior: Prior | None = None
    setting: Setting = Setting()
    name = RuleName.LAPLACE.value

    def q(self, bids: Floats, scale: float) -> Floats:
        return at_virtual_price(self._response, bids, scale, self.prior, self.setting)

    def shape(self) -> Shape:
        return Shape(self._response, 0.0, float(np.nextafter(_none_after(self._cap()), np.inf)))

    def placement(self, scale: float) -> Placement | None:
        line = virtual_line(self.prior, self.setting)
        return None if line is None else stretched(*line, _none_after(self._cap()), scale, self.setting)

    def _response(self, m: Floats) -> Floats:
        """q at the virtual price m of a unit of precision."""
        chosen = _chosen_epsilon(m, self._cap())
        q: Floats = np.minimum(q_of_epsilon(chosen, self.setting.domain_size), self.setting.q_max)
        return q

    def _cap(self) -> float:
        return float(epsilon(np.array(self.setting.q_max), self.setting.domain_size))


def _none_after(cap: float) -> float:
    """The m beyond which nothing is bought: the most that h(e)/e can be on (0, cap]."""
    least = min(EPSILON_STAR, cap)
    return least / (least * least + 8.0)


def _chosen_epsilon(m: Floats, cap: float) -> Floats:
    """argmax of h(e) - m e on [0, cap]: 0, or the larger root of h'(e) = 16 e/(e^2 + 8)^2 = m, by bisection."""
    least = min(EPSILON_STAR, cap)
    low, high = np.full_like(m, least), np.full_like(m, cap)
    for _ in range(60):
        middle = 0.5 * (low + high)
        worth = 16.0 * middle / (middle * middle + 8.0) ** 2 >= m
        low, high = np.where(worth, middle, low), np.where(worth, high, middle)
    return np.where(m <= _none_after(cap), low, 0.0)
