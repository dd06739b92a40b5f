"""Public draws of a market: a function of two secrets and the owner's name alone, and every word its own."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdqs.privacy.draws import JITTER_WORD, LOTTERY_WORD, committed_words

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
