"""Public draws of a market: a function of two secrets and the owner's name alone, and every word its own."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdqs.model.errors import InputError
from pdqs.privacy.draws import JITTER_WORD, LOTTERY_WORD, Draws, committed_words, public_words
from pdqs.privacy.entropy import SeededEntropy

secrets = st.binary(min_size=32, max_size=32)


@given(secrets, secrets, secrets, st.integers(0, 40))
def test_a_committed_word_is_the_one_that_the_definition_says(
    seed: bytes, nonce: bytes, name: bytes, word: int
) -> None:
    said = b"pdqs draws 1\n" + nonce + name + (word // 8).to_bytes(4, "big")
    digest = hmac.new(seed, said, hashlib.sha256).hexdigest()
    place = word % 8
    assert committed_words(seed, nonce, [name], word)[0] == int(digest[8 * place : 8 * place + 8], 16)


def names(count: int) -> list[bytes]:
    return [i.to_bytes(32, "big") for i in range(count)]


def test_an_owner_draws_the_same_whoever_else_is_there() -> None:
    together = committed_words(bytes(32), bytes(32), names(9), LOTTERY_WORD)
    alone = committed_words(bytes(32), bytes(32), names(9)[4:5], LOTTERY_WORD)
    assert together[4] == alone[0]


def test_seed_nonce_name_and_word_each_change_the_draws() -> None:
    plain = committed_words(bytes(32), bytes(32), names(50), LOTTERY_WORD)
    other = bytes(31) + b"\x01"
    for changed in (
        committed_words(other, bytes(32), names(50), LOTTERY_WORD),
        committed_words(bytes(32), other, names(50), LOTTERY_WORD),
        committed_words(bytes(32), bytes(32), names(100)[50:], LOTTERY_WORD),
        committed_words(bytes(32), bytes(32), names(50), JITTER_WORD),
    ):
        assert not np.any(plain == changed)  # by chance 50 / 2^32, and these are fixed


def test_draws_are_spread_evenly() -> None:
    """By a chi-square on 16 cells of 4,000 fixed draws: 37.7 is passed by chance once in 1,000."""
    words = committed_words(bytes(32), bytes(32), names(4000), LOTTERY_WORD)
    counts = np.bincount(words >> 28, minlength=16)
    assert float(np.sum((counts - 250.0) ** 2 / 250.0)) < 37.7
    lumped = np.bincount((words >> 28) & 14, minlength=16)
    assert float(np.sum((lumped - 250.0) ** 2 / 250.0)) > 37.7


def test_a_stream_of_words_gives_the_draws_in_its_order() -> None:
    found = public_words(SeededEntropy(np.random.default_rng(5)), None, 4, source="", word=LOTTERY_WORD)
    assert found.tolist() == SeededEntropy(np.random.default_rng(5)).words(4).tolist()


def test_a_generator_that_breaks_ties_keeps_its_lottery() -> None:
    """The words of the lottery are the generator's own, whether or not others were drawn before."""
    rng = np.random.default_rng(5)
    public_words(rng, None, 4, source="", word=JITTER_WORD)
    plain = public_words(np.random.default_rng(5), None, 4, source="", word=LOTTERY_WORD)
    assert public_words(rng, None, 4, source="", word=LOTTERY_WORD).tolist() == plain.tolist()


@pytest.mark.parametrize(
    ("draws", "owners", "said"),
    [
        (7, [1, 2], r"column 'owner': 2 ids for 3 bids"),
        (-1, None, r"a seed is a whole number of at least 0, got -1"),
        (True, None, r"a seed is a whole number of at least 0, got True"),
        ([[1], [1, 2]], None, r"a seed, a numpy Generator or one whole number below 2\^32 an owner"),
        ([1.5, 2.5, 3.5], None, r"a seed, a numpy Generator or one whole number below 2\^32 an owner"),
        ([1, 2], None, r"column 'draw': 2 draws for 3 bids"),
        ([1, 2, 2**32], None, r"row 3, column 'draw': 4294967296 is not a whole number from 0 to 2\^32 - 1"),
    ],
)
def test_draws_that_are_none_are_refused_in_words(draws: Draws, owners: list[int] | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        public_words(draws, owners, 3, source="", word=LOTTERY_WORD)
