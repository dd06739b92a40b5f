"""Who is asked when, and about what: a public assignment from public words (section 10 of docs/theory).

A quantile is narrowed in stages. An owner's stage is told by one public word of hers, her place in the stage by
another; neither says anything about her bid, her value or the draw that decided whether she is asked. After each stage
the window of all answers so far decides what the next one is asked about: its owners stand in the order of their words,
evenly spread over the window, each at random within her own stretch of it.

Places follow from how many words fall in each of 2^16 bins: counts that add up over batches, so that a stream deals
the same questions as a market that is held whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from pdqs.model.arrays import Column, Floats, Integers, Words
from pdqs.model.errors import ensure
from pdqs.model.names import QuestionKind
from pdqs.model.question import Question
from pdqs.privacy.draws import BUCKET_WORD, SIDE_WORD, STAGE_WORD, Draws, public_words, reusable
from pdqs.rounds.offers import Offers

FOUR_STAGES = (0.1, 0.15, 0.25, 0.5)
"""The parts of the asked that each of four stages takes."""

KEPT_EVEN = 0.25
"""With a guess, one owner in four is still asked evenly over the domain: a wrong guess then costs 3 times the error."""

_PARTS = 600
"""The part of every stage, whether there are one or eight, is a whole number of so many."""

_BINS = 2**16


@final
@dataclass(frozen=True)
class Window:
    """Codes that are not ruled out, both ends included."""

    low: int
    high: int


def parts_of(stages: int) -> tuple[float, ...]:
    """The part of the asked that each stage takes: early ones are small, for they are asked blindly.

    >>> parts_of(1), parts_of(3), parts_of(4)
    ((1.0,), (0.25, 0.25, 0.5), (0.1, 0.15, 0.25, 0.5))
    """
    if stages >= len(FOUR_STAGES):
        first = stages - len(FOUR_STAGES) + 1
        return (*[FOUR_STAGES[0] / first] * first, *FOUR_STAGES[1:])
    return (sum(FOUR_STAGES[: 1 - stages or None]), *FOUR_STAGES[len(FOUR_STAGES) - stages + 1 :])


def stages_of(words: Words, parts: tuple[float, ...] = FOUR_STAGES) -> Integers:
    """The stage, from 1, that each owner's word falls in.

    >>> stages_of(np.array([0, 2**31, 2**32 - 1], dtype=np.uint32)).tolist()
    [1, 4, 4]
    """
    return 1 + np.searchsorted(stage_ends(parts), words.astype(np.int64), side="right").astype(np.int64)


def stage_ends(parts: tuple[float, ...]) -> Integers:
    """The words at which all stages but the first begin: whole numbers, the same on every device.

    >>> stage_ends(FOUR_STAGES).tolist()
    [429496729, 1073741824, 2147483648]
    """
    whole = np.rint(np.asarray(parts) * _PARTS).astype(np.int64)
    ensure(int(whole.sum()) == _PARTS, "the parts of all stages are the whole")
    return (np.cumsum(whole)[:-1] << 32) // _PARTS


def place_counts(words: Words) -> Integers:
    """How many words fall in each bin: counts of batches add up to those of all."""
    return np.bincount(words >> np.uint32(16), minlength=_BINS)


def places(words: Words, counts: Integers) -> Floats:
    """Where each owner stands, from 0 to below 1, among the owners whose words were counted.

    >>> words = np.array([3 << 30, 1 << 30, 1 << 31], dtype=np.uint32)
    >>> places(words, place_counts(words)).round(3).tolist()
    [0.667, 0.0, 0.333]
    """
    before = np.cumsum(counts) - counts
    bins = words >> np.uint32(16)
    within = (words & np.uint32(_BINS - 1)) * (1.0 / _BINS)
    stands: Floats = (before[bins] + counts[bins] * within) / max(int(counts.sum()), 1)
    return stands


def sides_at(where: Floats, among: Window, domain_size: int, guess: Window | None = None) -> Integers:
    """The code that each place is asked about: evenly over max(low - 1, 0)..min(high, k - 2).

    With a guess, a quarter of the places is spread over ``among`` and the others over the guess.

    >>> sides_at(np.arange(9) / 9 + 0.05, Window(0, 9), 10).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    if guess is not None:
        even = sides_at(np.minimum(where / KEPT_EVEN, 1.0), among, domain_size)
        near = sides_at(np.maximum(where - KEPT_EVEN, 0.0) / (1.0 - KEPT_EVEN), guess, domain_size)
        return np.where(where < KEPT_EVEN, even, near)
    high = min(among.high, domain_size - 2)
    low = min(max(among.low - 1, 0), high)
    wide = high - low + 1
    return low + np.minimum((where * wide).astype(np.int64), wide - 1)


def guess_of(question: Question) -> Window | None:
    """The guess as codes of the domain."""
    if question.guess is None:
        return None
    low, high = question.domain.encode(list(question.guess), column="guess").tolist()
    return Window(low, high)


def whole_domain(question: Question) -> Window:
    """Nothing is ruled out."""
    return Window(0, question.domain.size - 1)


@final
@dataclass(frozen=True, eq=False)
class OpenStage:
    """What a stage is asked about: its number, what is left open, and the counts of all who stand in it."""

    number: int
    left: Window
    counts: Integers


def dealt(offers: Offers, draws: Draws, owners: Column | None, *, source: str) -> Offers:
    """The offers of a whole market with each owner's part of the question, and in the first stage her side itself."""

    def words(word: int) -> Words:
        return public_words(reusable(draws), owners, len(offers), source=source, word=word)

    return dealt_by(offers, words)


def dealt_by(offers: Offers, words: Callable[[int], Words]) -> Offers:
    """The same, from words that are each owner's own: ``words`` gives one of each owner by its number."""
    ready = with_words(offers, words)
    if offers.question.kind != QuestionKind.SIDE:
        return ready
    ready = replace(ready, side=np.full(len(ready), -1, dtype=np.int64))
    counts = place_counts(ready.deal[ready.of_stage(1)])
    return with_sides(ready, OpenStage(1, whole_domain(offers.question), counts))


def with_words(offers: Offers, words: Callable[[int], Words]) -> Offers:
    """The offers with the seed of each owner's buckets, or her stage and place among the sides; ``words`` gives a
    public word of each owner by its number, and each of these has one of its own."""
    question = offers.question
    if question.kind == QuestionKind.BUCKET:
        return replace(offers, deal=words(BUCKET_WORD))
    if question.kind != QuestionKind.SIDE:
        return offers
    stage = stages_of(words(STAGE_WORD), parts_of(question.stages))
    return replace(offers, stage=stage, deal=words(SIDE_WORD))


def with_sides(offers: Offers, stage: OpenStage) -> Offers:
    """The offers, of all owners or of a batch of them, with the sides of one stage, spread over what is left."""
    here = offers.of_stage(stage.number)
    side = offers.side.copy()
    where = places(offers.deal[here], stage.counts)
    side[here] = sides_at(where, stage.left, offers.domain.size, guess_of(offers.question))
    return replace(offers, side=side)
