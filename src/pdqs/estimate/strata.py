"""Strata by price: owners cut by bid into groups with equal sums of chance (section 9 of docs/theory).

Two passes: a summary of prices is added up over any split of the market, the strata are cut from it alone, and a second
pass adds up the reports of each stratum. A small market keeps every bid in its summary; a large one keeps the lower
edges of narrow bins (:func:`price_grain`), so a stratum then ends at an edge. Which of the two depends on the number of
owners alone, so any split over machines gives the same strata.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Floats, Integers

LEAST_CHANCE = 2.0**-20
"""An owner with a smaller chance counts as one who can never be asked: she would stand for a million others."""

CHANCE_A_STRATUM = 30
CHANCE_A_FINE_STRATUM = 10
"""Where the dear answer less often than the cheap, or more: reports are missing at random within narrow strata only."""

TELLING_TREND = 1.645
"""So many standard errors between the response of the cheap and of the dear are seen by chance in a round of ten."""

MOST_STRATA = 10
LEAST_REPORTS = 5
FEWEST_REPORTS = 2
"""Enough for a stratum where the alternative is to let the cheap speak for the dear who are silent."""

JUMP = 2.0
GAP = -1
"""The stratum number of owners whom no report can speak for."""

EXACT_PRICES = 2**16
"""Up to so many owners the summary keeps every bid; beyond it, at least so many bins of the bid range."""

_WORD = 2.0**32


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class PriceSummary:
    """For each price, rising: the owners who ask it, the sum of their chances (in units of 2^-32), how many of them
    were asked, and their reports.

    Only owners with a chance of at least 2^-20 are in the columns. ``dearest`` is the highest bid of a report, exact
    even when prices are bins (-inf without a report).
    """

    prices: Floats
    owners: Integers
    chances: Integers
    asked: Integers
    reports: Integers
    dearest: float

    def merged(self, other: PriceSummary) -> PriceSummary:
        """The summary of both sets of owners together."""
        prices, at = np.unique(np.concatenate([self.prices, other.prices]), return_inverse=True)

        def added(ours: Integers, theirs: Integers) -> Integers:
            return _sums(np.concatenate([ours, theirs]), at, prices.size)

        return PriceSummary(
            prices=prices,
            owners=added(self.owners, other.owners),
            chances=added(self.chances, other.chances),
            asked=added(self.asked, other.asked),
            reports=added(self.reports, other.reports),
            dearest=max(self.dearest, other.dearest),
        )


def price_grain(owners: int, low: float, high: float) -> float:
    """The width of a bin in a market of so many owners: 0, which keeps every bid, or a power of two.

    Products with a power of two are exact, so a bid is never put into its neighbour's bin.

    >>> price_grain(1_000, 0.0, 1.0), price_grain(10**6, 0.0, 1.0) == 2.0**-16, price_grain(10**6, 2.0, 5.0) == 2.0**-15
    (0.0, True, True)
    """
    if owners <= EXACT_PRICES:
        return 0.0
    return 2.0 ** math.floor(math.log2((high - low) / EXACT_PRICES))


def summarise_prices(
    bids: Floats, chances: Floats, heard: Booleans, *, asked: Booleans | None = None, grain: float = 0.0
) -> PriceSummary:
    """Add up one batch. ``heard`` says whose report arrived, ``asked`` who was asked (those heard, where none is
    missing); ``grain`` is the width of a bin, 0 keeps every bid.

    >>> summary = summarise_prices(np.array([3.0, 1.0, 1.0]), np.array([0.5, 1.0, 1.0]), np.array([True, True, False]))
    >>> summary.prices.tolist(), summary.owners.tolist(), summary.reports.tolist(), summary.dearest
    ([1.0, 3.0], [2, 1], [1, 1], 3.0)
    """
    some = chances >= LEAST_CHANCE
    asked = (heard if asked is None else asked)[some]
    bids, chances, heard = bids[some], chances[some], heard[some]
    words = np.floor(chances * _WORD).astype(np.int64)
    prices, at = np.unique(np.floor(bids / grain) * grain if grain else bids, return_inverse=True)
    return PriceSummary(
        prices=prices,
        owners=np.bincount(at, minlength=prices.size),
        chances=_sums(words, at, prices.size),
        asked=np.bincount(at[asked], minlength=prices.size),
        reports=np.bincount(at[heard], minlength=prices.size),
        dearest=float(bids[heard].max(initial=-np.inf)),
    )


def _sums(values: Integers, at: Integers, size: int) -> Integers:
    """The sum of the values at each place, in whole numbers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, at, values)
    return total


@final
@dataclass(frozen=True, eq=False)
class Strata:
    """Where one stratum ends and the next begins: stratum h holds the bids in [bounds[h-1], bounds[h]).

    Owners dearer than ``dearest``, or whose chance is below 2^-20, are in no stratum: nothing speaks for them.
    ``trimmed`` says that a few of the dearer did report, too few to go by.
    """

    bounds: Floats
    dearest: float
    trimmed: bool = False

    def __len__(self) -> int:
        return int(self.bounds.size) + 1

    def of(self, bids: Floats, chances: Floats) -> Integers:
        """The stratum of each owner, or ``GAP``.

        >>> Strata(np.array([0.4]), 0.8).of(np.array([0.1, 0.4, 0.9, 0.5]), np.array([1.0, 1.0, 1.0, 0.0])).tolist()
        [0, 1, -1, -1]
        """
        found = np.searchsorted(self.bounds, bids, side="right")
        return np.where((bids > self.dearest) | (chances < LEAST_CHANCE), GAP, found)


