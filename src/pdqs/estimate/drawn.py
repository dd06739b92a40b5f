"""Intervals for what a lottery bought, small samples included (section 12 of docs/theory).

For shares: all p with |mu - p| <= t(df) sqrt(sum_h V_h(p)),

    V_h(p) = W_h^2 { (sum w^2 - N) pi_h (1 - pi_h) + pi_h sum w^2 a + (1 - pi_h) sum w^2 c } / N^2

with a and c the variances of a report made right when its owner is inside and outside the cell, pi_h(p) between the
stratum's own estimate and p, and Satterthwaite's df. The first term is who was drawn, the others what they were told to
say at random; when everyone reports (w = 1), the first vanishes: the population is finite.

Few reports of a rare cell lean to one side, the more so at the small tails that simultaneous intervals need. So on the
side of the longer tail t becomes t + |gamma| (t^2 - 1)/6 (Cornish and Fisher), with gamma the skewness at p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.chances import Sampled
from pdqs.estimate.functionals import Functional
from pdqs.estimate.level import z_of
from pdqs.estimate.score import Quadratic, Scored, fixed_point, solve
from pdqs.model.arrays import Booleans, Floats

PULL = 4.0
"""lambda_h = n_eff / (n_eff + 4): how far a stratum's own estimate is believed inside its variance, at 95 %."""

_USUAL_TAIL = 0.025

_SIDES = np.array([[1.0], [-1.0]])  # at the lower end the estimate lies above, at the upper one below

MOST_SKEW = 1.0
"""The correction is the first term of a series: beyond a skewness of 1 it would say more than it knows."""


@final
@dataclass(frozen=True, eq=False)
class ShareVariance:
    """V_h(p) for shares: rows are strata, columns cells. ``own`` is lambda_h mu_h and ``rest`` 1 - lambda_h.

    ``cube`` is W_h^3/N_h^3 sum (w/(p1 - p0))^3; a typical report says 1 with chance ``floor`` + ``slope`` pi_h.
    """

    scale: Floats
    drawn: Floats
    inside: Floats
    outside: Floats
    own: Floats
    rest: Floats
    freedom: Floats
    cube: Floats
    floor: Floats
    slope: Floats

    def at(self, p: Floats) -> Floats:
        """V_h(p), at a p for each cell; of several rows of p, with an axis between, one table each."""
        pi = self.own + self.rest * p
        value: Floats = self.scale * (self.drawn * pi * (1 - pi) + self.inside * pi + self.outside * (1 - pi))
        return value

    def quadratic(self) -> Quadratic:
        """sum_h V_h(p) as a polynomial of p."""
        o, r = self.own, self.rest
        constant = self.drawn * o * (1 - o) + self.inside * o + self.outside * (1 - o)
        slope = r * (self.drawn * (1 - 2 * o) + self.inside - self.outside)
        parts = (constant, slope, -self.drawn * r * r)
        first, second, third = ((self.scale * part).sum(axis=0) for part in parts)
        return first, second, third

    def skewness(self, p: Floats, variances: Floats) -> Floats:
        """gamma = sum_h k3_h / V^1.5, k3 the third cumulant of a report that says 1 with its chance at p."""
        said = self.floor + self.slope * (self.own + self.rest * p)
        third = (self.cube * said * (1 - said) * (1 - 2 * said)).sum(axis=-2)
        value: Floats = third / np.maximum(variances.sum(axis=-2), 1e-100) ** 1.5
        return value

    def reach(self, p: Floats, tail: Floats | float, side: Floats | float) -> Floats:
        """How many standard errors the estimate may lie above p (``side`` 1) or below it (-1), for any rows of p.

        Student's t at Satterthwaite's df = (sum V)^2 / sum V^2/f, and more where that tail is the longer one.
        """
        rows = p[..., None, :]
        variances = self.at(rows)
        t = student(variances, self.freedom, tail)
        skew = np.minimum(np.maximum(side * self.skewness(rows, variances), 0.0), MOST_SKEW)
        return t + skew * np.maximum(t * t - 1.0, 0.0) / 6.0


def student(variances: Floats, freedom: Floats, tail: Floats | float) -> Floats:
    """The upper ``tail`` point of t with Satterthwaite's degrees of freedom, for each column."""
    from scipy.special import stdtrit  # a slow import, needed by answers with chances only

    total = variances.sum(axis=-2)
    df = total**2 / np.maximum((variances**2 / freedom).sum(axis=-2), 1e-300)
    value: Floats = stdtrit(np.maximum(df, 1.0), 1.0 - tail)
    return value


def pull_at(tail: float) -> float:
    """What stands in the place of 4 at other tails: z^2, as Agresti and Coull have it, which is 4 at 95 %.

    A stratum in which few or none were heard to hold a rare value says the less of it the surer one would be.

    >>> pull_at(0.4), pull_at(0.025), round(pull_at(0.025 / 20), 1)
    (4.0, 4.0, 9.1)
    """
    return PULL if tail >= _USUAL_TAIL else max(PULL, z_of(1.0 - 2.0 * tail) ** 2)


