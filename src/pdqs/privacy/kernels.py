"""A device's law by going through every word: how often each value gives each report, in whole numbers.

At a width of a few bits all words a device can draw fit in one batch. Draws in which a die was refused are left out:
they are drawn again, independently, so what is left is the law itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np

from pdqs.model.arrays import Booleans, Integers, Words
from pdqs.privacy.entropy import Entropy

Device = Callable[[Integers, Entropy], Integers]
"""Reports (0, 1, ...) for a batch of codes."""


@final
class EveryWord:
    """Entropy whose i-th call goes through all words of ``bits`` bits, for a batch of 2^(bits calls) owners."""

    def __init__(self, bits: int, calls: int) -> None:
        self._bits, self._calls, self._used = bits, calls, 0
        self.refused: Booleans = np.zeros(1 << bits * calls, dtype=bool)

    def words(self, count: int) -> Words:
        """The next digit of the owner's number, in base 2^bits."""
        assert count == self.refused.size, "every owner draws"
        assert self._used < self._calls, "the device draws more words than were gone through"
        number = np.arange(count, dtype=np.uint64) >> np.uint64(self._bits * self._used)
        self._used += 1
        return (number & np.uint64((1 << self._bits) - 1)).astype(np.uint32)

    def words_of(self, places: Integers) -> Words:
        """A refused die: its owner is left out."""
        self.refused[places] = True
        return np.zeros(places.size, dtype=np.uint32)

    @property
    def used(self) -> int:
        """How many words each owner drew."""
        return self._used


def kernel(device: Device, domain_size: int, report_codes: int, *, bits: int, calls: int) -> Integers:
    """counts[value, report] over all words: rows add up to the same number."""
    counts = np.zeros((domain_size, report_codes), dtype=np.int64)
    for code in range(domain_size):
        entropy = EveryWord(bits, calls)
        reports = device(np.full(entropy.refused.size, code), entropy)
        assert entropy.used == calls, "the device draws fewer words than it should"
        counts[code] = np.bincount(reports[~entropy.refused], minlength=report_codes)
    return counts


def exact_epsilon(counts: Integers) -> float:
    """ln of the largest ratio in a column: the privacy loss of the law, and inf where a report rules out a value.

    >>> round(exact_epsilon(np.array([[3, 1], [1, 3]])), 4)
    1.0986
    """
    most, least = counts.max(axis=0), counts.min(axis=0)
    some = most > 0
    if bool((least[some] == 0).any()):
        return math.inf
    return math.log(max(float(m) / float(f) for m, f in zip(most[some], least[some], strict=True)))
