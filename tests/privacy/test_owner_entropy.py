"""Draws belong to owners: a function of (seed, id, number of the draw), whatever the order or the batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import pdqs
from pdqs.model.errors import InputError, RowError
from pdqs.privacy import philox as module
from pdqs.privacy.philox import philox_words
from pdqs.privacy.randomiser import draw_reports
from pdqs.scale import OwnerEntropy, number_ids

WORD64 = 2**64


def reference(counter: list[int], key: list[int], *, bits: int, rounds: int = 10) -> list[int]:
    """Philox4xW-10 on Python's integers, straight from its definition, for W = 32 or 64."""
    size = 2**bits
    multipliers, steps = {
        32: ((0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)),
        64: ((0xD2E7470EE14C6C93, 0xCA5A826395121157), (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)),
    }[bits]
    x, k = list(counter), list(key)
    for _ in range(rounds):
        first, second = multipliers[0] * x[0], multipliers[1] * x[2]
        x = [second // size ^ x[1] ^ k[0], second % size, first // size ^ x[3] ^ k[1], first % size]
        k = [(k[0] + steps[0]) % size, (k[1] + steps[1]) % size]
    return x


def vectorised(number: int, block: int, key: int) -> list[int]:
    return philox_words(np.array([number], dtype=np.uint64), block, key)[:, 0].tolist()


@given(st.lists(st.integers(0, WORD64 - 1), min_size=4, max_size=4), st.integers(0, WORD64**2 - 1))
def test_the_reference_is_numpys_philox_at_64_bits(counter: list[int], key: int) -> None:
    as_one = sum(word << 64 * place for place, word in enumerate(counter))
    # NumPy steps its counter before it uses it.
    theirs = np.random.Philox(counter=(as_one - 1) % 2**256, key=key).random_raw(4)
    assert reference(counter, [key % WORD64, key // WORD64], bits=64) == theirs.tolist()


@given(st.integers(0, WORD64 - 1), st.integers(0, 2**32 - 1), st.integers(0, WORD64 - 1))
def test_the_vectorised_words_are_the_references_at_32_bits(number: int, block: int, key: int) -> None:
    expected = reference([number % 2**32, number >> 32, block, 0], [key % 2**32, key >> 32], bits=32)
    assert vectorised(number, block, key) == expected


def test_nine_rounds_are_not_taken_for_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDS", 9)
    assert vectorised(1, 2, 3) != reference([1, 0, 2, 0], [3, 0], bits=32)


def test_long_and_short_batches_give_the_same_words() -> None:
    numbers = np.arange(20_000, dtype=np.uint64) * np.uint64(2**33 + 1)
    whole = philox_words(numbers, 5, 99)
    assert all((philox_words(numbers[i : i + 7], 5, 99) == whole[:, i : i + 7]).all() for i in (0, 8190, 19_993))


@given(st.permutations(range(12)), st.integers(1, 11), st.sampled_from([2, 3, 2**31 - 1, 2**31 + 1]))
def test_reports_do_not_depend_on_order_or_batches(order: list[int], cut: int, domain_size: int) -> None:
    """A domain of 2^31 + 1 values refuses half of all dice, so owners draw again, some of them past one block."""
    ids, codes = number_ids([f"owner {i}" for i in range(12)]), np.arange(12) % 2
    numerators = np.full(12, 2**31, dtype=np.uint32)

    def drawn(places: np.ndarray) -> np.ndarray:
        return draw_reports(codes[places], numerators[places], domain_size, OwnerEntropy(5, ids[places]))[0]

    together = drawn(np.arange(12))
    shuffled = np.array(order)
    split = np.concatenate([drawn(shuffled[:cut]), drawn(shuffled[cut:])])
    assert (split == together[shuffled]).all()


def test_a_shared_stream_of_words_would_depend_on_order() -> None:
    """The negative control: the core's seeded generator, which knows nothing of owners."""
    offers = pdqs.clear(np.full(64, 0.5), pdqs.presets.sound(query=pdqs.Count(), budget=32.0))
    values = np.arange(64) % 2
    straight = pdqs.randomise(values, offers, np.random.default_rng(1)).codes
    turned = pdqs.randomise(values[::-1], offers, np.random.default_rng(1)).codes[::-1]
    assert (straight != turned).any()


def uniformity(words: np.ndarray) -> float:
    """The chi-squared statistic of the words' top 8 bits."""
    observed = np.bincount(words >> 24, minlength=256)
    return float(((observed - words.size / 256) ** 2 / (words.size / 256)).sum())


def correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Correlation in standard errors."""
    return float(np.corrcoef(left, right)[0, 1] * np.sqrt(left.size))


def test_coins_and_dice_of_neighbouring_owners_are_uniform_and_unrelated() -> None:
    """False alarms: 7 tests at about 1 in 10^6 each; the seed is fixed, so it either holds or does not."""
    words = philox_words(np.arange(200_000, dtype=np.uint64), 0, 12345)
    assert all(uniformity(word) < chi2.isf(1e-6, 255) for word in words)
    assert abs(correlation(words[0], words[1])) < 5
    assert abs(correlation(words[0, :-1], words[0, 1:])) < 5
    assert abs(correlation(words[0], philox_words(np.arange(200_000, dtype=np.uint64), 0, 12346)[0])) < 5


def test_too_few_rounds_are_caught_as_not_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDS", 2)
    words = philox_words(np.arange(200_000, dtype=np.uint64), 0, 12345)
    assert max(uniformity(word) for word in words) > chi2.isf(1e-6, 255)


def test_whole_numbers_stand_for_themselves_and_text_for_its_bytes() -> None:
    assert number_ids(pa.array([7, -1], pa.int32())).tolist() == [7, WORD64 - 1]
    assert (number_ids(["ann", "bob"]) == number_ids(pa.array([b"ann", b"bob"]))).all()
    assert (number_ids(["ann", "bob"]) == number_ids(pa.array(["ann", "bob"]).dictionary_encode())).all()


@given(st.lists(st.text(max_size=30), unique=True, min_size=1, max_size=30))
def test_different_texts_have_different_numbers_whoever_stands_beside_them(texts: list[str]) -> None:
    numbers = number_ids(pa.array(texts, pa.string())).tolist()
    assert len(set(numbers)) == len(texts)
    assert numbers == [int(number_ids(pa.array([text], pa.string()))[0]) for text in texts]


def test_an_owner_without_an_id_is_named() -> None:
    with pytest.raises(RowError, match="row 2, column 'owner': the owner has no id"):
        number_ids(pa.array(["a", None]))
    with pytest.raises(InputError, match="whole numbers, text or bytes, not double"):
        number_ids(pa.array([0.5]))
    with pytest.raises(InputError, match="whole numbers, text or bytes, not float"):
        number_ids([0.5])


def test_a_seed_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        OwnerEntropy(2**64, number_ids([1]))