def cut(summary: PriceSummary) -> Strata:
    """H strata with equal sums of chance, H = clip(sum of chances // 30, 1, 10), fewer until each has 5 reports.

    Reports are taken to be missing at random within a stratum. Where the dear answer less often than the cheap, or
    more, by more than chance would have it, that holds of narrow strata only: then 10 stands in the place of 30.

    Owners of one price stay together. Prices above the dearest report are left out before cutting, and so are those
    beyond a jump from which fewer than 5 reported. A jump is where the chance falls to half or less from one price to
    the next: the dear beyond it would be a few heavy reports among many light ones, and if they also differ, one of
    them would stand for all with no variance to show for it. With 5 reports they are a stratum of their own.

    Where the response differs and no two strata have 5 reports each, two that have 2 are better than one: the variance
    of so few shows in the interval, that the cheap were taken to speak for the dear would not.
    """
    within = summary.prices <= summary.dearest
    jumps = _jumps(summary, within)
    reports = np.where(within, summary.reports, 0)
    beyond = np.cumsum(reports[::-1])[::-1]  # reports at a price or dearer
    few = jumps[beyond[jumps] < LEAST_REPORTS]
    trimmed = bool(few.size) and int(reports[: few[0]].sum()) >= LEAST_REPORTS
    if trimmed:
        within &= np.arange(within.size) < few[0]
    bounds: list[float] = []
    for bound in (*summary.prices[jumps].tolist(), *_equal_parts(summary, within).tolist()):
        if bound not in bounds and _well_heard(summary, within, [*bounds, bound]):
            bounds.append(bound)
    bounds = bounds or _dear_apart(summary, within)
    dearest = float(summary.prices[within][-1]) if trimmed else summary.dearest
    return Strata(np.array(sorted(bounds)), dearest, trimmed)


def _jumps(summary: PriceSummary, within: Booleans) -> Integers:
    """Places of the prices whose chance is at most half of the next cheaper one's."""
    chances = summary.chances / np.maximum(summary.owners, 1)
    falls = np.flatnonzero(chances[1:] * JUMP <= chances[:-1]) + 1
    return falls[within[falls]]


def _well_heard(summary: PriceSummary, within: Booleans, bounds: list[float], least: int = LEAST_REPORTS) -> bool:
    """Whether every stratum between these bounds has at least 5 reports, or as many as told."""
    heaped = np.append(0, np.cumsum(summary.reports[within]))
    ends = np.searchsorted(summary.prices[within], np.sort(bounds))
    return bool(np.diff(heaped[[0, *ends.tolist(), heaped.size - 1]]).min() >= least)


def _equal_parts(summary: PriceSummary, within: Booleans) -> Floats:
    """Bounds of the most strata with equal sums of chance that are all well heard."""
    words = summary.chances[within]
    total = int(words.sum())
    each = CHANCE_A_FINE_STRATUM if _response_differs(summary, within) else CHANCE_A_STRATUM
    wanted = min(max(total // (each << 32), 1), MOST_STRATA)
    for strata in range(wanted, 1, -1):
        last = _ends(words, total, strata)
        bounds = summary.prices[within][last[:-1] + 1]
        if last.size == strata and _well_heard(summary, within, bounds.tolist()):
            return bounds
    return np.empty(0)


def _dear_apart(summary: PriceSummary, within: Booleans) -> list[float]:
    """One bound between the cheap and the dear, where the response differs and each half has at least 2 reports."""
    words = summary.chances[within]
    total = int(words.sum())
    if total < 2 * CHANCE_A_FINE_STRATUM << 32 or not _response_differs(summary, within):
        return []
    last = _ends(words, total, 2)
    bounds: list[float] = summary.prices[within][last[:-1] + 1].tolist()
    return bounds if bounds and _well_heard(summary, within, bounds, FEWEST_REPORTS) else []


def _response_differs(summary: PriceSummary, within: Booleans) -> bool:
    """Whether the dear answered less often than the cheap, or more, by more than chance would have it."""
    return abs(response_trend(summary, within)) > TELLING_TREND


def response_trend(summary: PriceSummary, within: Booleans) -> float:
    """How the share of the asked who reported rises with the price, in standard errors (Cochran and Armitage).

    With r the share of all and x the rank of a price, sum x (reports - r asked) over the square root of
    r (1 - r) sum asked (x - mean x)^2; 0 where everyone reported or nobody did.
    """
    asked, reports = summary.asked[within].astype(np.float64), summary.reports[within]
    total = float(asked.sum())
    rate = float(reports.sum()) / total if total else 0.0
    ranks = np.cumsum(asked) - asked / 2.0
    # Sums of products, not a product of vectors: that wakes other threads, which takes longer than the sum.
    spread = float((asked * (ranks - total / 2.0) ** 2).sum())  # the mean rank of the asked is half their number
    if not 0.0 < rate < 1.0 or spread <= 0.0:
        return 0.0
    return float((ranks * (reports - rate * asked)).sum()) / math.sqrt(rate * (1.0 - rate) * spread)


def _ends(words: Integers, total: int, strata: int) -> Integers:
    """The last price of each stratum: the first whose cumulated chance reaches the next equal part."""
    cumulated = np.cumsum(words)
    marks = np.array([total * (h + 1) // strata for h in range(strata)])
    return np.unique(np.searchsorted(cumulated, marks))
