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

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pdqs.model.arrays import Booleans, Floats, Integers, Words
from pdqs.model.errors import ensure
from pdqs.privacy.entropy import WORD_BITS, Entropy, OwnEntropy, SystemEntropy
from pdqs.privacy.loss import Q_UNITS

_LARGE_BATCH = 2**18


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
