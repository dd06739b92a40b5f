"""The local randomiser: its distribution by enumeration, its sources of randomness, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import pdqs
from pdqs.model.errors import InputError
from pdqs.privacy.entropy import SeededEntropy, SystemEntropy
from pdqs.privacy.loss import epsilon_upper
from pdqs.privacy.randomiser import dice_limit, draw_dice, draw_reports, q_numerators

BITS = 7


@dataclass
class Scripted:
    """Words that were written down beforehand."""

    batches: list[np.ndarray]
    taken: int = field(default=0)

    def words(self, count: int) -> Any:
        batch = self.batches[self.taken]
        self.taken += 1
        assert batch.size == count
        return batch.astype(np.uint32)


def exact_distribution(value: int, numerator: int, k: int) -> list[Fraction]:
    """The chance of each report, by going through every coin word and every accepted die word of BITS bits."""
    dice = np.arange(dice_limit(k, BITS))
    coins = np.arange(2**BITS)
    every_coin, every_die = (grid.ravel() for grid in np.meshgrid(coins, dice, indexing="ij"))
    codes = np.full(every_coin.size, value)
    numerators = np.full(every_coin.size, numerator, dtype=np.uint32)
    reports, _ = draw_reports(codes, numerators, k, Scripted([every_coin, every_die]), bits=BITS)
    return [Fraction(int(count), every_coin.size) for count in np.bincount(reports, minlength=k)]


@pytest.mark.parametrize("k", range(2, 65))
def test_the_distribution_is_exactly_the_stated_one(k: int) -> None:
    for numerator in (0, 1, 37, 2 ** (BITS - 1), 2**BITS - 1):
        q = Fraction(numerator, 2**BITS)
        value = (7 * k) // 11
        expected = [q * (j == value) + (1 - q) / k for j in range(k)]
        assert exact_distribution(value, numerator, k) == expected


@pytest.mark.parametrize("k", range(2, 65))
def test_no_likelihood_ratio_exceeds_e_to_the_epsilon_of_the_offer(k: int) -> None:
    for numerator in (1, 37, 100, 2**BITS - 1):
        one, other = (exact_distribution(value, numerator, k) for value in (0, k - 1))
        worst = max(a / b for a, b in zip(one, other, strict=True))
        eps = float(epsilon_upper(np.array(numerator / 2**BITS), k))
        assert float(worst) <= np.exp(eps) * (1 + 1e-15)
        assert float(worst) > np.exp(eps * 0.98)  # negative control: an eps two per cent smaller would be exceeded


def test_a_die_that_is_refused_is_thrown_again_and_the_others_kept() -> None:
    refused = dice_limit(3)  # the one word that 32 bits leave over for k = 3
    entropy = Scripted([np.array([1, refused, 5]), np.array([refused]), np.array([7])])
    assert draw_dice(3, 3, entropy).tolist() == [1, 1, 2]
    assert entropy.taken == 3


def test_a_batch_of_one_is_the_definition() -> None:
    coin, die = np.array([2**31 - 1]), np.array([11])
    chosen, selected = draw_reports(np.array([3]), np.array([2**31], dtype=np.uint32), 5, Scripted([coin, die]))
    assert (chosen.tolist(), selected.tolist()) == ([3], [True])
    chosen, selected = draw_reports(np.array([3]), np.array([2**31 - 1], dtype=np.uint32), 5, Scripted([coin, die]))
    assert (chosen.tolist(), selected.tolist()) == ([1], [False])


def offers_at(q: float, owners: int, domain: pdqs.Domain) -> pdqs.Offers:
    q = np.floor(q * 2**32) / 2**32
    return pdqs.Offers(
        bids=np.zeros(owners),
        q=np.full(owners, q),
        epsilon=np.zeros(owners),
        payment_micros=np.zeros(owners, dtype=np.int64),
        domain=domain,
        budget_micros=0,
    )


def misfit(reports: pdqs.Reports, value: int, q: float, k: int) -> float:
    """Pearson's statistic of the reports against the stated distribution."""
    seen = np.bincount(reports.codes, minlength=k)
    expected = seen.sum() * (q * (np.arange(k) == value) + (1 - q) / k)
    return float(((seen - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("k", [2, 3, 48])
@pytest.mark.parametrize("source", [SystemEntropy(), np.random.default_rng(3)], ids=["secure", "seeded"])
def test_both_sources_draw_from_the_stated_distribution(k: int, source: Any) -> None:
    """False-alarm rate 1e-6 a case: the secure source cannot be seeded, so it must not be trusted to luck."""
    domain = pdqs.Domain.grid(1, k, 1)
    offers = offers_at(0.4, 300_000, domain)
    reports = pdqs.randomise(np.full(300_000, 2), offers, source)
    limit = chi2.isf(1e-6, k - 1)
    assert misfit(reports, 1, 0.4, k) < limit
    assert misfit(reports, 1, 0.43, k) > limit  # negative control: a coin three points heavier is told apart


def test_the_seeded_source_repeats_itself() -> None:
    offers = offers_at(0.5, 1000, pdqs.Domain.binary())
    first, second = (pdqs.randomise(np.ones(1000), offers, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first.codes, second.codes)


def test_a_single_value_can_be_reported_securely() -> None:
    reports, selected = draw_reports(np.array([1]), q_numerators(np.array([0.5])), 2, SystemEntropy())
    assert reports.size == selected.size == 1


def test_words_are_uniform_over_their_whole_width() -> None:
    """Each of 32 bits is set in half of 200,000 words, within 6 standard errors (false alarms: 6e-8)."""
    for entropy in (SystemEntropy(), SeededEntropy(np.random.default_rng(1))):
        words = entropy.words(200_000)
        for bit in range(32):
            share = float(((words >> np.uint32(bit)) & 1).mean())
            assert abs(share - 0.5) < 6 * 0.5 / np.sqrt(words.size)


def test_a_q_between_two_multiples_is_our_own_fault() -> None:
    with pytest.raises(AssertionError, match="multiple of 2"):
        q_numerators(np.array([1 / 3]))


def test_values_and_offers_of_different_markets_are_refused() -> None:
    with pytest.raises(InputError, match="2 values for 3 offers"):
        pdqs.randomise([0, 1], offers_at(0.5, 3, pdqs.Domain.binary()), np.random.default_rng(0))


def test_missing_reports_show_as_missing() -> None:
    reports = pdqs.received([1, None, float("nan"), 0], pdqs.Domain.binary())
    assert reports.arrived.tolist() == [True, False, False, True]
    assert np.isnan(reports.values[1])
    named = pdqs.received(["a", None, "b"], pdqs.Domain.categories(["a", "b"]))
    assert named.values.tolist() == ["a", None, "b"]
