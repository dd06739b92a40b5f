"""Public draws: words that decide by lot, known to everyone and chosen by nobody.

Every owner has a row of 32-bit words. Word 0 is her lottery draw and word 1 her place among those who climb the ladder
of scales; word 2 tells her stage, word 3 her place among the sides that a stage asks about, and word 4 is the seed of
her buckets: no word ever serves twice. A draw must not depend on any bid; it says nothing of any value.

The source is a seed, or for want of one the hash of the round's terms: word w of an owner is then a function of the
source, her number and w alone, whatever the order of rows. It is kept apart from the coins of
:mod:`pdqs.privacy.owner_entropy` by a key of its own: a coin that is also the draw would tell the value.

In a market the source is a seed of the market and a nonce of the consumer, both committed to before anyone bids and
told after the bids are closed (:func:`committed_words`). The bids themselves are no part of it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Words
from pdqs.model.checks import shown
from pdqs.model.errors import InputError
from pdqs.privacy.entropy import WORD_BITS, Entropy, SeededEntropy
from pdqs.privacy.owner_entropy import number_ids
from pdqs.privacy.philox import Numbers, philox_word

LOTTERY_WORD = 0
JITTER_WORD = 1
STAGE_WORD = 2
SIDE_WORD = 3
BUCKET_WORD = 4

Draws = int | np.random.Generator | Entropy | Column | None
"""A seed, a generator, the words themselves, or nothing: then they follow from the terms."""


def draw_key(source: int | str) -> int:
    """The 64-bit key of a seed or of a terms' hash.

    >>> draw_key(7) == draw_key("7")
    True
    """
    return int.from_bytes(hashlib.sha256(f"pdqs public draws {source}".encode()).digest()[:8], "big")


def words_of_owners(numbers: Numbers, key: int, word: int) -> Words:
    """Word ``word`` of each owner, by her number.

    >>> numbers = number_ids([4, 5])
    >>> words_of_owners(numbers, draw_key(7), 0)[1] == words_of_owners(numbers[1:], draw_key(7), 0)[0]
    np.True_
    """
    block, place = divmod(word, 4)
    return philox_word(numbers, block, key, place)


def committed_words(seed: bytes, nonce: bytes, names: Sequence[bytes], word: int) -> Words:
    """Word ``word`` of each owner of a market, by the 32 bytes that name her in the round.

    With H_c = HMAC-SHA-256(seed, "pdqs draws 1\\n" nonce name c), c a counter of 4 bytes, it is the (word mod 8)-th of
    the eight 32-bit words of H_(word div 8); numbers are written with the highest byte first.

    >>> committed_words(bytes(32), bytes(32), [bytes(32)], 0).tolist()
    [1263431397]
    """
    block, place = divmod(word, 8)
    start, counter = hmac.new(seed, b"pdqs draws 1\n" + nonce, "sha256"), block.to_bytes(4, "big")
    digests = []
    for name in names:
        own = start.copy()
        own.update(name + counter)
        digests.append(own.digest())
    return np.frombuffer(b"".join(digests), dtype=">u4").reshape(-1, 8)[:, place].astype(np.uint32)


def public_words(draws: Draws, owners: Column | None, count: int, *, source: str, word: int) -> Words:
    """One word for each of ``count`` owners.

    ``owners`` are their ids (else their row numbers stand for them) and ``source`` is the hash of the terms, used when
    no draws are given. An array gives the very words, whichever word is wanted. A generator gives the lottery's itself
    and the others from a child: a word that only breaks ties does not shift the coins that are drawn from it next.
    """
    if isinstance(draws, np.random.Generator):
        return SeededEntropy(draws if word == LOTTERY_WORD else draws.spawn(1)[0]).words(count)
    if isinstance(draws, Entropy):
        return draws.words(count)
    if draws is not None and not isinstance(draws, int | np.integer):
        return _given(draws, count)
    if isinstance(draws, bool) or (draws is not None and draws < 0):
        raise InputError(f"draws: a seed is a whole number of at least 0, got {shown(draws)}")
    numbers = np.arange(count, dtype=np.uint64) if owners is None else number_ids(owners)
    if numbers.size != count:
        raise InputError(f"column 'owner': {numbers.size:,} ids for {count:,} bids")
    return words_of_owners(numbers, draw_key(source if draws is None else int(draws)), word)


def reusable(draws: Draws) -> Draws:
    """The source of further words: a seed or a stream gives more of them. Words that were given served their purpose,
    and others follow from the terms.

    >>> reusable(7), reusable([1, 2, 3])
    (7, None)
    """
    return draws if isinstance(draws, int | np.integer | np.random.Generator | Entropy) else None


def _given(draws: Column, count: int) -> Words:
    columns.refuse_disorder(draws, column="draw")
    try:
        words = np.asarray(draws)
    except (TypeError, ValueError):
        words = np.zeros(0)
    if words.ndim != 1 or words.dtype.kind not in "ui":
        raise InputError(
            f"draws must be a seed, a numpy Generator or one whole number below 2^32 an owner, got {shown(draws)}"
        )
    if words.size != count:
        raise InputError(f"column 'draw': {words.size:,} draws for {count:,} bids")
    wrong = (words < 0) | (words >= 1 << WORD_BITS) if words.dtype.kind == "i" else words >= 1 << WORD_BITS
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"row {row + 1}, column 'draw': {words[row]} is not a whole number from 0 to 2^32 - 1")
    return words.astype(np.uint32)
