"""Draws that belong to an owner: a function of (seed, her id, number of the draw) and of nothing else.

So a simulation gives every owner the same report however the rows are ordered, split into files or spread over
machines. Two rows with one id get the same draws: ids must be distinct, as they must be for anyone to be paid.
"""

from __future__ import annotations

from typing import final

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Integers, Words
from pdqs.model.errors import InputError, RowError, ensure
from pdqs.privacy.philox import Numbers, philox_words

_WORDS_PER_BLOCK = 4


@final
class OwnerEntropy:
    """A source of words (:class:`pdqs.privacy.entropy.OwnEntropy`) in which every owner has her own.

    Word w of an owner is word w mod 4 of Philox block w div 4 at her number, under the seed as key. For simulation
    only: whoever knows the seed knows the coins.

    >>> alone, together = OwnerEntropy(7, number_ids([5])), OwnerEntropy(7, number_ids([4, 5, 6]))
    >>> alone.words(1)[0] == together.words(3)[1]
    np.True_
    """

    def __init__(self, seed: int, numbers: Numbers) -> None:
        if not 0 <= seed < 2**64:
            raise InputError(f"a seed is a whole number from 0 to 2^64 - 1, got {seed}")
        self._seed = seed
        self._numbers = numbers
        self._first_block = philox_words(numbers, 0, seed)
        self._drawn = np.zeros(numbers.size, dtype=np.int32)

    def words(self, count: int) -> Words:
        """The next word of every owner."""
        ensure(count == self._numbers.size, "every owner draws, or words_of says who")
        return self.words_of(np.arange(count))

    def words_of(self, places: Integers) -> Words:
        """The next word of the owners at these places, each of whom is there once."""
        drawn = self._drawn[places]
        self._drawn[places] = drawn + 1
        if not drawn.size or drawn.min() == drawn.max():
            return self._words(places, int(drawn.max(initial=0)))
        words: Words = np.empty(drawn.size, dtype=np.uint32)
        for number in np.unique(drawn):
            here = drawn == number
            words[here] = self._words(places[here], int(number))
        return words

    def _words(self, places: Integers, number: int) -> Words:
        block, word = divmod(number, _WORDS_PER_BLOCK)
        if block == 0:
            words: Words = self._first_block[word, places]
        else:
            words = philox_words(self._numbers[places], block, self._seed)[word]
        return words


def number_ids(ids: object, *, column: str = "owner") -> Numbers:
    """A 64-bit number for each id: whole numbers stand for themselves, text and bytes are mixed into 64 bits.

    Ids of up to 8 bytes of one length never share a number; among n longer ones two do with chance about n^2 / 2^65.

    >>> number_ids([3, 1]).tolist()
    [3, 1]
    >>> len(set(number_ids(["a", "b", "a", "a-long-name", ""]).tolist()))
    4
    """
    if not type(ids).__module__.startswith("pyarrow"):
        return _plain_ids(ids, column)
    import pyarrow as pa
    import pyarrow.types as kind

    column_of_ids: Column = ids
    if column_of_ids.null_count:
        row = int(np.argmax(np.asarray(column_of_ids.is_null())))
        raise RowError(row + 1, column, "the owner has no id")
    if kind.is_dictionary(column_of_ids.type):
        column_of_ids = column_of_ids.cast(column_of_ids.type.value_type)
    if kind.is_integer(column_of_ids.type):
        return np.asarray(column_of_ids).astype(np.uint64)
    textual = (kind.is_string, kind.is_large_string, kind.is_binary, kind.is_large_binary, kind.is_fixed_size_binary)
    if any(fits(column_of_ids.type) for fits in textual):
        return _mixed_texts(column_of_ids.cast(pa.large_binary()).to_pylist())
    raise InputError(f"column {column!r}: ids must be whole numbers, text or bytes, not {column_of_ids.type}")


def _plain_ids(ids: Column, column: str) -> Numbers:
    """The numbers of a list, an array or a data frame's column of ids, which need no arrow."""
    columns.refuse_disorder(ids, column=column)
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return ids.astype(np.uint64)
    listed = list(ids)
    for row, each in enumerate(listed, start=1):
        if each is None or each != each:
            raise RowError(row, column, "the owner has no id")
    if all(isinstance(each, int | np.integer) and not isinstance(each, bool) for each in listed):
        return np.array([int(each) % 2**64 for each in listed], dtype=np.uint64)
    if all(isinstance(each, str) for each in listed):
        return _mixed_texts([each.encode(errors="surrogatepass") for each in listed])
    if all(isinstance(each, bytes) for each in listed):
        return _mixed_texts(listed)
    kinds = " and ".join(sorted({type(each).__name__ for each in listed}))
    raise InputError(f"column {column!r}: ids must be whole numbers, text or bytes, not {kinds}")


def refuse_strange_ids(ids: Column, count: int, *, column: str = "owner") -> None:
    """Refuse ids that are not one for each of ``count`` owners, each her own.

    >>> refuse_strange_ids(["a", "b", "a"], 3)
    Traceback (most recent call last):
        ...
    pdqs.model.errors.RowError: row 3, column 'owner': 'a' is the id of row 1 too
    """
    numbers = number_ids(ids, column=column)
    if numbers.size != count:
        raise InputError(f"column {column!r}: {numbers.size:,} ids for {count:,} bids")
    order = np.argsort(numbers, kind="stable")
    shared = np.flatnonzero(numbers[order[1:]] == numbers[order[:-1]])
    if not shared.size:
        return
    listed = columns.listed(ids, column=column)
    for first, again in ((int(order[place]), int(order[place + 1])) for place in shared.tolist()):
        if listed[first] == listed[again]:  # two long names may share a number by chance
            raise RowError(again + 1, column, f"{str(listed[again])!r} is the id of row {first + 1} too")


def _mixed_texts(texts: list[bytes]) -> Numbers:
    """h = mix(h xor w) over the 8-byte words w of each text, from h = mix(its length)."""
    lengths = np.fromiter(map(len, texts), dtype=np.uint64, count=len(texts))
    mixed = _mix(lengths)
    if not lengths.size or not int(lengths.max()):
        return mixed
    words_each = -(-int(lengths.max()) // 8)
    padded = np.array(texts, dtype=f"S{8 * words_each}").view("<u8").reshape(-1, words_each)
    for place in range(words_each):
        inside = lengths > 8 * place  # what lies past a text's end must not depend on its neighbours' lengths
        mixed[inside] = _mix(mixed[inside] ^ padded[inside, place])
    return mixed


def _mix(words: Numbers) -> Numbers:
    """A one-to-one scrambling of 64 bits (the finaliser of SplitMix64)."""
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
