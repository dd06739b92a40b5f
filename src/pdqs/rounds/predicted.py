r"""Standard errors before any report, from the offers alone: what "auto" chooses by (section 10 of docs/theory).

Every estimate is a weighted mean of reports made right, with weights a = q^2 (or 1/v for quantiles) where prices tell
nothing and a = 1/chance under a lottery. So its error is sqrt(sum a^2 v / (sum a)^2 - s/n), v the variance of one
report made right for a typical population and s that of the values themselves, for the population is finite. A count
and a quantile are in shares of owners, a mean in parts of the range, a histogram in the share of one of k equal cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, read_only
from pdqs.model.names import QuestionKind
from pdqs.model.query import Count, Histogram, Mean, Median, Quantile, Query
from pdqs.model.questions import LARGEST_BUCKETED
from pdqs.privacy.bucket_maps import collision
from pdqs.privacy.loss import LEAST_LIFTED_Q
from pdqs.privacy.noise import bucket_noise, side_noise

STAGED = 1.25
"""Rank error of a staged quantile over that of one threshold at the quantile itself; measured .6 to 1.26 of this."""

WORTH_WHILE: Mapping[str, float] = {"value": 1.0, "bucket": 1.0, "level": 0.9, "side": 2.0 / 3.0}
"""A smaller question is asked only if its predicted error is below this part of that of whole values.

Predictions are for even populations. Where all hold one value, rounding to levels costs more than they say; a quantile
falls on values, so that an error of less than a step is none, and its interval from sides is wider for its error."""

STAGED_HALF_WIDTH = 3.0
"""Half-width of its 95 % interval, in units of 1.96 of the same bound."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Bought:
    """What a budget buys at one kappa: q of those who are asked, their chances under a lottery (else None), and how
    many owners there are in all."""

    q: Floats
    chances: Floats | None
    owners: int

    def __post_init__(self) -> None:
        some = self.q >= LEAST_LIFTED_Q
        if self.chances is not None:
            object.__setattr__(self, "chances", read_only(self.chances[some]))
        object.__setattr__(self, "q", read_only(self.q[some]))

    def weights(self, variances: Floats) -> Floats:
        """1/chance, or the inverse of the variances where prices tell nothing."""
        return 1.0 / (variances if self.chances is None else self.chances)


def levels_for(epsilon: float) -> int:
    """g = max(2, round(1 + e^(eps/3))): within 1.0 to 1.3 of the best over six placements of values.

    >>> [levels_for(eps) for eps in (0.5, 1, 2, 4)]
    [2, 2, 3, 5]
    """
    return max(2, round(1.0 + math.exp(epsilon / 3.0)))


def buckets_for(epsilon: float) -> int:
    """g = round(e^eps + 1), and at least 2: the law of subset selection, the optimum.

    >>> [buckets_for(eps) for eps in (0.5, 1, 2, 4)]
    [3, 4, 8, 56]
    """
    return max(2, round(math.exp(min(epsilon, 40.0)) + 1.0))


def count_error(bought: Bought) -> float:
    """At a share of one half: sqrt(1/(4 sum q^2) - 1/(4 n)), or sqrt(sum 1/(4 q^2 rho^2)) / sum 1/rho.

    >>> round(count_error(Bought(q=np.full(100, 0.5), chances=None, owners=100)), 4)
    0.0866
    """
    return _combined(bought, 0.25 / bought.q**2, 0.25 if bought.chances is None else 0.0)


def mean_error(bought: Bought, levels: int, *, rounded: bool) -> float:
    """On a range of 1, values even over it; ``rounded`` at random to levels, or reported whole (g = k).

    v = [q (1/12 + 1/(6 (g-1)^2)) + (1-q)(g+1)/(12 (g-1))]/q^2, the second term for the rounding.
    """
    q, g = bought.q, float(levels)
    seen = 1.0 / 12.0 + (1.0 / (6.0 * (g - 1.0) ** 2) if rounded else 0.0)
    v = (q * seen + (1.0 - q) * (g + 1.0) / (12.0 * (g - 1.0))) / q**2
    return _combined(bought, v, 1.0 / 12.0, weights=_squares(bought))


def cell_error(bought: Bought, cells: int, buckets: int, *, mixed: bool) -> float:
    """One cell with share f = 1/k of a histogram; ``mixed`` into buckets, or values reported whole (g = k)."""
    f, q = 1.0 / cells, bought.q
    c = collision(cells, buckets) if mixed else 0.0
    ones = np.ones_like(q)
    inside, outside = bucket_noise(ones, 1.0 / q, 1.0 / q**2, c, buckets)
    v = f * inside + (1.0 - f) * outside + f * (1.0 - f)
    return _combined(bought, v, f * (1.0 - f), weights=_squares(bought))


def side_bound(bought: Bought, p: float) -> float:
    """The rank error if everyone were asked about the quantile itself: 1/sqrt(sum q^2/(pi (1 - pi)))."""
    return _combined(bought, side_noise(bought.q, p), 0.0)


