"""The order of the coverage table: blocks that hold every pair of levels, so that a stopped run is a balanced fraction.

A market is (owners, pattern, share, budget). With five levels each, i + j + a and i + 2j + b (modulo 5) make 25 markets
in which every pair of levels of any two factors occurs; the 25 choices of a and b make the whole grid. Four budgets
fill five places, the leanest twice, so later blocks are smaller. The hardest corners stand in the first block.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from coverage_markets import PATTERNS

OWNERS = (50, 200, 1000, 5000, 20_000)
SHARES = (0.01, 0.1, 0.3, 0.7, 0.99)
BUDGETS = (0.05, 0.2, 0.5, 0.9)
MISSING = (0.0, 0.3)
QUERIES = {
    "counts": ("count",),
    "means": ("mean",),
    "medians": ("median",),
    "values": ("histogram", "mean", "median"),
}
"""What is answered from one clearing. Counts, means and medians ask what the default terms ask (levels for a mean,
sides in stages for a median); ``values`` asks for the whole value, as the default does for a histogram of ten cells."""

_PLACES = (*BUDGETS, BUDGETS[0])
_HARD = ((50, 0.05), (50, 0.9), (200, 0.2), (200, 0.9), (1000, 0.05), (1000, 0.9), (5000, 0.05))


@dataclass(frozen=True)
class Group:
    """Markets that are cleared once a round and answered for every query of their kind, with and without losses."""

    kind: str
    pattern: str
    owners: int
    budget: float
    share: float

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.pattern}/{self.owners}/{self.budget}/{self.share}"


def block(a: int, b: int) -> list[tuple[str, int, float, float]]:
    """25 markets in which every pair of levels occurs."""
    return [
        (PATTERNS[j], OWNERS[i], _PLACES[(i + 2 * j + b) % 5], SHARES[(i + j + a) % 5])
        for i in range(5)
        for j in range(5)
    ]


def corners() -> list[tuple[str, int, float, float]]:
    """A dear few hold the trait, or lack it: where intervals have the least to stand on."""
    return [("two-humped", owners, budget, share) for owners, budget in _HARD for share in (SHARES[0], SHARES[-1])]


def blocks() -> Iterator[list[Group]]:
    """Every group once: the first block and the corners together, then the other blocks, each in a shuffled order."""
    markets = [block(0, 0) + corners()]
    markets += [block(a, b) for step in range(1, 25) for a, b in [divmod(7 * step % 25, 5)]]
    given: set[Group] = set()
    for some in markets:
        new = [Group(kind, *each) for kind in QUERIES for each in some]
        random.Random(len(given)).shuffle(new)
        yield [group for group in dict.fromkeys(new) if group not in given]
        given.update(new)


def parts(of_each: int, of_blocks: int | None = None) -> Iterator[tuple[Group, int]]:
    """Groups and parts in the order in which they are played, of every block or only the first few."""
    for groups in itertools.islice(blocks(), of_blocks):
        for part in range(of_each):
            for group in groups:
                yield group, part
