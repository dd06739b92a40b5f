r"""What the shares of a histogram are likely to be, given how raw ones came out and how much of that is luck.

A raw share x_i is the true share f_i and noise of variance v_i. Nothing is known of the population beforehand, so many
kinds are tried at once: all shares alike; spread around 1/k like a bell; a few values that hold everything; a few above
a ground of small ones. Each kind gives every f_i the same law, with mean 1/k, so each has a likelihood

.. math:: L = \prod_i \int N(x_i; f, v_i) \, dP(f),

and an expected share for each cell (closed forms, below). What is shown is the mean over the kinds, each with the
weight that its chance and its likelihood give it (Bayes). A kind that only explains the luckiest cells is paid for by
all the others that it explains worse, so one lucky cell in a thousand moves little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, final

import numpy as np

from pdqs.model.arrays import Floats

_AT_ONCE = 2**14
"""Cells worked on together, so that a domain of a million takes no more memory than one of sixteen thousand."""

_NEGLIGIBLE = 1e-9
"""A kind of less weight is left out of the mean: it would move no digit that is shown."""

_FAR = 1e3
"""So far below 0, u + phi(u)/Phi(u) is -1/u + 2/u^3 to ten digits."""

GROUNDS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Parts of all owners that the ground may hold."""

SPREADS = tuple(2.0**j for j in range(-3, 9))
"""Spreads of the bell, as multiples of the noise's variance."""


@final
@dataclass(frozen=True, slots=True)
class Law:
    """How one true share may lie: at ``size``; falling off from 0 (exponential) with mean ``size``; or like a bell
    around 1/k, ``size`` times as wide as noise (in variance)."""

    shape: Literal["point", "falling", "bell"]
    size: float


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of population: a ``part`` of the values follow ``law``, the others ``ground``; ``chance`` beforehand, as
    odds against the other kinds."""

    chance: float
    law: Law
    part: float = 1.0
    ground: Law | None = None


@lru_cache(maxsize=16)
def kinds(size: int) -> tuple[Kind, ...]:
    """Every kind tried for a domain of this size.

    Sizes of the few go by powers of two from 2/k to 1. All alike has odds of k/500, bells 1 + k/1000 together, few
    values 1 and few above a ground 1/10: the more cells there are, the more of them are lucky. The odds were chosen
    by simulation (benchmarks/shown_shares.py, other seeds than the one on file): little is lost anywhere.
    """
    even = 1.0 / size
    sizes = [*(2.0**j * even for j in range(1, math.ceil(math.log2(size)))), 1.0]
    few = [Law(shape, each) for each in sizes for shape in ("point", "falling")]
    grounds = [(part, Law(shape, part * even)) for part in GROUNDS for shape in ("point", "falling")]
    nothing = Law("point", 0.0)
    alone = 1.0 / (len(few) + 1)
    above = 0.1 / (len(few) * len(grounds))
    bells = (1.0 + size / 1000) / len(SPREADS)
    return (
        Kind(size / 500, Law("point", even)),
        *(Kind(bells, Law("bell", spread)) for spread in SPREADS),
        Kind(alone, Law("falling", even)),
        *(Kind(alone, law, even / law.size, nothing) for law in few),
        *(Kind(above, law, (1.0 - held) * even / law.size, ground) for held, ground in grounds for law in few),
    )


def likely_shares(raw: Floats, standard_error: Floats) -> Floats:
    """The expected share of each cell; at least 0 and adding up to 1 as nearly as chance has it, not exactly.

    The variance of a share grows with it, and noise leans to the right: large raw shares are luck more often than a
    bell would have it. With v_i a third of the way from the mean to the cell's own variance a bell has the tail that
    counts of few reports have (Bernstein).
    """
    squared = standard_error**2
    typical = float(squared.mean())
    variance = (2.0 * typical + squared) / 3.0
    tried = kinds(raw.size)
    odds = np.log([kind.chance for kind in tried])

    @lru_cache(maxsize=1)  # of few cells the second look needs nothing worked out anew
    def seen_from(start: int) -> _Seen:
        block = slice(start, start + _AT_ONCE)
        return _Seen(raw[block], variance[block], typical, 1.0 / raw.size)

    for start in range(0, raw.size, _AT_ONCE):
        seen = seen_from(start)
        odds += [float((seen.density(kind) - seen.alike).sum()) for kind in tried]
    weights = np.exp(odds - odds.max())
    weights /= weights.sum()
    expected = np.zeros_like(raw)
    for start in range(0, raw.size, _AT_ONCE):
        seen, block = seen_from(start), slice(start, start + _AT_ONCE)
        for kind, weight in zip(tried, weights.tolist(), strict=True):
            if weight > _NEGLIGIBLE:
                expected[block] += weight * seen.mean(kind)
    return expected


Found = tuple[Floats, Floats]
"""The logarithm of each raw share's density, and the true share to be expected of it."""