def share_variance(statistic: Functional, found: Sampled, tail: float = _USUAL_TAIL) -> ShareVariance:
    """V_h for g that is 0 or 1 under k-ary reports: x, the centre, is the chance of Y = 1 in a uniform report."""
    x = statistic.centre
    q0, q1, q2 = found.square[:, None], found.tilted[:, None], found.steep[:, None]
    inside = (1 - x) * (x * q2 + (1 - 2 * x) * q1 - (1 - x) * q0)
    outside = x * ((1 - x) * q2 - (1 - 2 * x) * q1 - x * q0)
    q = (found.weight / found.lift)[:, None]
    return general_variance(found, inside, outside, floor=(1 - q) * x, slope=q + 0.0 * x, pull=pull_at(tail))


def general_variance(
    found: Sampled, inside: Floats, outside: Floats, *, floor: Floats, slope: Floats, pull: float = PULL
) -> ShareVariance:
    """V_h from sum w^2 a and sum w^2 c by stratum and cell, whatever the question asked.

    With p1, p0 the chances of Y = 1 inside and outside a cell, a = p1(1-p1)/(p1-p0)^2 and c = p0(1-p0)/(p1-p0)^2;
    ``floor`` and ``slope`` are p0 and p1 - p0 of a typical report. The third power's sum is taken as small as the lower
    ones allow, (sum x^2)^2 / sum x, which is exact when weights within a stratum are equal.
    """
    narrowing = (found.weight / found.lift)[:, None] / slope
    effective = found.effective[:, None]
    trust = effective / (effective + pull) if found.part.size > 1 else np.zeros_like(effective)
    return ShareVariance(
        scale=(found.part / found.weight)[:, None] ** 2,
        drawn=np.maximum(found.square - found.weight, 0.0)[:, None],
        inside=np.maximum(inside, 0.0),
        outside=np.maximum(outside, 0.0),
        own=trust * np.clip(found.mean, 0.0, 1.0),
        rest=1.0 - trust,
        freedom=np.maximum(effective - 1.0, 1.0),
        cube=(found.part**3 / found.weight**3 * found.steep**2 / found.lift)[:, None] * narrowing**3,
        floor=floor,
        slope=slope,
    )


def share_intervals(statistic: Functional, found: Sampled, level: float) -> Scored:
    """The interval of each cell, at this level apart from the others."""
    tail = (1.0 - level) / 2.0
    return solved_shares(found.estimate, share_variance(statistic, found, tail), tail)


def solved_shares(estimate: Floats, variance: ShareVariance, tail: float) -> Scored:
    """Solve the quadratic, with the degrees of freedom that hold at each end."""
    return solved_at_tails(estimate, variance, (tail,))[0]


def solved_at_tails(estimate: Floats, variance: ShareVariance, tails: tuple[float, ...]) -> list[Scored]:
    """The same at several tails together: both ends at every tail in one array, of (tail, end, cell)."""
    quadratic, each = variance.quadratic(), np.array(tails)[:, None, None]

    def ends(found: Floats) -> Floats:
        low, high = solve(estimate, quadratic, variance.reach(found, each, _SIDES))
        return np.stack([low[:, 0], high[:, 1]], axis=1)

    start = np.broadcast_to(np.clip(estimate, 0.0, 1.0), (len(tails), 2, estimate.size))
    return [Scored(estimate, low, high) for low, high in fixed_point(ends, start)]


def simultaneous_level(level: float, cells: int) -> float:
    """The level each of k intervals needs for *all* to hold at once: 1 - (1 - level)/k (Bonferroni).

    Two cells share one interval: if the first holds, so does the second.

    >>> round(simultaneous_level(0.95, 10), 6), simultaneous_level(0.95, 2)
    (0.995, 0.95)
    """
    return 1.0 - (1.0 - level) / cells if cells > 2 else level


def simultaneous(statistic: Functional, found: Sampled, level: float) -> Scored:
    """Intervals that all hold at once with probability ``level``."""
    return share_intervals(statistic, found, simultaneous_level(level, statistic.centre.size))


def refuses_at_least(statistic: Functional, found: Sampled, share: Floats | float, level: float) -> Booleans:
    """Whether the reports contradict "this cell's share is at least ``share``", for each cell, at (1 - level)/2."""
    return _refused(statistic, found, share, level, below=True)


def refuses_at_most(statistic: Functional, found: Sampled, share: Floats | float, level: float) -> Booleans:
    """Whether the reports contradict "this cell's share is at most ``share``", for each cell, at (1 - level)/2."""
    return _refused(statistic, found, share, level, below=False)


def _refused(statistic: Functional, found: Sampled, share: Floats | float, level: float, *, below: bool) -> Booleans:
    tail = (1.0 - level) / 2.0
    variance = share_variance(statistic, found, tail)
    at = np.broadcast_to(np.asarray(share, dtype=np.float64), statistic.centre.shape)
    bound = variance.reach(at, tail, -1.0 if below else 1.0) * np.sqrt(variance.at(at).sum(axis=0))
    distance = at - found.estimate if below else found.estimate - at
    refused: Booleans = distance > bound
    return refused
