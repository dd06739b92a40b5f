"""Every question keeps exactly the eps of its own kappa, whatever is asked; enumeration catches broken devices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pdqs.model.arrays import Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import InvariantError
from pdqs.model.questions import Asking, Bucket, Level, Side, Value
from pdqs.privacy.asking import ask, ask_buckets, ask_sides, round_at_random
from pdqs.privacy.entropy import Entropy, SeededEntropy
from pdqs.privacy.kernels import Device, exact_epsilon, kernel
from pdqs.privacy.loss import epsilon
from pdqs.privacy.randomiser import dice_limit, draw_dice, draw_reports

BITS = 4
WORDS = 2**BITS


def words(numerator: int, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    return np.full(count, numerator, dtype=np.uint32)


def device_of(question: Asking, numerator: int, bits: int = BITS) -> Device:
    def device(codes: Integers, entropy: Entropy) -> Integers:
        return ask(question, codes, words(numerator, codes.size), entropy, bits=bits)[0]

    return device


def law_of(question: Asking, numerator: int) -> Integers:
    calls = 3 if isinstance(question, Level) else 2
    return kernel(device_of(question, numerator), question.domain.size, question.kappa, bits=BITS, calls=calls)


def promised(numerator: int, kappa: int, bits: int = BITS) -> float:
    return float(epsilon(np.array(numerator / 2**bits), kappa))


def every_question() -> Iterator[Asking]:
    """All levels, all sides and many buckets of domains of 2 to 13 values."""
    for size in (2, 3, 5, 8, 13):
        domain = Domain.grid(0, size - 1, 1)
        yield Value(domain)
        yield from (Level(domain, levels) for levels in range(2, size + 1))
        yield from (Side(domain, code) for code in range(size - 1))
        yield from (Bucket(domain, g, seed) for g in range(2, size + 1) for seed in range(3))


def test_no_question_exceeds_the_epsilon_of_its_kappa_and_levels_and_sides_meet_it() -> None:
    for question in every_question():
        for numerator in (0, 1, 7, 15):
            found = exact_epsilon(law_of(question, numerator))
            assert found <= promised(numerator, question.kappa) + 1e-12, question
            if not isinstance(question, Bucket):  # a bucket may hold all values, or none
                assert found == pytest.approx(promised(numerator, question.kappa), abs=1e-12)


def test_whatever_map_a_hostile_market_sends_the_randomiser_keeps_epsilon() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        size, codes = int(rng.integers(2, 9)), int(rng.integers(2, 7))
        hostile, numerator = rng.integers(0, codes, size), int(rng.integers(1, WORDS))

        def device(
            values: Integers, entropy: Entropy, to: Any = hostile, n: Any = numerator, k: Any = codes
        ) -> Integers:  # defaults bind the loop's variables
            return draw_reports(to[values], words(n, values.size), k, entropy, bits=BITS)[0]

        law = kernel(device, size, codes, bits=BITS, calls=2)
        assert exact_epsilon(law) <= promised(numerator, codes) + 1e-12


def means_kept(device: Device, size: int, levels: int) -> bool:
    """Whether the level's mean is t (g - 1)/(k - 1) for every value t, in whole numbers."""
    law = kernel(device, size, levels, bits=BITS, calls=1)
    total = law.sum(axis=1)
    return bool((law @ np.arange(levels) * (size - 1) == np.arange(size) * (levels - 1) * total).all())


def test_rounding_to_levels_keeps_every_value_on_average_exactly() -> None:
    for size in range(2, 17):
        for levels in range(2, size + 1):

            def device(codes: Integers, entropy: Entropy, k: int = size, g: int = levels) -> Integers:
                return round_at_random(codes, k, g, entropy, bits=BITS)

            assert means_kept(device, size, levels), (size, levels)


def test_a_device_that_rounds_with_a_wrong_chance_is_caught() -> None:
    def one_face_too_many(codes: Integers, entropy: Entropy) -> Integers:
        low, over = np.divmod(codes * 2, 6)
        return np.minimum(low + (draw_dice(codes.size, 6, entropy, bits=BITS) <= over), 2)

    def to_the_nearest(codes: Integers, entropy: Entropy) -> Integers:
        draw_dice(codes.size, 6, entropy, bits=BITS)
        return np.rint(codes / 3).astype(np.int64)

    assert not means_kept(one_face_too_many, 7, 3)
    assert not means_kept(to_the_nearest, 7, 3)


