"""The local randomiser: what an owner's device does with her value. One definition, two sources of randomness.

With q = N / 2^32, and words drawn uniformly from 0..2^32 - 1 in this order:

1. the *coin* word c: the truth is told when c < N;
2. *die* words d until one is below 2^32 - (2^32 mod k): the random value is d mod k, exactly uniform;
3. the report is the value's code if the coin chose the truth, else the random value.

Both draws are always made, and the choice between them is a selection, not a branch, so that time does not tell the
coin. A batch draws all its coins first, then all its dice, then again for the dice that were refused; a batch of one is
the definition itself. ``tests/vectors`` holds words and reports for other languages to replay.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from pdqs.checks import made, shown
from pdqs.domain import Domain
from pdqs.errors import InputError, ensure
from pdqs.offers import Offers
from pdqs.privacy import Q_UNITS
from pdqs.types import Booleans, Column, Floats, Integers, Words, read_only

WORD_BITS = 32
_LARGE_BATCH = 2**18


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
@dataclass(frozen=True, kw_only=True, eq=False)
class Reports:
    """What came back: a code per owner, and whether it arrived.

    ``selected`` says where the coin chose the truth. Only a simulation knows it; it is empty for reports received.
    The arrays cannot be written to.
    """

    codes: Integers
    arrived: Booleans
    selected: Booleans
    domain: Domain

    def __post_init__(self) -> None:
        for name in ("codes", "arrived", "selected"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return int(self.codes.size)

    @property
    def values(self) -> np.ndarray[Any, np.dtype[Any]]:
        """The reported values as the domain holds them; missing ones are NaN (None for categories)."""
        values = self.domain.decode(self.codes)
        if self.arrived.all():
            return values
        if self.domain.ordered:
            return np.where(self.arrived, values.astype(np.float64), np.nan)
        labels: np.ndarray[Any, np.dtype[Any]] = values.copy()
        labels[~self.arrived] = None
        return labels

    def only(self, arrived: Booleans) -> Reports:
        """The same reports with only these arrived."""
        return Reports(codes=self.codes, arrived=self.arrived & arrived, selected=self.selected, domain=self.domain)

    def __repr__(self) -> str:
        return f"Reports: {int(self.arrived.sum()):,} of {len(self):,} arrived ({self.domain})"


def randomise(values: Column, offers: Offers, rng: np.random.Generator | Entropy) -> Reports:
    """Every owner's report, drawn at her own q.

    ``rng`` is a seeded NumPy generator for simulation, or :class:`SystemEntropy` for real values.

    >>> import pdqs
    >>> offers = pdqs.clear([0.1, 0.2, 0.3], pdqs.Terms(query=pdqs.Count(), budget=1.0))
    >>> len(pdqs.randomise([1, 0, 1], offers, np.random.default_rng(0)))
    3
    """
    made(offers, Offers, "offers", InputError)
    entropy = SeededEntropy(rng) if isinstance(rng, np.random.Generator) else rng
    if isinstance(entropy, type) or not isinstance(entropy, Entropy):
        raise InputError(f"rng must be np.random.default_rng(seed) or SystemEntropy(), got {shown(rng)}")
    codes = offers.domain.encode(values)
    if codes.size != len(offers):
        raise InputError(f"column 'value': {codes.size:,} values for {len(offers):,} offers")
    reports, selected = draw_reports(codes, q_numerators(offers.q), offers.domain.size, entropy)
    arrived = np.ones(codes.size, dtype=bool)
    return Reports(codes=reports, arrived=arrived, selected=selected, domain=offers.domain)


def received(values: Column, domain: Domain) -> Reports:
    """Reports that came from outside; None and NaN stand for those that did not arrive.

    >>> received([1, None, 0], Domain.binary()).arrived.tolist()
    [True, False, True]
    """
    made(domain, Domain, "domain", InputError)
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    arrived = np.array([value is not None and value == value for value in listed], dtype=bool)
    filler = domain.decode(np.array([0]))[0]
    codes = domain.encode([value if there else filler for value, there in zip(listed, arrived, strict=True)])
    return Reports(codes=codes, arrived=arrived, selected=np.zeros(0, dtype=bool), domain=domain)


def q_numerators(q: Floats) -> Words:
    """N with q = N / 2^32, exactly; q must lie on that lattice."""
    numerators = q * Q_UNITS
    ensure(bool((numerators == np.floor(numerators)).all()), "q is not a multiple of 2^-32")
    return numerators.astype(np.uint32)


def draw_reports(
    codes: Integers, numerators: Words, domain_size: int, entropy: Entropy, *, bits: int = WORD_BITS
) -> tuple[Integers, Booleans]:
    """Reports and coins for a batch of codes: steps 1 to 3 of the definition.

    ``bits`` is 32 but for tests, which go through every word of a narrower one.
    """
    reports = np.empty(codes.size, dtype=np.int64)
    selected = np.empty(codes.size, dtype=bool)

    def draw(part: slice) -> None:
        selected[part] = entropy.words(codes[part].size) < numerators[part]
        reports[part] = draw_dice(codes[part].size, domain_size, entropy, bits=bits)
        np.copyto(reports[part], codes[part], where=selected[part])

    if isinstance(entropy, SystemEntropy) and codes.size >= _LARGE_BATCH:
        # The system takes its time over so much entropy, on one core: draw from two. Its words have no order to keep.
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(draw, (slice(codes.size // 2), slice(codes.size // 2, None))))
    else:
        draw(slice(None))
    return reports, selected


def draw_dice(count: int, domain_size: int, entropy: Entropy, *, bits: int = WORD_BITS) -> Integers:
    """Exactly uniform codes 0..k-1 by rejection."""
    dice = entropy.words(count)
    refused_from = dice_limit(domain_size, bits)
    if refused_from < 1 << bits:
        refused = np.flatnonzero(dice >= refused_from)
        dice = dice.copy() if refused.size and not dice.flags.writeable else dice
        while refused.size:
            again = entropy.words_of(refused) if isinstance(entropy, OwnEntropy) else entropy.words(refused.size)
            dice[refused] = again
            refused = refused[dice[refused] >= refused_from]
    codes = np.empty(dice.size, dtype=np.int64)
    if domain_size & (domain_size - 1) == 0:
        return np.bitwise_and(dice, np.uint32(domain_size - 1), out=codes)
    return np.remainder(dice, np.uint32(domain_size), out=codes)


def dice_limit(domain_size: int, bits: int = WORD_BITS) -> int:
    """The first word that is refused: the largest multiple of k that fits in ``bits`` bits.

    >>> dice_limit(3, bits=4)
    15
    """
    ensure(2 <= domain_size <= 1 << bits, "a domain larger than the word cannot be drawn")
    words = 1 << bits
    return words - words % domain_size
