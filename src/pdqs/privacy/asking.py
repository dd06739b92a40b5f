"""What a device does with its value for each question: one definition, on words (section 10 of docs/theory).

The value's code t becomes a report code by the question, and the randomiser of :mod:`pdqs.privacy.randomiser` over
kappa codes does the rest. Words are uniform on 0..2^32 - 1, drawn in this order, every one of them always:

1. level(g) alone: *rounding* words until one is below 2^32 - (2^32 mod D), D = max(k - 1, 2); with (l, r) =
   divmod(t (g - 1), k - 1), the level is l + 1 if (word mod D) < r, else l. So its mean is t (g - 1)/(k - 1), exactly.
2. the coin word and the die words over kappa codes.

value takes t itself, side(m) takes 1 if t <= m else 0, bucket(g) the bucket of t under its public map
(:mod:`pdqs.privacy.bucket_maps`); these draw no words of their own. Nothing branches on the coin, nor on the rounding.

A batch draws all its rounding words first, then all coins, then all dice; a batch of one is the definition itself.
``tests/vectors`` holds words and reports for other languages to replay.

Whatever m, grid or map a hostile market sends, the report keeps eps = ln(1 + kappa q/(1 - q)) *with the kappa of the
question asked*. The same words must never serve two questions: two reports from one coin tell which of them was true.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Booleans, Integers, Words
from pdqs.model.errors import ensure
from pdqs.model.questions import Asking, Bucket, Level, Side, Value
from pdqs.privacy.bucket_maps import buckets_of, multipliers
from pdqs.privacy.entropy import WORD_BITS, Entropy
from pdqs.privacy.randomiser import draw_dice, draw_reports


def ask(
    question: Asking, codes: Integers, numerators: Words, entropy: Entropy, *, bits: int = WORD_BITS
) -> tuple[Integers, Booleans]:
    """Reports, 0..kappa-1, and coins of owners who are all asked this one question; q = numerator / 2^32."""
    _keep_inside(codes, question.domain.size)
    prepared = prepare(question, codes, entropy, bits=bits)
    return draw_reports(prepared, numerators, question.kappa, entropy, bits=bits)


def prepare(question: Asking, codes: Integers, entropy: Entropy, *, bits: int = WORD_BITS) -> Integers:
    """The report code that the randomiser is to hide: step 1 of the definition."""
    size = question.domain.size
    match question:
        case Value():
            return codes
        case Level():
            return round_at_random(codes, size, question.levels, entropy, bits=bits)
        case Side():
            return sides_of(codes, np.full(codes.size, question.code))
        case Bucket():
            maps = multipliers(np.full(1, question.seed, dtype=np.uint32), size)
            return buckets_of(codes, maps, size, question.buckets)
        case _:
            raise AssertionError(f"no device knows the question {question.kind}")


def round_at_random(
    codes: Integers, domain_size: int, levels: int, entropy: Entropy, *, bits: int = WORD_BITS
) -> Integers:
    """One of g levels for each code, with mean t (g - 1)/(k - 1) exactly.

    >>> from pdqs.privacy.entropy import Script
    >>> words = Script(np.array([3, 4], dtype=np.uint32))
    >>> round_at_random(np.array([4, 4]), 11, 2, words).tolist()  # four tenths of the way: up for 0, 1, 2, 3 of ten
    [1, 0]
    """
    steps = domain_size - 1
    low, over = np.divmod(codes * (levels - 1), steps)
    die = draw_dice(codes.size, max(steps, 2), entropy, bits=bits)
    rounded: Integers = low + (die < over)
    return rounded


def sides_of(codes: Integers, thresholds: Integers) -> Integers:
    """1 where the code is at most the owner's threshold, else 0.

    >>> sides_of(np.array([3, 4]), np.array([3, 3])).tolist()
    [1, 0]
    """
    return (codes <= thresholds).astype(np.int64)


def ask_sides(
    thresholds: Integers, codes: Integers, numerators: Words, domain_size: int, entropy: Entropy
) -> tuple[Integers, Booleans]:
    """side(m) with a threshold for each owner: reports 0 or 1, and coins."""
    _keep_inside(codes, domain_size)
    ensure(bool(((thresholds >= 0) & (thresholds <= domain_size - 2)).all()), "a side lies outside the domain")
    return draw_reports(sides_of(codes, thresholds), numerators, 2, entropy)


def ask_buckets(
    seeds: Words, buckets: int, codes: Integers, numerators: Words, domain_size: int, entropy: Entropy
) -> tuple[Integers, Booleans]:
    """bucket(g) with a public map for each owner: reports 0..g-1, and coins."""
    _keep_inside(codes, domain_size)
    ensure(2 <= buckets <= domain_size, "there are 2 to k buckets")
    held = buckets_of(codes, multipliers(seeds, domain_size), domain_size, buckets)
    return draw_reports(held, numerators, buckets, entropy)


def _keep_inside(codes: Integers, domain_size: int) -> None:
    ensure(bool(((codes >= 0) & (codes < domain_size)).all()), "a value lies outside the domain")
