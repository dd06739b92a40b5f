"""Rounds in which the questions are measured: who the owners are, what a budget buys, one round of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm

import pdqs
from pdqs.clearing.lottery import LotteryMarket, clear_by_lottery
from pdqs.estimate.bucket_histograms import bucket_shares, tally_buckets
from pdqs.estimate.level_means import level_mean, tally_levels
from pdqs.estimate.side_intervals import WINDOW_REACH, point, window
from pdqs.estimate.sides import SideTally, no_answers, tally_sides
from pdqs.model.domain import Domain
from pdqs.model.questions import Level
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.lottery import Lottery
from pdqs.privacy.asking import ask, ask_buckets, ask_sides
from pdqs.privacy.entropy import SeededEntropy
from pdqs.privacy.loss import cap_q
from pdqs.privacy.randomiser import draw_reports, q_numerators
from pdqs.rounds.predicted import Bought, buckets_for, levels_for
from pdqs.rounds.stages import FOUR_STAGES, Window, place_counts, places, sides_at, stages_of

Array = np.ndarray


def grid(k: int) -> Domain:
    """Codes as numbers."""
    return Domain.grid(0, k - 1, 1)


def positions(kind: str, n: int, rng: np.random.Generator) -> Array:
    """Where the owners of a smooth, heaped, one-valued or two-humped population stand in the range, about 0 to 1."""
    if kind == "one value":
        return np.full(n, 0.37)
    if kind == "two humps":
        return np.where(rng.random(n) < 0.5, rng.normal(0.2, 0.05, n), rng.normal(0.8, 0.05, n))
    x = rng.beta(2.0, 3.5, n)
    return np.rint(x * 10) / 10 if kind == "heaped" else x


def coded(x: Array, k: int) -> Array:
    """The nearest of k values."""
    return np.clip(np.rint(x * (k - 1)), 0, k - 1).astype(np.int64)


def people(kind: str, n: int, k: int, rng: np.random.Generator) -> Array:
    """Codes of a population."""
    return coded(positions(kind, n, rng), k)


@cache
def bought(n: int, budget: float, cap: float, kappa: int) -> Array:
    """q of a market of uniform bids, cleared by the optimal rule at this kappa; ``budget`` is in units of n."""
    bids = np.random.default_rng([n, kappa]).random(n)
    terms = pdqs.presets.sound(query=pdqs.Histogram(grid(kappa)), budget=budget * n, epsilon_max=cap, question="value")
    return pdqs.clear(bids, terms).q


def all_bought(n: int, budget: float, cap: float, kappa: int) -> Bought:
    """The same, for predictions."""
    return Bought(q=bought(n, budget, cap, kappa), chances=None, owners=n)


# --- means and histograms: the error of one round ---------------------------------------------------------------


def mean_errors(codes: Array, k: int, budget: float, cap: float, rng: np.random.Generator) -> dict[str, Array]:
    """Levels against whole values, each at its own kappa for the same money and cap; in parts of the range."""
    n, g = codes.size, min(levels_for(cap), k)
    q = bought(n, budget, cap, g)
    asked = q > 0
    reports, _ = ask(Level(grid(k), g), codes[asked], q_numerators(q[asked]), SeededEntropy(rng))
    by_level = level_mean(Level(grid(k), g), tally_levels(reports, q[asked], g), 0.95)
    truth = codes.mean()
    whole = bought(n, budget, cap, k)
    told = whole > 0
    said, _ = draw_reports(codes[told], q_numerators(whole[told]), k, SeededEntropy(rng))
    middle = (k - 1) / 2
    by_value = middle + (whole[told] @ (said - middle)) / (whole @ whole)
    held = float(by_level.low <= truth <= by_level.high)

    def shown(estimate: float) -> Array:
        """As an answer shows it: within the range."""
        return np.array([(min(max(estimate, 0.0), k - 1.0) - truth) / (k - 1)])

    return {
        "asked": shown(by_level.value),
        "value": shown(by_value),
        "held": np.array([held]),
    }


def histogram_errors(codes: Array, k: int, budget: float, cap: float, rng: np.random.Generator) -> dict[str, Array]:
    """Buckets against whole values: raw shares of every cell, and those projected on the simplex."""
    from pdqs.estimate.simplex import on_simplex

    n, g = codes.size, buckets_for(cap)
    truth = np.bincount(codes, minlength=k) / n
    whole = bought(n, budget, cap, k)
    told = whole > 0
    said, _ = draw_reports(codes[told], q_numerators(whole[told]), k, SeededEntropy(rng))
    s2 = whole @ whole
    by_value = (np.bincount(said, weights=whole[told], minlength=k) - (whole.sum() - s2) / k) / s2
    if k <= g:
        return {"asked": by_value - truth, "value": by_value - truth, "held": np.ones(1), "shown": by_value - truth}
    q = bought(n, budget, cap, g)
    asked = q > 0
    seeds = rng.integers(0, 2**32, int(asked.sum()), dtype=np.uint32)
    reports, _ = ask_buckets(seeds, g, codes[asked], q_numerators(q[asked]), k, SeededEntropy(rng))
    cells = bucket_shares(tally_buckets(seeds, reports, q[asked], k, g), n)
    ends = cells.intervals(1.96)
    return {
        "asked": cells.share - truth,
        "value": by_value - truth,
        "held": ((ends.low <= truth) & (truth <= ends.high)).astype(float),
        "shown": on_simplex(cells.share) - truth,
        "value shown": on_simplex(by_value) - truth,
    }


# --- quantiles ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """Which rows are asked and at which q; ``chances`` under a lottery, else None."""

    rows: Array
    q: Array
    chances: Array | None

    @property
    def information(self) -> float:
        """As the answer counts it: below 4 it gives none."""
        if self.chances is None:
            return float(self.q @ self.q)
        w = 1.0 / self.chances
        return float(w.sum() ** 2 / np.sum((w / self.q) ** 2))


def independent(n: int, budget: float, cap: float, rng: np.random.Generator) -> Asked:
    """Prices that tell nothing: the optimal rule."""
    q = rng.permutation(bought(n, budget, cap, 2))
    return Asked(np.flatnonzero(q), q[q > 0], None)


def drawn(x: Array, budget: float, cap: float, rng: np.random.Generator) -> Asked:
    """Prices that tell: those above the median ask Beta(4, 2), the others Beta(2, 4); the lottery."""
    dear = x > np.median(x)
    bids = np.where(dear, rng.beta(4, 2, x.size), rng.beta(2, 4, x.size))
    words = rng.integers(0, 2**32, x.size, dtype=np.uint32)
    rule = Lottery(setting=Setting(q_max=cap_q(cap, 2)))
    market = LotteryMarket(rule=rule, budget_micros=int(budget * x.size * 1e6))
    found = clear_by_lottery(bids, words, market)
    asked = found.q > 0
    return Asked(np.flatnonzero(asked), found.q[asked], found.chance_words[asked] / found.words)


def staged(
    codes: Array, market: Asked, k: int, p: float, rng: np.random.Generator, parts: tuple[float, ...] = FOUR_STAGES
) -> SideTally:
    """All stages of one round."""
    told, lottery = codes[market.rows], market.chances is not None
    stage = stages_of(rng.integers(0, 2**32, told.size, dtype=np.uint32), parts)
    tally, now = no_answers(p), Window(0, k - 1)
    for number in range(len(parts)):
        here = np.flatnonzero(stage == number + 1)
        words = rng.integers(0, 2**32, here.size, dtype=np.uint32)
        thresholds = sides_at(places(words, place_counts(words)), now, k)
        q, entropy = market.q[here], SeededEntropy(rng)
        answers, _ = ask_sides(thresholds, told[here], q_numerators(q), k, entropy)
        chances = None if market.chances is None else market.chances[here]
        tally = tally.merged(tally_sides(thresholds, answers, q, p, chances=chances))
        if number < len(parts) - 1:
            now = window(tally, k, WINDOW_REACH, lottery=lottery)
    return tally


def quantile(codes: Array, k: int, p: float) -> int:
    """min{j : F(j) >= p}."""
    return int(np.argmax(np.cumsum(np.bincount(codes, minlength=k)) >= p * codes.size - 1e-9))


def median_errors(histogram: Array, budget: float, cap: float, rng: np.random.Generator) -> dict[str, float]:
    """One round on a population: staged, one stage, whole values; in steps of its domain."""
    k = histogram.size
    codes = rng.permutation(np.repeat(np.arange(k), histogram))
    truth = quantile(codes, k, 0.5)
    market = independent(codes.size, budget, cap, rng)
    in_stages = point(staged(codes, market, k, 0.5, rng), k, lottery=False)
    at_once = point(staged(codes, market, k, 0.5, rng, (1.0,)), k, lottery=False)
    return {
        "staged": abs(in_stages - truth),
        "one stage": abs(at_once - truth),
        "value": abs(whole_value_median(codes, k, budget, cap, rng) - truth),
    }


def whole_value_median(codes: Array, k: int, budget: float, cap: float, rng: np.random.Generator) -> int:
    """Today's k-ary median: weighted shares, made monotone, inverted at one half."""
    from scipy.optimize import isotonic_regression

    q = rng.permutation(bought(codes.size, budget, cap, k))
    told = q > 0
    said, _ = draw_reports(codes[told], q_numerators(q[told]), k, SeededEntropy(rng))
    s1, s2 = q.sum(), q @ q
    below = np.cumsum(np.bincount(said, weights=q[told], minlength=k))
    shares = isotonic_regression((below - (s1 - s2) * np.arange(1, k + 1) / k) / s2).x
    shares[-1] = 1.0
    return int(np.argmax(shares >= 0.5))


def bound_error(histogram: Array, budget: float, cap: float) -> float:
    """Mean absolute error if everyone were asked about the median itself: ranks off by N(0, 1/(4 sum q^2))."""
    k, n = histogram.size, int(histogram.sum())
    q = bought(n, budget, cap, 2)
    ranks = 0.5 + norm.ppf((np.arange(2000) + 0.5) / 2000) / (2.0 * np.sqrt(q @ q))
    shares = np.cumsum(histogram) / n
    codes = np.minimum(np.searchsorted(shares, ranks), k - 1)
    return float(np.mean(np.abs(codes - np.searchsorted(shares, 0.5))))
