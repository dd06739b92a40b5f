"""The stages of a quantile for a batch of rounds at once: all but the test of a threshold is one array a stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import questions_rounds as rounds_of

from pdqs.estimate.side_intervals import WINDOW_REACH, answer_reach, falls, point, window
from pdqs.estimate.sides import SideSums, tally_sides
from pdqs.rounds.stages import FOUR_STAGES, stages_of

Array = np.ndarray
SLACK = 1e-9  # sums in floats may tell a tie from the exact ones


@dataclass(frozen=True)
class Batch:
    """Everyone who is asked in some rounds, row by row: her round, code, q and weight in the sums."""

    k: int
    p: float
    truths: Array
    round: Array
    codes: Array
    q: Array
    chances: Array | None

    @classmethod
    def of(cls, rounds: list[tuple[Array, rounds_of.Asked]], k: int, p: float) -> Batch:
        """Codes of all owners and who of them is asked, round by round."""
        lottery = rounds[0][1].chances is not None
        return cls(
            k=k,
            p=p,
            truths=np.array([rounds_of.quantile(codes, k, p) for codes, _ in rounds]),
            round=np.repeat(np.arange(len(rounds)), [market.rows.size for _, market in rounds]),
            codes=np.concatenate([codes[market.rows] for codes, market in rounds]),
            q=np.concatenate([market.q for _, market in rounds]),
            chances=np.concatenate([market.chances for _, market in rounds]) if lottery else None,
        )


@dataclass(frozen=True)
class Outcome:
    """How many intervals held, and the sum of their widths; ``error`` is that of the first round's point."""

    held: int
    width: float
    error: float


def play(batch: Batch, rng: np.random.Generator) -> Outcome:
    """All stages, each spread over what the answers so far leave open, and the interval of each round."""
    rounds, n = batch.truths.size, batch.codes.size
    stage = stages_of(rng.integers(0, 2**32, n, dtype=np.uint32))
    windows = np.tile([0, batch.k - 1], (rounds, 1))
    sums = np.zeros((6, rounds, batch.k - 1))
    thresholds, answers = np.full(n, -1), np.zeros(n, dtype=np.int64)
    for number in range(1, len(FOUR_STAGES) + 1):
        here = np.flatnonzero(stage == number)
        thresholds[here] = spread(batch.round[here], windows, batch.k, rng)
        answers[here] = told(batch.codes[here] <= thresholds[here], batch.q[here], rng)
        sums += added(batch, here, thresholds[here], answers[here])
        last = number == len(FOUR_STAGES)
        reach = answer_reach(lottery=batch.chances is not None) if last else WINDOW_REACH
        windows = np.array([left(sums[:, i], batch, reach) for i in range(rounds)])
    held = (windows[:, 0] <= batch.truths) & (batch.truths <= windows[:, 1])
    error = checked_error(batch, thresholds, answers, tuple(windows[0]))
    return Outcome(int(held.sum()), float((windows[:, 1] - windows[:, 0]).sum()), error)


def spread(rounds: Array, windows: Array, k: int, rng: np.random.Generator) -> Array:
    """Thresholds evenly over max(low - 1, 0)..min(high, k - 2) of each round, in a random order of its owners."""
    order = np.lexsort((rng.random(rounds.size), rounds))
    counts = np.bincount(rounds, minlength=len(windows))
    rank = np.empty(rounds.size)
    rank[order] = np.arange(rounds.size) - np.repeat(np.cumsum(counts) - counts, counts)
    place = (rank + rng.random(rounds.size)) / counts[rounds]
    low, high = np.maximum(windows[:, 0] - 1, 0)[rounds], np.minimum(windows[:, 1], k - 2)[rounds]
    return np.minimum(low + (place * (high - low + 1)).astype(np.int64), high)


def told(truth: Array, q: Array, rng: np.random.Generator) -> Array:
    """The truth with chance q, else a fair coin."""
    return np.where(rng.random(q.size) < q, truth, rng.random(q.size) < 0.5).astype(np.int64)


def added(batch: Batch, here: Array, thresholds: Array, answers: Array) -> Array:
    """Sums of a h, a^2 v, a^2 h^2, a^3 k3, a and a^2 for every round and threshold (section 10 of docs/theory)."""
    q, p = batch.q[here], batch.p
    h, pi = (answers - (1.0 - q) / 2.0) / q - p, q * p + (1.0 - q) / 2.0
    v, k3 = pi * (1.0 - pi) / q**2, pi * (1.0 - pi) * (1.0 - 2.0 * pi) / q**3
    a = 1.0 / v if batch.chances is None else 1.0 / batch.chances[here]
    rounds, width = batch.truths.size, batch.k - 1
    cells = batch.round[here] * width + thresholds
    terms = (a * h, a**2 * v, (a * h) ** 2, a**3 * k3, a, a**2)
    return np.array([np.bincount(cells, each, rounds * width).reshape(rounds, width) for each in terms])


def left(sums: Array, batch: Batch, reach: float) -> tuple[int, int]:
    """The window of one round, by the package's test of each threshold that was asked about."""
    asked = np.flatnonzero(sums[4])
    if not asked.size:
        return 0, batch.k - 1
    made = SideSums(*sums[:, asked])
    lottery = batch.chances is not None
    below = np.append(falls(made, reach, lottery=lottery), False).argmin()
    above = np.append(falls(made.mirrored(), reach, lottery=lottery), False).argmin()
    low = int(asked[below - 1]) + 1 if below else 0
    high = int(asked[-above]) if above else batch.k - 1
    return min(low, high), max(low, high)


def checked_error(batch: Batch, thresholds: Array, answers: Array, found: tuple[int, int]) -> float:
    """The first round again by the package's exact sums: the same interval, and how far off its point is."""
    here, lottery = batch.round == 0, batch.chances is not None
    chances = None if batch.chances is None else batch.chances[here]
    tally = tally_sides(thresholds[here], answers[here], batch.q[here], batch.p, chances=chances)
    reach = answer_reach(lottery=lottery)
    same = [window(tally, batch.k, reach * (1.0 + by), lottery=lottery) for by in (0.0, SLACK, -SLACK)]
    if found not in [(each.low, each.high) for each in same]:
        raise AssertionError(f"the package leaves {same[0]}, this {found}")
    return float(abs(point(tally, batch.k, lottery=lottery) - batch.truths[0]))
