r"""Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), computed for many counters at once.

A counter of four 32-bit words and a key of two go in, four uniform words come out; equal in, equal out, and that is all
the state there is. One round on the counter (x0, x1, x2, x3) under the key (k0, k1) is

.. math:: (x_0, x_1, x_2, x_3) \to (hi(M_1 x_2) \oplus x_1 \oplus k_0,\; lo(M_1 x_2),\;
                                    hi(M_0 x_0) \oplus x_3 \oplus k_1,\; lo(M_0 x_0))

and the key grows by (W0, W1) between the ten rounds. NumPy's own Philox is the 4x64 member of the family and takes one
key at a time; this one takes an array of counters, because every owner has a counter of her own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pdqs.model.arrays import Words
from pdqs.model.errors import ensure

Numbers = NDArray[np.uint64]

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_BATCH = 2**13  # six columns of this many 8-byte words stay in a core's cache


def philox_words(numbers: Numbers, block: int, key: int) -> Words:
    """Four words for each 64-bit number: the counter is (number's low half, its high half, ``block``, 0).

    ``key`` has 64 bits. The result has shape (4, size).

    >>> [f"{int(word):08x}" for word in philox_words(np.zeros(1, dtype=np.uint64), 0, 0)[:, 0]]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    words = np.empty((4, numbers.size), dtype=np.uint32)
    for part, mixed in _in_parts(numbers, block, key):
        words[:, part] = mixed
    return words


def philox_word(numbers: Numbers, block: int, key: int, place: int) -> Words:
    """One of those four words for each number, without room for the others.

    >>> numbers = np.arange(3, dtype=np.uint64)
    >>> (philox_word(numbers, 0, 7, 1) == philox_words(numbers, 0, 7)[1]).tolist()
    [True, True, True]
    """
    words = np.empty(numbers.size, dtype=np.uint32)
    for part, mixed in _in_parts(numbers, block, key):
        words[part] = mixed[place]
    return words


def _in_parts(numbers: Numbers, block: int, key: int) -> Iterator[tuple[slice, list[Numbers]]]:
    ensure(0 <= key < 2**64, "a key has 64 bits")
    ensure(0 <= block < 2**32, "a block number has 32 bits")
    for start in range(0, numbers.size, _BATCH):
        part = slice(start, start + _BATCH)
        yield part, _mixed(numbers[part], block, np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32))


def philox_of_keys(keys: Words, block: int) -> Words:
    """Four words for each 32-bit key, at the number 0: one stream of words a key.

    >>> philox_of_keys(np.array([5, 9], dtype=np.uint32), 1)[:, 1].tolist() == philox_words(
    ...     np.zeros(1, dtype=np.uint64), 1, 9
    ... )[:, 0].tolist()
    True
    """
    numbers = np.zeros(keys.size, dtype=np.uint64)
    return np.array(_mixed(numbers, block, keys.astype(np.uint64), np.uint64(0)), dtype=np.uint32)


def _mixed(numbers: Numbers, block: int, k0: Numbers | np.uint64, k1: Numbers | np.uint64) -> list[Numbers]:
    """Ten rounds on one batch. The 32-bit words are held in 64 bits, where a product fits."""
    x0, x1 = numbers & _MASK, numbers >> _HALF
    x2, x3 = np.full_like(numbers, block), np.zeros_like(numbers)
    p0, p1 = np.empty_like(numbers), np.empty_like(numbers)
    w0, w1 = (np.uint64(step) for step in KEY_STEPS)
    m0, m1 = (np.uint64(m) for m in MULTIPLIERS)
    for _ in range(ROUNDS):
        np.multiply(x0, m0, out=p0)
        np.multiply(x2, m1, out=p1)
        np.right_shift(p1, _HALF, out=x0)
        _xor(x0, x1, k0)
        np.right_shift(p0, _HALF, out=x2)
        _xor(x2, x3, k1)
        np.bitwise_and(p1, _MASK, out=x1)
        np.bitwise_and(p0, _MASK, out=x3)
        k0, k1 = (k0 + w0) & _MASK, (k1 + w1) & _MASK
    return [x0, x1, x2, x3]


def _xor(into: Numbers, *others: Numbers | np.uint64) -> None:
    for other in others:
        np.bitwise_xor(into, other, out=into)
