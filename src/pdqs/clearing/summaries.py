"""The mergeable summary of bids and words on which clearing is calibrated.

Up to EXACT owners it is the bids and words themselves, sorted: exact. Beyond that it counts owners in BINS equal bins
of bids by LEVELS steps of the words, each bid standing at its bin's *lower* edge, where it would be paid more: so the
budget holds, truthfulness stays exact, and the loss is about one part in BINS. Which of the two depends on the number
of owners alone, so any split of the bids over machines, merged in any order, gives the same summary bit for bit.

BINS is such that bids of four decimals (of a range from 0 to 1), and all 64ths, stand at an edge themselves: a crowd of
owners at one round figure is charged exactly what it is paid. Steps are a sixteenth of the words below them, or less,
down to one in 512: a budget that pays for a thirtieth of a crowd is spent as well as one that pays for half of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.errors import ensure
from pdqs.privacy.entropy import WORD_BITS

EXACT = 2**16
BINS = 40_000
LEVELS = 96

Cells = NDArray[np.uint32]
"""How many owners stand in each bin of bids (rows) at each level of words (columns)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BidSummary:
    """Owners by bid and word: a row each, ascending by bid and then by word, or counted in ``cells``."""

    low: float
    high: float
    bids: Floats
    words: Words
    cells: Cells | None = None

    @property
    def owners(self) -> int:
        """n: the number of bids summarised."""
        return int(self.bids.size) if self.cells is None else int(self.cells.sum(dtype=np.int64))

    def merged(self, other: BidSummary) -> BidSummary:
        """The summary of both sets of owners together.

        >>> one, two = np.zeros(1, dtype=np.uint32), np.zeros(2, dtype=np.uint32)
        >>> a, b = summarise(np.array([0.1, 0.2]), two, 0.0, 1.0), summarise(np.array([0.2]), one, 0.0, 1.0)
        >>> a.merged(b).bids.tolist()
        [0.1, 0.2, 0.2]
        """
        ensure((self.low, self.high) == (other.low, other.high), "summaries of different bid ranges")
        owners = self.owners + other.owners
        ensure(owners < 1 << WORD_BITS, "more owners than a cell can count")
        if owners <= EXACT:
            bids, words = np.concatenate([self.bids, other.bids]), np.concatenate([self.words, other.words])
            return summarise(bids, words, self.low, self.high)
        return _counted(_cells_of(self) + _cells_of(other), self.low, self.high)


def summarise(bids: Floats, words: Words, low: float, high: float) -> BidSummary:
    """Count owners by bid and word (in any order; no sort of more than EXACT of them).

    >>> summarise(np.array([0.5, 0.25, 0.5]), np.array([7, 9, 5], dtype=np.uint32), 0.0, 1.0).words.tolist()
    [9, 5, 7]
    """
    if bids.size <= EXACT:
        order = np.lexsort((words, bids))
        return BidSummary(low=low, high=high, bids=bids[order], words=words[order])
    cells = np.zeros((BINS, LEVELS), dtype=np.uint32)
    for start in range(0, bids.size, _BATCH):
        part = slice(start, start + _BATCH)
        cells += _counts(bids[part], words[part], low, high)
    return _counted(cells, low, high)


_BATCH = 2**20


def _cells_of(summary: BidSummary) -> Cells:
    if summary.cells is not None:
        return summary.cells
    return _counts(summary.bids, summary.words, summary.low, summary.high)


def _counts(bids: Floats, words: Words, low: float, high: float) -> Cells:
    cell = bin_of(bids, low, high) * LEVELS + level_of(words)
    return np.bincount(cell, minlength=BINS * LEVELS).astype(np.uint32).reshape(BINS, LEVELS)


def _counted(cells: Cells, low: float, high: float) -> BidSummary:
    none: Words = np.zeros(0, dtype=np.uint32)
    return BidSummary(low=low, high=high, bids=np.zeros(0), words=none, cells=cells)


def level_of(words: Words) -> Integers:
    """Which step a word is in: 32 of 2^23 words each, then 16 in every octave.

    >>> level_of(np.array([0, 2**23, 2**28, 2**31, 2**32 - 1], dtype=np.uint32)).tolist()
    [0, 1, 32, 80, 95]
    """
    wide = words.astype(np.int64)
    octave = np.maximum(np.frexp(wide.astype(np.float64))[1].astype(np.int64) - 28, 0)
    levels: Integers = 16 * octave + (wide >> (23 + octave))
    return levels


def last_words() -> Integers:
    """The last word of each step.

    >>> level_of(last_words().astype(np.uint32)).tolist() == list(range(LEVELS))
    True
    """
    levels = np.arange(LEVELS)
    octave = np.maximum(levels // 16 - 1, 0)
    words: Integers = ((levels - 16 * octave + 1) << (23 + octave)) - 1
    return words


def bin_of(bids: Floats, low: float, high: float) -> Integers:
    """The bin whose lower edge is the last one not above the bid; the top of the range belongs to the last bin."""
    edges = edges_of(low, high)
    guess = np.minimum(((bids - low) * (BINS / (high - low))).astype(np.int64), BINS - 1)
    # The product may round across an edge: put such a bid back where the edges say.
    guess -= edges[guess] > bids
    guess += (guess < BINS - 1) & (edges[np.minimum(guess + 1, BINS - 1)] <= bids)
    return guess


def edges_of(low: float, high: float) -> Floats:
    """The lower edges of the bins. Multiplied first: 3 * 4000 / 40000 is 0.3, and 3 * 0.1 is not."""
    edges: Floats = low + ((high - low) * np.arange(BINS)) / BINS
    return edges