def test_the_law_of_a_level_is_rounding_then_randomised_response() -> None:
    size, levels, numerator = 8, 3, 5
    law = law_of(Level(Domain.grid(0, size - 1, 1), levels), numerator)
    rounding, dice = dice_limit(size - 1, BITS), dice_limit(levels, BITS)
    for code in range(size):
        low, over = divmod(code * (levels - 1), size - 1)
        expected = [(WORDS - numerator) * rounding * dice // levels] * levels
        expected[low] += numerator * dice * rounding * (size - 1 - over) // (size - 1)
        if over:
            expected[low + 1] += numerator * dice * rounding * over // (size - 1)
        assert law[code].tolist() == expected


def test_a_device_that_prices_another_kappa_is_caught() -> None:
    size, numerator = 12, 10
    law = kernel(device_of(Value(Domain.grid(0, size - 1, 1)), numerator), size, size, bits=BITS, calls=2)
    assert exact_epsilon(law) == pytest.approx(promised(numerator, size))
    assert exact_epsilon(law) > promised(numerator, 2) + 1.0  # what a yes-or-no question at the same q would cost


def two_sides(bits: int, numerator: int, *, reuse: bool) -> float:
    """The loss of answering side(0) and side(2) of 4 values, with one coin and die or with fresh ones."""
    domain = Domain.grid(0, 3, 1)

    class Again:
        """The words of the first question, given out again."""

        def __init__(self, entropy: Entropy) -> None:
            self.kept = [entropy.words(2 ** (bits * 2)) for _ in range(2)]
            self.given = 0

        def words(self, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
            assert count == self.kept[0].size
            self.given += 1
            return self.kept[(self.given - 1) % 2]

    def device(codes: Integers, entropy: Entropy) -> Integers:
        source = Again(entropy) if reuse else entropy
        first = ask(Side(domain, 0), codes, words(numerator, codes.size), source, bits=bits)[0]
        second = ask(Side(domain, 2), codes, words(numerator, codes.size), source, bits=bits)[0]
        return 2 * first + second

    return exact_epsilon(kernel(device, 4, 4, bits=bits, calls=2 if reuse else 4))


def test_words_reused_for_a_second_question_are_caught_and_fresh_words_add_up() -> None:
    assert two_sides(3, 5, reuse=True) == math.inf
    assert two_sides(3, 5, reuse=False) <= 2 * promised(5, 2, bits=3) + 1e-12


def test_a_batch_of_sides_or_buckets_draws_what_each_owner_alone_would() -> None:
    """Value by value: the same words, one owner at a time, in the order of a batch of one."""
    size, n = 101, 40
    rng = np.random.default_rng(5)
    codes, thresholds = rng.integers(0, size, n), rng.integers(0, size - 1, n)
    seeds, q = rng.integers(0, 2**32, n, dtype=np.uint32), rng.integers(0, 2**32, n, dtype=np.uint32)
    domain = Domain.grid(0, size - 1, 1)
    drawn = rng.integers(0, 2**32, (2, n), dtype=np.uint32)

    class Column:
        def __init__(self, rows: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]) -> None:
            self.rows = iter(rows)

        def words(self, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
            row = next(self.rows)
            assert row.size == count
            return row

    sides, _ = ask_sides(thresholds, codes, q, size, Column(drawn))
    buckets, _ = ask_buckets(seeds, 4, codes, q, size, Column(drawn))
    for i in range(n):
        one = slice(i, i + 1)
        alone: list[Asking] = [Side(domain, int(thresholds[i])), Bucket(domain, 4, int(seeds[i]))]
        found = [int(ask(question, codes[one], q[one], Column(drawn[:, one]))[0][0]) for question in alone]
        assert found == [sides[i], buckets[i]]


def test_a_value_outside_the_domain_and_a_side_outside_it_are_never_answered() -> None:
    entropy = SeededEntropy(np.random.default_rng(1))
    inside, q = np.array([1]), words(5, 1)
    for codes in (np.array([-1]), np.array([10])):
        with pytest.raises(InvariantError, match="outside the domain"):
            ask(Value(Domain.grid(0, 9, 1)), codes, q, entropy)
    for threshold in (-1, 9):
        with pytest.raises(InvariantError, match="side lies outside"):
            ask_sides(np.array([threshold]), inside, q, 10, entropy)


def test_a_level_of_a_million_values_costs_no_more_than_one_of_ten() -> None:
    entropy = SeededEntropy(np.random.default_rng(1))
    size = 1_000_000
    codes = np.full(20_000, 250_000)
    levels = round_at_random(codes, size, 3, entropy)
    # Half-way up the first of two gaps: a fair coin. Six standard deviations: a false alarm in 1 of 500 million seeds.
    assert abs(levels.mean() - 0.5) < 6 * 0.5 / math.sqrt(codes.size)
