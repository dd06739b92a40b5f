"""The mergeable summary of bids and draws on which a lottery is calibrated.

Up to EXACT owners it is the bids and draws themselves. Beyond that it counts owners in cells of BID_BINS equal bins of
the bid range by 1 + DRAW_BINS bins of the draw, each owner standing at her cell's *lower* corner, where she would be
paid more: so the budget holds. Draw bins are logarithmic, because it is the ratio of draws that prices follow: 128 to
an octave down to 2^-16 of the range, and 32 to an octave below, down to single words. A budget of few payments among
very many owners asks none but those of the lowest words: had they all stood at 0, each would have been charged the
dearest price at every rung, and nobody been asked. Which of the two depends on the number of owners alone, so any split
over machines, merged in any order, gives the same summary.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats, Integers, Words

EXACT = 2**16
BID_BINS = 512
_OCTAVES = 16  # of fine bins, and as many of coarse ones below them
_PER_OCTAVE, _PER_LOW_OCTAVE = 128, 32
_LOW_BINS = _OCTAVES * _PER_LOW_OCTAVE
DRAW_BINS = _LOW_BINS + _OCTAVES * _PER_OCTAVE
_MANTISSA = 52 - 7  # bits of a float below the first seven of its fraction, which tell 128 parts of an octave
_BATCH = 2**21  # owners counted together
_AT_ONCE = 2**15  # and how many of them stay in a core's cache


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LotterySummary:
    """Owners by bid and draw: one by one while they are few, else ``cells`` (draw bin, bid bin)."""

    low: float
    high: float
    bits: int
    owners: int
    bids: Floats
    draws: Words
    cells: Integers

    @property
    def exact(self) -> bool:
        """Whether the owners are held one by one."""
        return self.owners <= EXACT

    def merged(self, other: LotterySummary) -> LotterySummary:
        """The summary of both sets of owners together."""
        assert (self.low, self.high, self.bits) == (other.low, other.high, other.bits), "summaries of different markets"
        owners = self.owners + other.owners
        if owners <= EXACT:
            bids, draws = np.concatenate([self.bids, other.bids]), np.concatenate([self.draws, other.draws])
            return _listed(bids, draws, self.low, self.high, self.bits)
        return _counted(self.as_cells() + other.as_cells(), owners, self.low, self.high, self.bits)

    def as_cells(self) -> Integers:
        """How many owners each cell holds, counted here where they are still listed one by one."""
        return self.cells if not self.exact else count_cells(self.bids, self.draws, self.low, self.high, self.bits)


def summarise_lottery(bids: Floats, draws: Words, low: float, high: float, *, bits: int = 32) -> LotterySummary:
    """Count owners (in any order) by bid and draw.

    >>> words = np.array([5, 9], dtype=np.uint32)
    >>> summarise_lottery(np.array([0.25, 0.5]), words, 0.0, 1.0).owners
    2
    """
    if bids.size <= EXACT:
        return _listed(bids, draws, low, high, bits)
    return _counted(count_cells(bids, draws, low, high, bits), bids.size, low, high, bits)


def _listed(bids: Floats, draws: Words, low: float, high: float, bits: int) -> LotterySummary:
    order = np.argsort(bids)  # so that the summary does not tell in which order owners came
    rising = bids[order]
    if bool((rising[1:] == rising[:-1]).any()):  # equal bids go by their words, which takes several times as long
        order = np.lexsort((draws, bids))
        rising = bids[order]
    return _summary(rising, draws[order], np.zeros((0, 0), dtype=np.int64), bids.size, low, high, bits)


def _counted(cells: Integers, owners: int, low: float, high: float, bits: int) -> LotterySummary:
    return _summary(np.zeros(0), np.zeros(0, dtype=np.uint32), cells, owners, low, high, bits)


def _summary(
    bids: Floats, draws: Words, cells: Integers, owners: int, low: float, high: float, bits: int
) -> LotterySummary:
    for array in (bids, draws, cells):
        array.flags.writeable = False
    return LotterySummary(low=low, high=high, bits=bits, owners=owners, bids=bids, draws=draws, cells=cells)


def count_cells(bids: Floats, draws: Words, low: float, high: float, bits: int) -> Integers:
    """How many owners stand in each cell."""

    def counted(start: int) -> Integers:
        cell = np.empty(min(_BATCH, bids.size - start), dtype=np.int64)
        for first in range(0, cell.size, _AT_ONCE):
            part = slice(start + first, min(start + first + _AT_ONCE, start + cell.size))
            here = draw_bin(draws[part], bits)
            here *= BID_BINS
            np.add(here, bid_bin(bids[part], low, high), out=cell[first : first + _AT_ONCE])
        return np.bincount(cell, minlength=(1 + DRAW_BINS) * BID_BINS)

    starts = range(0, bids.size, _BATCH)
    if len(starts) == 1:
        return counted(0).reshape(1 + DRAW_BINS, BID_BINS)
    cells = np.zeros((1 + DRAW_BINS) * BID_BINS, dtype=np.int64)
    with ThreadPoolExecutor(max_workers=2) as pool:  # NumPy lets go of the interpreter while it computes
        for part in pool.map(counted, starts):
            cells += part
    return cells.reshape(1 + DRAW_BINS, BID_BINS)


def bid_bin(bids: Floats, low: float, high: float) -> Integers:
    """Which of BID_BINS equal bins a bid lies in; :func:`bid_edges` allows for a product rounded across an edge."""
    places = bids - low
    places *= BID_BINS / (high - low)
    bins = places.astype(np.int64)
    return np.minimum(bins, BID_BINS - 1, out=bins)


def bid_edges(low: float, high: float) -> Floats:
    """A bid not above any bid of the bin: its lower edge, less what a rounding may have moved across it."""
    edges: Floats = low + (high - low) * (np.arange(BID_BINS) / BID_BINS)
    shaved: Floats = np.maximum(edges - 8 * np.spacing(high), low)
    return shaved


def draw_bin(draws: Words | Integers, bits: int) -> Integers:
    """0 for the word 0, then 32 bins to an octave and later 128, read off the bits of the word as a float."""
    bins = draws.astype(np.float64).view(np.int64)
    bins >>= _MANTISSA
    bins -= (1023 + bits - _OCTAVES) << 7  # from here on 128 to an octave, 0 where fine bins begin
    low = np.flatnonzero(bins < 0)
    coarse = np.maximum((bins[low] >> 2) + _LOW_BINS, -1)
    bins += _LOW_BINS
    bins[low] = coarse
    bins += 1
    return bins


def draw_edges(bits: int) -> Integers:
    """The lowest word of each draw bin.

    >>> draw_edges(32)[[0, 1, 33, 513, 514, 641, 2560]].tolist()
    [0, 1, 2, 65536, 66048, 131072, 4278190080]
    """
    octave, part = np.divmod(np.arange(_OCTAVES * _PER_OCTAVE), _PER_OCTAVE)
    fine = np.floor((1.0 + part / _PER_OCTAVE) * 2.0 ** (octave + bits - _OCTAVES))
    octave, part = np.divmod(np.arange(_LOW_BINS), _PER_LOW_OCTAVE)
    coarse = np.floor((1.0 + part / _PER_LOW_OCTAVE) * 2.0 ** (octave + bits - 2 * _OCTAVES))
    return np.concatenate([[0], coarse, fine]).astype(np.int64)
