"""The mergeable summary of bids on which clearing is calibrated.

Up to BINS owners it is the bids themselves, sorted: exact. Beyond that it is a histogram of BINS equal bins, each bid
standing at its bin's *lower* edge, where it would be paid more: so the budget holds, truthfulness stays exact, and the
loss is about one part in BINS. Which of the two depends on the number of owners alone, so any split of the bids over
machines, merged in any order, gives the same summary bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import ensure

BINS = 2**16


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BidSummary:
    """How many owners stand at each charged bid (ascending)."""

    low: float
    high: float
    charged_bids: Floats
    counts: Integers

    @property
    def owners(self) -> int:
        """n: the number of bids summarised."""
        return int(self.counts.sum())

    def merged(self, other: BidSummary) -> BidSummary:
        """The summary of both sets of bids together.

        >>> a, b = summarise(np.array([0.1, 0.2]), 0.0, 1.0), summarise(np.array([0.2]), 0.0, 1.0)
        >>> a.merged(b).counts.tolist()
        [1, 2]
        """
        ensure((self.low, self.high) == (other.low, other.high), "summaries of different bid ranges")
        bids = np.concatenate([self.charged_bids, other.charged_bids])
        counts = np.concatenate([self.counts, other.counts])
        if int(counts.sum()) > BINS:
            counted = np.zeros(BINS, dtype=np.int64)
            np.add.at(counted, bin_of(bids, self.low, self.high), counts)
            return _histogram(counted, self.low, self.high)
        distinct, place = np.unique(bids, return_inverse=True)
        total = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(total, place, counts)
        return BidSummary(low=self.low, high=self.high, charged_bids=distinct, counts=total)


def summarise(bids: Floats, low: float, high: float) -> BidSummary:
    """Count bids (in any order; no sort of more than BINS of them).

    >>> summarise(np.array([0.5, 0.25, 0.5]), 0.0, 1.0).charged_bids.tolist()
    [0.25, 0.5]
    """
    if bids.size <= BINS:
        distinct, counts = np.unique(bids, return_counts=True)
        return BidSummary(low=low, high=high, charged_bids=distinct, counts=counts.astype(np.int64))
    counted = np.zeros(BINS, dtype=np.int64)
    for start in range(0, bids.size, _BATCH):
        counted += np.bincount(bin_of(bids[start : start + _BATCH], low, high), minlength=BINS)
    return _histogram(counted, low, high)


_BATCH = 2**18


def _histogram(counted: Integers, low: float, high: float) -> BidSummary:
    """The summary of a count per bin."""
    used = np.flatnonzero(counted)
    return BidSummary(low=low, high=high, charged_bids=_edges(low, high)[used], counts=counted[used])


def bin_of(bids: Floats, low: float, high: float) -> Integers:
    """The bin whose lower edge is the last one not above the bid; the top of the range belongs to the last bin."""
    edges = _edges(low, high)
    guess = np.minimum(((bids - low) * (BINS / (high - low))).astype(np.int64), BINS - 1)
    # The product may round across an edge: put such a bid back where the edges say.
    guess -= edges[guess] > bids
    guess += (guess < BINS - 1) & (edges[np.minimum(guess + 1, BINS - 1)] <= bids)
    return guess


def _edges(low: float, high: float) -> Floats:
    edges: Floats = low + (high - low) * (np.arange(BINS) / BINS)
    return edges
