"""The best precision for the money whatever bids say about values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.names import RuleName
from pdqs.model.priors import Prior
from pdqs.pricing.piecewise import Piecewise, fit_value
from pdqs.pricing.rules.base import Setting, vouched
from pdqs.pricing.rules.inverse import falling_inverse
from pdqs.pricing.rules.shape import Placement, Shape, at_virtual_price, stretched, virtual_line
from pdqs.privacy.contracts import Contract


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Robust:
    r"""q(b; s) = argmin over q in (0, q_max] of 1/q^2 + phi(b) l(q) / s (section 3 of docs/theory).

    The unbiased estimator's variance is at most sum 1/q^2 / (4 n^2), so this buys the least variance for the money when
    bids and values may be correlated. Nobody is priced out: q > 0 for every bid. With m = phi/s, m = 2 / (q^3 l'(q)).

    >>> Robust().q(np.array([0.1, 0.9]), 1.0).round(4).tolist()
    [0.9191, 0.6726]
    """

    prior: Prior | None = None
    setting: Setting = Setting()
    name = RuleName.ROBUST.value

    def q(self, bids: Floats, scale: float) -> Floats:
        return at_virtual_price(self._response, bids, scale, self.prior, self.setting)

    def shape(self) -> Shape:
        return Shape(self._response, 0.0, _SHAPE_STOP)

    def placement(self, scale: float) -> Placement | None:
        line = virtual_line(self.prior, self.setting)
        placed = None if line is None else stretched(*line, _SHAPE_STOP, scale, self.setting)
        return None if placed is None or placed.top == _SHAPE_STOP else placed

    def _response(self, m: Floats) -> Floats:
        log_q = _log_response(self.setting.contract, self.setting.domain_size, self.setting.q_max)
        # Beyond either end of the table q is the cap, or far below 2^-32.
        return np.exp(log_q.value(np.clip(np.log(np.maximum(m, 1e-300)), *_LOG_M)))


_LOG_M = (-30.0, 90.0)
_SHAPE_STOP = 100.0  # m beyond this is a market where next to nothing is bought: it gets tables of its own


@lru_cache(maxsize=256)
def _log_response(contract: Contract, domain_size: int, q_max: float) -> Piecewise:
    """ln q as a function of ln m: smooth where q itself spans many orders of magnitude."""

    def log_m(log_q: Floats) -> Floats:
        q = np.exp(log_q)
        found: Floats = np.log(2.0) - 3.0 * log_q - np.log(contract.slope(q, domain_size))
        return found

    smallest = -60.0
    return fit_value(
        lambda wanted: falling_inverse(log_m, wanted, smallest, float(np.log(q_max))), *_LOG_M, tolerance=1e-14
    )
