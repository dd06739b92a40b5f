"""How wide the interval of a quantile will be, in the units of the values, on average over what reports may say.

Its ends are values of the domain, so a few typical answers say little: most have the very same ends. But what decides
them is known: the lower end is the first v_j whose "F(j) >= p" stands, where the interval of F(j) reaches up to p, and
the upper one likewise from above. Estimates of the F(j) are normal about what they aim at, their ends as far from them
as in a typical answer, and go together as the shares of a sample do: with G(j) the chance that a report says at most
v_j, i < j have the correlation sqrt(G_i (1 - G_j) / (G_j (1 - G_i))), that of a Brownian bridge.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pdqs.estimate.readings import Estimated
from pdqs.model.arrays import Floats

_PATHS = 2048
_SEED = 20_263
_LEAST = 1e-9


def value_half_width(found: Estimated, aims: Floats, said: Floats, numbers: Floats, p: float) -> float:
    """The mean half-width, if the estimates of the F(j) lie about ``aims`` and reports say at most v_j as ``said``.

    >>> middle, errors = np.array([0.1, 0.5, 1.0]), np.array([0.025, 0.025, 0.0])
    >>> low, high = np.array([0.05, 0.45, 1.0]), np.array([0.15, 0.55, 1.0])
    >>> found = Estimated(estimate=middle, low=low, high=high, standard_error=errors, reach=errors)
    >>> round(value_half_width(found, middle, middle, np.array([0.0, 1.0, 2.0]), 0.5), 2)  # 1 to 2, seldom one of them
    0.48
    """
    drawn = aims[:-1] + found.standard_error[:-1] * _bridges(said[:-1])
    up, down = _reaches(found)
    reaches_up, reaches_down = drawn + up[:-1] >= p, drawn - down[:-1] < p
    size = numbers.size
    first = np.where(reaches_up.any(axis=1), reaches_up.argmax(axis=1), size - 1)
    last = np.where(reaches_down.any(axis=1), size - 1 - reaches_down[:, ::-1].argmax(axis=1), 0)
    return float(np.mean(np.abs(numbers[last] - numbers[first]))) / 2.0


def _reaches(found: Estimated) -> tuple[Floats, Floats]:
    """How far an interval reaches up and down from its estimate: as far as on the other side where it was cut short."""
    up = np.where(found.high < 1.0, found.high - found.estimate, np.inf)
    down = np.where(found.low > 0.0, found.estimate - found.low, np.inf)
    return np.where(np.isfinite(up), up, down), np.where(np.isfinite(down), down, up)


def _bridges(said: Floats) -> Floats:
    """Paths with variance 1 at each place: W(t)/sqrt(t) at t = G/(1 - G), W a Brownian motion."""
    inside = np.clip(said, _LEAST, 1.0 - _LEAST)
    times = np.maximum.accumulate(inside / (1.0 - inside))
    steps = np.sqrt(np.diff(times, prepend=0.0))
    paths: Floats = np.cumsum(_normals(said.size) * steps, axis=1) / np.sqrt(times)
    return paths


@lru_cache(maxsize=8)
def _normals(size: int) -> Floats:
    """The same ones for every budget, so that budgets can be compared; each with its opposite."""
    half = np.random.default_rng(_SEED).standard_normal((_PATHS // 2, size))
    both = np.concatenate([half, -half])
    both.flags.writeable = False
    return both