class _Seen:
    """Raw shares and what every law makes of them, each worked out once."""

    def __init__(self, raw: Floats, variance: Floats, typical: float, even: float) -> None:
        self._raw, self._variance, self._typical, self._even = raw, variance, typical, even
        self._found: dict[Law, Found] = {}
        self.alike = self._under(Law("point", even))[0]

    def density(self, kind: Kind) -> Floats:
        """The logarithm of each raw share's density under a kind of population."""
        own = self._under(kind.law)[0]
        if kind.ground is None:
            return own
        both: Floats = np.logaddexp(math.log(kind.part) + own, math.log1p(-kind.part) + self._under(kind.ground)[0])
        return both

    def mean(self, kind: Kind) -> Floats:
        """The share to be expected of each cell under a kind of population."""
        density, expected = self._under(kind.law)
        if kind.ground is None:
            return expected
        chance = np.exp(math.log(kind.part) + density - self.density(kind))
        mixed: Floats = chance * expected + (1.0 - chance) * self._under(kind.ground)[1]
        return mixed

    def _under(self, law: Law) -> Found:
        if law not in self._found:
            self._found[law] = self._work_out(law)
        return self._found[law]

    def _work_out(self, law: Law) -> Found:
        x, v = self._raw, self._variance
        if law.shape == "falling":
            return falling(x, v, law.size)
        centre, spread = (law.size, 0.0) if law.shape == "point" else (self._even, law.size * self._typical)
        wide = v + spread
        return -0.5 * ((x - centre) ** 2 / wide + np.log(2.0 * np.pi * wide)), centre + spread / wide * (x - centre)


def falling(raw: Floats, variance: Floats, mean: float) -> Found:
    r"""Exponential shares seen through noise: with s^2 the variance, m the mean and u = x/s - s/m,

    .. math:: \frac{\Phi(u)}{m} e^{s^2/(2m^2) - x/m}, \qquad s (u + \varphi(u)/\Phi(u)),

    below 0 by way of :math:`e^{u^2/2}\Phi(u)`, which neither runs over nor vanishes there.

    >>> density, expected = falling(np.array([0.3, -0.1]), np.array([0.01, 0.01]), 0.2)
    >>> np.exp(density).round(4).tolist(), expected.round(4).tolist()
    ([1.2563, 0.6241], [0.2518, 0.0439])
    """
    from scipy.special import erfcx, log_ndtr  # a slow import, needed by histograms only

    s = np.sqrt(variance)
    u = raw / s - s / mean
    low = np.minimum(u, 0.0)
    scaled = 0.5 * erfcx(-low / math.sqrt(2.0))  # e^(u^2/2) Phi(u)
    high = np.maximum(u, 0.0)
    sure = log_ndtr(high)
    density = np.where(
        u < 0.0, np.log(scaled) - raw**2 / (2.0 * variance), variance / (2.0 * mean**2) - raw / mean + sure
    ) - math.log(mean)
    hazard = np.where(u < 0.0, 1.0 / scaled, np.exp(-0.5 * high**2 - sure)) / math.sqrt(2.0 * np.pi)
    far = np.minimum(u, -_FAR)
    beyond = np.where(u < -_FAR, (2.0 / far**2 - 1.0) / far, u + hazard)  # the difference of two near equals otherwise
    return density, np.maximum(s * beyond, 0.0)
