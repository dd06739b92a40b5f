"""The interval and the point of a staged quantile beside a slow reading of section 10: owner by owner, run by run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import pdqs
from pdqs.estimate import in_stages
from pdqs.estimate.side_intervals import answer_reach, point, window
from pdqs.estimate.sides import tally_sides
from pdqs.model.arrays import Floats, Integers
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports

FRACTIONS = [2.0**-power for power in range(6, -1, -1)]
Sums = dict[int, list[float]]


@dataclass(frozen=True)
class Told:
    """Answers as they came: the threshold, the answer, q and, under a lottery, the chance of each owner."""

    thresholds: Integers
    answers: Integers
    q: Floats
    chances: Floats | None
    p: float
    gap_least: float = 0.0
    gap_most: float = 0.0

    def sums(self, about: float) -> Sums:
        """By threshold: a h, a^2 v, a^2 h^2, a^3 k3, a, a^2, with h taken from ``about`` but for its square."""
        found: Sums = {}
        for i, m in enumerate(self.thresholds.tolist()):
            q, p = float(self.q[i]), self.p
            share = (float(self.answers[i]) - (1 - q) / 2) / q
            pi = q * p + (1 - q) / 2
            v = pi * (1 - pi) / q**2
            k3 = pi * (1 - pi) * (1 - 2 * pi) / q**3
            a = 1 / v if self.chances is None else 1 / float(self.chances[i])
            of_one = [a * (share - about), a * a * v, (a * (share - p)) ** 2, a**3 * k3, a, a * a]
            found[m] = [x + y for x, y in zip(found.get(m, [0.0] * 6), of_one, strict=True)]
        return found


def rejected(sums: Sums, outward: list[int], c: float, sign: float, *, lottery: bool) -> bool:
    """Whether any run of thresholds, from the first of these outward, speaks against the share (sign -1: too few)."""
    whole = math.fsum(each[1] for each in sums.values())
    for fraction in FRACTIONS:
        held = [0.0] * 6
        for m in outward:
            held = [x + y for x, y in zip(held, sums[m], strict=True)]
            if held[1] >= fraction * whole * (1 - 1e-12):
                break
        first, spread, square, third, weight, weights = held
        variance = max(spread, square) if lottery else spread
        bound = c + max(0.0, sign * third / variance**1.5) * max(c * c - 1, 0.0) / 6
        if lottery:
            bound += (c**3 + c) / (4 * max(weight**2 / weights - 1, 1e-9))
        if sign * first / math.sqrt(variance) > bound:
            return True
    return False


def slow_window(told: Told, size: int, c: float) -> tuple[int, int]:
    """The first value from below whose "F(j) >= p" stands, and the first from above whose "F(j-1) < p" does."""
    lottery, asked = told.chances is not None, sorted(set(told.thresholds.tolist()))
    least, most = told.sums(told.p - told.gap_least), told.sums(told.p + told.gap_most)

    def too_few(j: int) -> bool:
        beyond = [m for m in asked if m >= j]
        return bool(beyond) and rejected(least, beyond, c, -1.0, lottery=lottery)

    def enough(j: int) -> bool:
        below = [m for m in reversed(asked) if m <= j - 1]
        return bool(below) and rejected(most, below, c, 1.0, lottery=lottery)

    low = next(j for j in range(size) if j == size - 1 or not too_few(j))
    high = next(j for j in range(size - 1, -1, -1) if j == 0 or not enough(j))
    return min(low, high), max(low, high)


def slow_point(told: Told, size: int) -> int:
    """At the median: a weighted line through the thresholds of the c = 1.96 interval, or the middle of that of .3."""
    low, high = slow_window(told, size, 1.96)
    sums = {m: each for m, each in told.sums(told.p).items() if low - 1 <= m <= high}
    near, clip = slow_window(told, size, 0.3), slow_window(told, size, 1.0)
    place = (near[0] + near[1]) / 2
    if len(sums) >= 3:
        m, a = np.array(list(sums), dtype=float), np.array([each[4] for each in sums.values()])
        slope, level = np.polyfit(m, np.array([each[0] for each in sums.values()]) / a, 1, w=np.sqrt(a))
        place = -level / slope if slope > 0 else place
    return int(min(max(math.ceil(min(max(place, -1.0), size)), clip[0]), clip[1]))


def some_answers(rng: np.random.Generator, *, lottery: bool, p: float) -> tuple[Told, int]:
    """Heaped or even people, thresholds over all values or a few; no two q alike, so that there are no ties."""
    size, n = int(rng.integers(2, 60)), int(rng.integers(1, 150))
    codes = rng.integers(0, size, n) if rng.random() < 0.5 else (size // 3) * rng.integers(0, 3, n)
    thresholds = np.minimum(rng.integers(0, size - 1, n), int(rng.integers(0, size - 1)))
    q = rng.uniform(0.1, 0.95, n)
    answers = np.where(rng.random(n) < q, codes <= thresholds, rng.random(n) < 0.5).astype(np.int64)
    return Told(thresholds, answers, q, rng.uniform(0.05, 1.0, n) if lottery else None, p), size


@pytest.mark.parametrize("lottery", [False, True])
def test_windows_and_points_are_those_of_the_definition(lottery: bool) -> None:
    rng, naive = np.random.default_rng(8), 0
    for p in (0.02, 0.3, 0.5, 0.5, 0.9) * 8:
        told, size = some_answers(rng, lottery=lottery, p=p)
        tally = tally_sides(told.thresholds, told.answers, told.q, p, chances=told.chances)
        for c in (0.3, 2.0, answer_reach(lottery=lottery)):
            found = window(tally, size, c, lottery=lottery)
            assert (found.low, found.high) == slow_window(told, size, c)
            naive += (found.low, found.high) != slow_window(told, size, 1.1 * c)
        if p == 0.5:  # no bend there: the line alone
            assert point(tally, size, lottery=lottery) == slow_point(told, size)
    assert naive > 10, "negative control: a reach that is a tenth too long is seen"


def test_the_interval_of_a_lottery_is_the_hull_of_its_two_cases() -> None:
    """Whole rounds, reports missing. Nobody is unreachable here: the first case has no gap, the second all of it."""
    rng, gaps = np.random.default_rng(4), 0
    for _ in range(12):
        size, n, p = int(rng.integers(5, 60)), int(rng.integers(100, 400)), float(rng.choice([0.2, 0.5]))
        domain, bids, here = pdqs.Domain.grid(0, size - 1, 1), rng.beta(2, 4, n), rng.random(n) < 0.8
        terms = pdqs.Terms(query=pdqs.Quantile(domain, p), budget=0.6 * n, question="side", stages=3)
        values = rng.integers(0, size, n)

        def asked(known: Offers, values: Integers = values, here: np.ndarray = here) -> Reports:
            return pdqs.randomise(values, known, rng).only(here)

        offers, reports = in_stages(pdqs.clear(bids, terms, draws=7), terms, asked)
        heard = np.flatnonzero(reports.arrived)
        dearer = bids > bids[heard].max()
        z, unheard = float(dearer.mean()), float(offers.chance[dearer].sum())
        columns = offers.side[heard], reports.codes[heard], offers.q[heard], offers.chance[heard], p
        moved = Told(*columns, gap_least=p - (p - z) / (1 - z), gap_most=p / (1 - z) - p)
        tail = min(math.exp(unheard), 1.25) * 0.025
        shorter = answer_reach(lottery=True) * _normal_reach(tail) / _normal_reach(0.025)
        cases = slow_window(Told(*columns), size, answer_reach(lottery=True)), slow_window(moved, size, shorter)
        found = pdqs.answer(reports, offers, terms)
        assert found.interval == (min(low for low, _ in cases), max(high for _, high in cases))
        gaps += z > 0
    assert gaps >= 3


def _normal_reach(tail: float) -> float:
    from statistics import NormalDist

    return -NormalDist().inv_cdf(tail)
