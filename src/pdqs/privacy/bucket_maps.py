r"""Public bucket maps: how a word that everyone sees splits a domain into g near-equal buckets.

With p the least prime that is at least k, and a in 1..p-1, b in 0..p-1 drawn from the word, code t has the place
x = (a t + b) mod p, and the bucket floor(x g / p). As (a, b) goes through all pairs, the places of any two codes go
through all pairs of different places, each once. So any two codes share a bucket with chance exactly

.. math:: c = \frac{\sum_s s (s - 1)}{p (p - 1)}

over the sizes s of the g ranges of places: what a histogram's estimate and its variance need of a random permutation,
at the cost of one multiplication. (Places beyond k - 1 codes stand empty: p is 53 for k = 48, 1009 for k = 1000.)
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

from pdqs.model.arrays import Floats, Integers, Words
from pdqs.model.errors import ensure
from pdqs.model.questions import LARGEST_BUCKETED
from pdqs.privacy.philox import philox_of_keys, philox_words
from pdqs.privacy.randomiser import dice_limit

_CELLS_AT_ONCE = 2**18

Multipliers = tuple[Integers, Integers]
"""a and b of each owner's map."""


@lru_cache(maxsize=256)
def modulus(domain_size: int) -> int:
    """p, the least prime that is at least k.

    >>> [modulus(k) for k in (2, 48, 101, 1000)]
    [2, 53, 101, 1009]
    """
    ensure(2 <= domain_size <= LARGEST_BUCKETED, "a bucketed domain has 2 to 2^20 values")
    p = domain_size
    while any(p % d == 0 for d in range(2, int(p**0.5) + 1)):
        p += 1
    return p


def sizes(domain_size: int, buckets: int) -> Integers:
    """How many places each bucket has: their floors and ceilings of p/g add up to p."""
    edges = first_places(domain_size, buckets)
    return np.diff(edges)


def first_places(domain_size: int, buckets: int) -> Integers:
    """Where each bucket begins, ceil(j p / g), and last p itself.

    >>> first_places(7, 3).tolist()
    [0, 3, 5, 7]
    """
    return -(-np.arange(buckets + 1, dtype=np.int64) * modulus(domain_size) // buckets)


def collision(domain_size: int, buckets: int) -> float:
    """c, the chance that two different values share a bucket.

    >>> round(collision(101, 4), 4)
    0.2426
    """
    s, p = sizes(domain_size, buckets), modulus(domain_size)
    return float((s * (s - 1)).sum() / (p * (p - 1)))


def multipliers(seeds: Words, domain_size: int) -> Multipliers:
    """a and b of each map: exact dice of p-1 and p sides from the words of Philox at number 0, keyed by the seed.

    The words of a seed are taken in order, a die's refused ones passed over: first the die for a, then that for b.
    """
    p = modulus(domain_size)
    limits = (dice_limit(p - 1) if p > 2 else 2**32, dice_limit(p))
    first, second = philox_of_keys(seeds, 0)[:2].astype(np.int64)
    for at in np.flatnonzero((first >= limits[0]) | (second >= limits[1])):
        first[at], second[at] = _taken(int(seeds[at]), limits)
    return 1 + first % (p - 1), second % p


def _taken(seed: int, limits: tuple[int, int]) -> tuple[int, int]:
    """The first word below the one limit, and the next after it that is below the other."""
    number = np.zeros(1, dtype=np.uint64)
    words = (int(word) for block in count() for word in philox_words(number, block, seed)[:, 0])
    return next(w for w in words if w < limits[0]), next(w for w in words if w < limits[1])


def buckets_of(codes: Integers, maps: Multipliers, domain_size: int, buckets: int) -> Integers:
    """The bucket of each owner's code under her own map.

    >>> seeds = np.array([7, 8], dtype=np.uint32)
    >>> buckets_of(np.array([5, 5]), multipliers(seeds, 101), 101, 4).tolist()
    [2, 3]
    """
    a, b = maps
    p = modulus(domain_size)
    found: Integers = (a * codes + b) % p * buckets // p
    return found


def cell_sums(reports: Integers, weights: Floats, maps: Multipliers, domain_size: int, buckets: int) -> Floats:
    """For every code j: the sum of the weights of the reports whose bucket holds j.

    The codes in a bucket are a^-1 (x - b) mod p for its places x. Work is n k / g; owners are taken in parts, so memory
    stays small. Weights must be such that float64 adds them exactly, if the order of owners is not to matter.
    """
    p, edges = modulus(domain_size), first_places(domain_size, buckets)
    inverse = _powers(maps[0], p - 2, p)
    low, width = edges[:-1][reports], np.diff(edges)
    sums = np.zeros(p)
    longest = int(width.max())
    rows = max(_CELLS_AT_ONCE // longest, 1)
    for start in range(0, reports.size, rows):
        part = slice(start, start + rows)
        places = low[part, None] + np.arange(longest)
        inside = np.arange(longest) < width[reports[part]][:, None]
        codes = (places - maps[1][part, None]) % p * inverse[part, None] % p
        spread = np.broadcast_to(weights[part, None], codes.shape)
        sums += np.bincount(codes[inside], weights=spread[inside], minlength=p)
    return sums[:domain_size]


def _powers(bases: Integers, exponent: int, p: int) -> Integers:
    """bases^exponent mod p, by squaring: p - 2 gives inverses (Fermat)."""
    result, square = np.ones_like(bases), bases % p
    while exponent:
        if exponent & 1:
            result = result * square % p
        square, exponent = square * square % p, exponent >> 1
    return result