def staged_error(bought: Bought, p: float) -> float:
    """A quantile by sides in stages, as a share of owners."""
    return STAGED * side_bound(bought, p)


def one_stage_error(bought: Bought, p: float) -> float:
    """A quantile by sides spread over the domain once: .75 I^(1/6) of the staged error, I the information."""
    bound = side_bound(bought, p)
    information = p * (1.0 - p) / bound**2 if bound else math.inf
    return max(0.75 * float(information ** (1.0 / 6.0)), 1.0) * staged_error(bought, p)


def side_half_width(bought: Bought, p: float, z: float, *, stages: int) -> float:
    """Half-width of a quantile's interval by sides, as a share of owners: 3 z of the bound, wider with one stage.

    >>> round(side_half_width(Bought(q=np.full(400, 0.5), chances=None, owners=400), 0.5, 1.96, stages=4), 3)
    0.294
    """
    error = one_stage_error(bought, p) if stages == 1 else staged_error(bought, p)
    return z * error * STAGED_HALF_WIDTH / STAGED


def whole_value_quantile_error(bought: Bought, p: float) -> float:
    """A quantile from values reported whole: 1/sqrt(sum q^2/(p (1 - p)))."""
    return _combined(bought, p * (1.0 - p) / bought.q**2, 0.0)


def _squares(bought: Bought) -> Floats:
    return bought.q**2 if bought.chances is None else bought.weights(bought.q)


def _combined(bought: Bought, v: Floats, spread: float, *, weights: Floats | None = None) -> float:
    """sqrt(sum a^2 v / (sum a)^2 - spread/n)."""
    if not v.size:
        return math.inf
    a = bought.weights(v) if weights is None else weights
    return math.sqrt(max(float(np.sum(a * a * v) / np.sum(a) ** 2) - spread / bought.owners, 0.0))


@final
@dataclass(frozen=True)
class Choice:
    """A question by kind and number of report codes, its predicted error, and those of the others looked at."""

    kind: str
    kappa: int
    error: float
    others: tuple[tuple[str, int, float], ...]

    @property
    def reason(self) -> str:
        """Why this one, in a sentence.

        >>> Choice("level", 2, 0.01, (("value", 100, 0.12),)).reason
        'least predicted error, 0.01; value (one of 100) 0.12'
        >>> Choice("value", 48, 0.03, (("side", 2, 0.021),)).reason
        'kept whole, predicted error 0.03, for little is gained by another; side (one of 2) 0.021'
        """
        beside = "".join(f"; {kind} (one of {kappa:,}) {error:.2g}" for kind, kappa, error in self.others)
        least = all(self.error <= error for _, _, error in self.others)
        kept = f"kept whole, predicted error {self.error:.2g}, for little is gained by another"
        return f"{f'least predicted error, {self.error:.2g}' if least else kept}{beside}".replace(
            "inf", "would tell nothing"
        )


Errors = Mapping[tuple[str, int], Callable[[Bought], float]]


def candidates(query: Query, epsilon_max: float, *, stages: int | None = None) -> Errors:
    """The questions that can serve a query, by kind and kappa, each with its predicted error of what was bought."""
    k = query.question.domain.size
    whole: Errors
    match query:
        case Mean():
            g = min(levels_for(epsilon_max), k)
            whole = {(QuestionKind.VALUE, k): lambda bought: mean_error(bought, k, rounded=False)}
            if g == k:
                return whole
            return {(QuestionKind.LEVEL, g): lambda bought: mean_error(bought, g, rounded=True), **whole}
        case Histogram():
            g = buckets_for(epsilon_max)
            whole = {(QuestionKind.VALUE, k): lambda bought: cell_error(bought, k, k, mixed=False)}
            if k <= g or k > LARGEST_BUCKETED:
                return whole
            return {(QuestionKind.BUCKET, g): lambda bought: cell_error(bought, k, g, mixed=True), **whole}
        case Median() | Quantile():
            p = query.p
            asked = one_stage_error if stages == 1 else staged_error
            return {
                (QuestionKind.SIDE, 2): lambda bought: asked(bought, p),
                (QuestionKind.VALUE, k): lambda bought: whole_value_quantile_error(bought, p),
            }
        case Count():
            return {(QuestionKind.VALUE, k): count_error}
        case _:
            raise AssertionError(f"no question is known for {query.kind}")


def best_question(
    query: Query, epsilon_max: float, bought_at: Callable[[int], Bought], *, stages: int | None = None
) -> Choice:
    """The question of least predicted error; ``bought_at(kappa)`` is what the terms buy when priced at that kappa.

    Whole values, of which any statistic can be made, are kept unless another question is worth while.
    """
    errors = {
        (kind, kappa): error(bought_at(kappa))
        for (kind, kappa), error in candidates(query, epsilon_max, stages=stages).items()
    }
    ranked = sorted(
        ((kind, kappa, error) for (kind, kappa), error in errors.items()),
        key=lambda one: one[2] / WORTH_WHILE[one[0]],
    )
    kind, kappa, error = ranked[0]
    return Choice(kind, kappa, error, tuple(ranked[1:]))
