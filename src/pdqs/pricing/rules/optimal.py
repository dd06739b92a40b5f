"""The best precision for the money when bids say nothing about values."""

from __future__ import annotations

from collections.abc import Callable
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
class Optimal:
    r"""q(b; s) = argmax over q in [0, q_max] of q^2 - phi(b) l(q) / s (section 4 of docs/theory).

    phi is the virtual price b + F(b)/f(b) of the prior, so the sum over owners is information bought less its expected
    price. With m = phi/s the first-order condition is m = 2q / l'(q). Where q^2 is not concave in the load l, the best
    q is on its upper concave envelope: nothing at all, or at least the q* that maximises q^2 / l(q).

    >>> Optimal().q(np.array([0.1, 0.3]), 1.0).round(4).tolist()
    [0.8789, 0.0]
    """

    prior: Prior | None = None
    setting: Setting = Setting()
    name = RuleName.OPTIMAL.value

    def q(self, bids: Floats, scale: float) -> Floats:
        return at_virtual_price(self._response().q, bids, scale, self.prior, self.setting)

    def shape(self) -> Shape:
        response = self._response()
        return Shape(response.q, 0.0, float(np.nextafter(response.none_after, np.inf)))

    def placement(self, scale: float) -> Placement | None:
        line = virtual_line(self.prior, self.setting)
        return None if line is None else stretched(*line, self._response().none_after, scale, self.setting)

    def _response(self) -> _BestResponse:
        return _best_response(self.setting.contract, self.setting.domain_size, self.setting.q_max)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _BestResponse:
    """q as a function of m = phi / s: q_max up to ``full_at``, falling to q* at ``none_after``, then nothing.

    ``between`` holds q over u = sqrt(none_after - m): where q falls to 0 it does so like a square root of m.
    """

    q_max: float
    full_at: float
    none_after: float
    between: Piecewise

    def q(self, m: Floats) -> Floats:
        inside = self.between.value(np.sqrt(self.none_after - np.clip(m, self.full_at, self.none_after)))
        return np.where(m <= self.full_at, self.q_max, np.where(m <= self.none_after, inside, 0.0))


@lru_cache(maxsize=256)
def _best_response(contract: Contract, domain_size: int, q_max: float) -> _BestResponse:
    def slope(q: Floats) -> Floats:
        """m = d(q^2)/dl = 2q / l'(q)."""
        found: Floats = 2.0 * q / contract.slope(q, domain_size)
        return found

    def value_for_money(q: float) -> float:
        return float(q * q / contract.load(np.array(q), domain_size))

    q_star = _most_for_the_money(value_for_money, q_max)
    none_after, full_at = value_for_money(q_star), float(slope(np.array(q_max)))
    if q_star == q_max:  # the cap lies below q*: the envelope is a straight line, and the rule a step
        full_at = none_after
    if not full_at < none_after:
        return _BestResponse(q_max=q_max, full_at=none_after, none_after=none_after, between=_constant(q_max))
    between = fit_value(
        lambda u: falling_inverse(slope, none_after - u * u, q_star, q_max),
        0.0,
        (none_after - full_at) ** 0.5,
        tolerance=1e-12,  # q is used to 2^-32; payments are exact for the tabulated q whatever its error
    )
    return _BestResponse(q_max=q_max, full_at=full_at, none_after=none_after, between=between)


def _most_for_the_money(value_for_money: Callable[[float], float], q_max: float) -> float:
    """The q in (0, q_max] with the largest q^2 / l(q); next to 0 where the ratio falls from the start."""
    from scipy.optimize import minimize_scalar  # a slow import, needed once per market

    # An owner at q = 1e-3 adds a millionth to the information; under a cap as low as that, start well below it.
    tiny = min(1e-3, 0.01 * q_max)
    grid = np.linspace(tiny, q_max, 257)
    best = int(np.argmax([value_for_money(float(q)) for q in grid]))
    if best == 0:
        return tiny
    if best == grid.size - 1 and value_for_money(q_max) >= value_for_money(q_max * (1 - 1e-9)):
        return q_max
    around = (float(grid[best - 1]), float(grid[min(best + 1, grid.size - 1)]))
    found = minimize_scalar(lambda q: -value_for_money(q), bounds=around, method="bounded", options={"xatol": 1e-12})
    return float(found.x)


def _constant(value: float) -> Piecewise:
    return fit_value(lambda x: np.full_like(x, value), 0.0, 1.0)
