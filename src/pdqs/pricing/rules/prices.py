"""The virtual price as a line of straight pieces: never falling, and turned over as easily as it is read.

A lottery needs both phi(b) and the dearest bid with phi at most y, for millions of owners, and needs them to agree to
the last bit. Any non-decreasing phi keeps every promise of section 9 of docs/theory (phi only says who is worth what),
so a prior is read off at KNOTS places, capped, tilted a hair so that it has no flat, and joined by straight lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.priors import Prior, Uniform
from pdqs.pricing.rules.base import Setting

KNOTS = 257
DEAREST = 8.0
"""phi is at most this many times the top of the bid range: next to the end of a prior it can pass any bound."""

_TILT = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class PriceLine:
    """phi on [knots[0], knots[-1]], rising, in straight pieces."""

    knots: Floats
    prices: Floats
    slopes: Floats

    def at(self, bids: Floats) -> Floats:
        """phi(b). Never falls with b, not even by a rounding.

        >>> price_line(None, Setting(low=1.0, high=3.0)).at(np.array([1.0, 2.0, 3.0])).tolist()
        [1.0, 3.0, 5.0]
        """
        piece = self.piece_of(bids)
        risen: Floats = bids - self.knots[piece]  # one array for all steps: millions of owners pass here
        risen *= self.slopes[piece]
        risen += self.prices[piece]
        return np.minimum(risen, self.prices[piece + 1], out=risen if risen.ndim else None)

    def dearest(self, prices: Floats) -> Floats:
        """The largest bid whose phi is at most this, to a few ulps; minus infinity where there is none.

        >>> price_line(None, Setting(low=1.0, high=3.0)).dearest(np.array([0.5, 3.0, 9.0])).tolist()
        [-inf, 2.0, 3.0]
        """
        piece = 0 if self.knots.size == 2 else np.searchsorted(self.prices[1:-1], prices, side="right")
        bids = (prices - self.prices[piece]) / self.slopes[piece] + self.knots[piece]
        inside: Floats = np.minimum(bids, self.knots[-1])
        return np.where(prices < self.prices[0], -np.inf, inside)

    def piece_of(self, bids: Floats) -> Integers | int:
        """Which straight piece a bid lies on."""
        if self.knots.size == 2:
            return 0
        return np.searchsorted(self.knots[1:-1], bids, side="right").astype(np.int64)


@lru_cache(maxsize=64)
def price_line(prior: Prior | None, setting: Setting) -> PriceLine:
    """The virtual price of a prior (uniform on the range unless given) over the bid range of a market."""
    ends = np.array([setting.low, setting.high])
    if prior is None or (isinstance(prior, Uniform) and prior.low <= setting.low):
        return _frozen(ends, (prior or Uniform(setting.low, setting.high)).virtual_price(ends))
    knots = np.linspace(setting.low, setting.high, KNOTS)
    with np.errstate(all="ignore"):  # beyond the end of a prior F/f is infinite, or no number at all: the cap stands
        raw = np.asarray(prior.virtual_price(knots), dtype=np.float64)
    capped = np.clip(np.nan_to_num(raw, nan=np.inf), 0.0, DEAREST * setting.high)
    return _frozen(knots, np.maximum.accumulate(capped) + _TILT * setting.high * setting.share(knots))


def flat_line(setting: Setting) -> PriceLine:
    """The price line of a chance that is the same for everyone: flat but for the tilt."""
    ends = np.array([setting.low, setting.high])
    return _frozen(ends, setting.high * (1.0 + _TILT * np.array([0.0, 1.0])))


def _frozen(knots: Floats, prices: Floats) -> PriceLine:
    slopes = np.diff(prices) / np.diff(knots)
    for array in (knots, prices, slopes):
        array.flags.writeable = False
    return PriceLine(knots, prices, slopes)
