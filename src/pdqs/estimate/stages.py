"""Who is asked when, and about which side: a public assignment from public words (section 10 of docs/theory).

A quantile is narrowed in stages. An owner's stage is told by one public word of hers, her place in the stage by
another; neither says anything about her bid, her value or the draw that decided whether she is asked. After each stage
the window of all answers so far decides what the next one is asked about.
"""

from __future__ import annotations

import numpy as np

from pdqs.estimate.side_intervals import Window
from pdqs.model.arrays import Integers, Words

STAGES = (0.1, 0.15, 0.25, 0.5)
"""The parts of the asked that each of four stages takes."""

KEPT_EVEN = 4
"""With a guess, one owner in four is still asked evenly over the domain: a wrong guess then costs 3 times the error."""


def stages_of(words: Words, parts: tuple[float, ...] = STAGES) -> Integers:
    """The stage, from 0, that each owner's word falls in.

    >>> stages_of(np.array([0, 2**31, 2**32 - 1], dtype=np.uint32)).tolist()
    [0, 3, 3]
    """
    ends = np.floor(np.cumsum(parts)[:-1] / np.sum(parts) * 2.0**32).astype(np.int64)
    return np.searchsorted(ends, words.astype(np.int64), side="right").astype(np.int64)


def spread(among: Window, domain_size: int, count: int, offset: int) -> Integers:
    """``count`` thresholds, evenly over max(low - 1, 0)..min(high, k - 2), rising; ``offset`` is a public word.

    >>> spread(Window(0, 9), 10, 9, 2**31).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    low, high = max(among.low - 1, 0), min(among.high, domain_size - 2)
    low = min(low, high)
    wide = high - low + 1
    place = (np.arange(count) + offset * 2.0**-32) * (wide / max(count, 1))
    return low + np.minimum(place.astype(np.int64), wide - 1)


def spread_about(guess: Window, domain_size: int, count: int, offset: int) -> Integers:
    """One stage with a guess: a quarter of the thresholds evenly over the domain, the others over the guess."""
    even = -(-count // KEPT_EVEN)
    whole = Window(0, domain_size - 1)
    return np.concatenate(
        [spread(whole, domain_size, even, offset), spread(guess, domain_size, count - even, offset)],
    )


def dealt(thresholds: Integers, words: Words) -> Integers:
    """Each owner of a stage her threshold: the owner with the least public word takes the first, and so on.

    >>> dealt(np.array([4, 5, 6]), np.array([30, 10, 20], dtype=np.uint32)).tolist()
    [6, 4, 5]
    """
    given = np.empty_like(thresholds)
    given[np.argsort(words, kind="stable")] = thresholds
    return given
