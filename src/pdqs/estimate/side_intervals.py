"""Quantiles from answers to "is it at most m?": which values the answers do not rule out (section 10 of docs/theory).

The target is Q = min{j : F(j) >= p}. If F(j) >= p, then h has a mean of at least 0 at every threshold from j on. So
"F(j) >= p" is tested on *runs* of thresholds that begin at the first one >= j and end as soon as they hold a fraction
1/64, 1/32, ..., 1/2, 1 of all the information: short runs see a quantile that lies near, long ones a flat stretch.
It falls if any run has

    -sum(a h)/sqrt(V) > c + max(0, -gamma)(c^2 - 1)/6,    V = sum a^2 v,    gamma = sum a^3 k3 / V^1.5

where c^2 - 1 counts as 0 for c below 1, and a run that comes to the last threshold ends there. Under a lottery
V = max(sum a^2 v, sum a^2 h^2), with (c^3 + c)/(4 (n_eff - 1)) more on the right. "F(j) < p" is the mirror image.
L is the *first* j from below whose "F(j) >= p" stands and U the first from above whose "F(j-1) < p" stands: the largest
j that falls would lose the median of a two-humped population in half of all rounds. If they cross they change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.estimate.crossing import crossing_of
from pdqs.estimate.gap import shifted
from pdqs.estimate.sides import SideSums, SideTally, side_sums
from pdqs.model.arrays import Booleans, Floats
from pdqs.rounds.stages import Window

FRACTIONS = tuple(2.0**-power for power in range(6, -1, -1))
WINDOW_REACH = 2.0
"""c of the windows that stages narrow to."""

ANSWER_REACH = 2.3
LOTTERY_REACH = 2.5
_LINE_REACH, _MIDDLE_REACH, _CLIP_REACH = 1.96, 0.3, 1.0
_LEAST_LINE = 3


def answer_reach(*, lottery: bool) -> float:
    """c of the 95 % interval."""
    return LOTTERY_REACH if lottery else ANSWER_REACH


@final
@dataclass(frozen=True, slots=True)
class Cheats:
    """A ``share`` of all the weight is in the hands of cheats; an answer of theirs moves h by up to ``move``."""

    share: float
    move: float

    def most(self, held: Floats, whole: float) -> Floats:
        """How far they move the sum over a run that holds so much of the ``whole`` weight: they may all stand in it."""
        moved: Floats = self.move * np.minimum(held, self.share * whole)
        return moved


NOBODY = Cheats(0.0, 0.0)


def window(
    tally: SideTally, domain_size: int, reach: float, *, lottery: bool, gap: float = 0.0, cheats: Cheats = NOBODY
) -> Window:
    """[L, U] at c = ``reach``. ``gap`` is the share of owners whom no report can speak for."""
    if not tally.thresholds.size:
        return Window(0, domain_size - 1)
    least, most = shifted(tally.p, gap)
    sums = side_sums(tally)
    below = _leading(falls(_moved(sums, tally.p - least), reach, lottery=lottery, cheats=cheats))
    above = _leading(falls(_moved(sums, tally.p - most).mirrored(), reach, lottery=lottery, cheats=cheats))
    low = int(tally.thresholds[below - 1]) + 1 if below else 0
    high = int(tally.thresholds[-above]) if above else domain_size - 1
    return Window(min(low, high), max(low, high))


def _moved(sums: SideSums, by: float) -> SideSums:
    """The sums about the share p - ``by``: h grows by ``by``. What noise there is stays that at p."""
    if not by:
        return sums
    return SideSums(
        sums.first + by * sums.weight, sums.variance, sums.square, sums.third, sums.weight, sums.weight_square
    )


def _leading(fallen: Booleans) -> int:
    """How many fall before the first that stands."""
    return int(fallen.size if fallen.all() else np.argmin(fallen))


def falls(sums: SideSums, reach: float, *, lottery: bool, cheats: Cheats = NOBODY) -> Booleans:
    """Whether "F(j) >= p" falls, for j at each threshold."""
    columns = [sums.first, sums.variance, sums.third, sums.weight]
    heaps = np.zeros((6 if lottery else 4, sums.first.size + 1))
    np.cumsum([*columns, sums.square, sums.weight_square] if lottery else columns, axis=1, out=heaps[:, 1:])
    wanted = heaps[1, :-1] + np.array(FRACTIONS)[:, None] * heaps[1, -1] * (1.0 - 1e-12)
    ends = np.minimum(np.searchsorted(heaps[1, 1:], wanted) + 1, sums.first.size)
    # The sums over each run: a row for each fraction, a column for each threshold it begins at.
    first, variance, third, weight, *drawn = heaps.take(ends, axis=1) - heaps[:, None, :-1]
    bound = np.full_like(variance, reach)
    if lottery:
        square, weight_square = drawn
        variance = np.maximum(variance, square)
        bound += (reach**3 + reach) / (4.0 * np.maximum(weight**2 / weight_square - 1.0, 1e-9))
    deviation = np.sqrt(variance)
    skewness = third / (variance * deviation)
    bound += np.maximum(0.0, -skewness) * max(reach * reach - 1.0, 0.0) / 6.0
    first = first + cheats.most(weight, float(sums.weight.sum()))
    fallen: Booleans = np.logical_or.reduce(-first > bound * deviation, axis=0)
    return fallen


def point(tally: SideTally, domain_size: int, *, lottery: bool) -> int:
    """The estimated code: where a weighted line, or a bend, through the thresholds of the c = 1.96 interval crosses p.

    Those thresholds are the ones from L - 1 to U. With fewer than three, or no slope, it is the middle of the c = .3
    interval. Rounded up to a code, for F reaches p there, and then always within the interval of c = 1.
    (Clipped at c = .5, and with a line from four thresholds on, the mean error on the six populations of the paper is
    1.44 times the bound at eps 1 and 1.65 at eps 4; so it is 1.20 and 1.22, and 1 to 2 times as large where all owners
    hold one value.)
    """
    clip = window(tally, domain_size, _CLIP_REACH, lottery=lottery)
    wide = window(tally, domain_size, _LINE_REACH, lottery=lottery)
    near = window(tally, domain_size, _MIDDLE_REACH, lottery=lottery)
    inside = (tally.thresholds >= wide.low - 1) & (tally.thresholds <= wide.high)
    found = None
    if np.count_nonzero(inside) >= _LEAST_LINE:
        sums = side_sums(tally)
        places = tally.thresholds[inside].astype(np.float64)
        found = crossing_of(places, sums.weight[inside], sums.first[inside], sums.variance[inside], tally.p)
    place = (near.low + near.high) / 2.0 if found is None else found
    return int(np.clip(np.ceil(np.clip(place, -1.0, domain_size)), clip.low, clip.high))
