"""Where random words come from: the system on a device, a seed in a simulation, a script in an audit.

Draws that belong to an owner whatever the order of rows are in :mod:`pdqs.privacy.owner_entropy`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from pdqs.model.arrays import Integers, Words
from pdqs.model.errors import ensure

WORD_BITS = 32


@runtime_checkable
class Entropy(Protocol):
    """A source of uniform 32-bit words."""

    def words(self, count: int) -> Words: ...


@runtime_checkable
class OwnEntropy(Entropy, Protocol):
    """A source in which every owner of the batch has her own words: ``words_of`` gives the next of some owners only.

    Draws from it are the same however owners are ordered or split into batches.
    """

    def words_of(self, places: Integers) -> Words: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class SomeOwners:
    """The words of some owners of a batch, by their places in it: those left out leave theirs unused."""

    entropy: OwnEntropy
    places: Integers

    def words(self, count: int) -> Words:
        ensure(count == self.places.size, "each of these owners draws, or words_of says who")
        return self.entropy.words_of(self.places)

    def words_of(self, places: Integers) -> Words:
        return self.entropy.words_of(self.places[places])


@final
@dataclass(frozen=True, slots=True)
class SystemEntropy:
    """The operating system's entropy: the only source fit for a device that guards a real value."""

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(4 * count), dtype="<u4").astype(np.uint32, copy=False)


@final
@dataclass(frozen=True, slots=True)
class SeededEntropy:
    """A seeded NumPy generator: for simulation, where runs must repeat. Never on a device."""

    rng: np.random.Generator

    def words(self, count: int) -> Words:
        return self.rng.integers(0, 2**WORD_BITS, size=count, dtype=np.uint32)


@final
class Script:
    """Entropy that gives these words in order, and ``after`` once they are used up.

    >>> Script(np.array([5, 6], dtype=np.uint32)).words(3).tolist()
    [5, 6, 0]
    """

    def __init__(self, words: Words, after: int = 0) -> None:
        self._words, self._after = words, after

    def words(self, count: int) -> Words:
        now, self._words = self._words[:count], self._words[count:]
        return np.concatenate([now, np.full(count - now.size, self._after, dtype=np.uint32)])
