"""Public bucket maps: any two values share a bucket with exactly the chance that the estimates reckon with."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from pdqs.model.arrays import Integers
from pdqs.privacy.bucket_maps import buckets_of, cell_sums, collision, first_places, modulus, multipliers, sizes


def shared(size: int, buckets: int, maps: tuple[Integers, Integers]) -> dict[int, int]:
    """How often each pair of codes shares a bucket, over these maps: how many pairs have each count."""
    held = np.array([buckets_of(np.full(maps[0].size, t), maps, size, buckets) for t in range(size)])
    counts = [int((held[i] == held[j]).sum()) for i, j in combinations(range(size), 2)]
    return {count: counts.count(count) for count in set(counts)}


def every_map(size: int) -> tuple[Integers, Integers]:
    p = modulus(size)
    a, b = np.meshgrid(np.arange(1, p), np.arange(p))
    return a.ravel(), b.ravel()


@pytest.mark.parametrize(("size", "buckets"), [(5, 2), (10, 4), (13, 3), (24, 9)])
def test_over_all_maps_any_two_values_share_a_bucket_with_chance_c_exactly(size: int, buckets: int) -> None:
    p = modulus(size)
    assert shared(size, buckets, every_map(size)) == {
        round(collision(size, buckets) * p * (p - 1)): comb(size, 2),
    }


def test_maps_that_only_shift_are_caught() -> None:
    a, b = every_map(13)
    assert len(shared(13, 3, (np.ones_like(a), b))) > 1


def test_buckets_are_near_equal_and_hold_every_place_once() -> None:
    for size in (2, 10, 48, 1000):
        for buckets in (2, 3, min(9, size)):
            if buckets <= size:
                found = sizes(size, buckets)
                assert found.sum() == modulus(size)
                assert found.max() - found.min() <= 1
                places = np.arange(modulus(size))
                held = buckets_of(places, (np.ones_like(places), np.zeros_like(places)), size, buckets)
                assert np.bincount(held).tolist() == found.tolist()
                assert first_places(size, buckets)[held].tolist() == [places[held == j].min() for j in held]


def test_seeds_give_every_map_about_equally_often() -> None:
    """Chi-squared over the 20 maps of p = 5, 20,000 seeds; beyond 60 with 19 degrees: 1 in 250,000."""
    a, b = multipliers(np.arange(20_000, dtype=np.uint32), 5)
    seen = np.bincount((a - 1) * 5 + b, minlength=20)
    assert ((seen - 1000.0) ** 2 / 1000.0).sum() < 60


def test_cell_sums_add_each_report_to_the_codes_of_its_bucket() -> None:
    rng = np.random.default_rng(3)
    for size, buckets in ((10, 3), (48, 4), (101, 9)):
        maps = multipliers(rng.integers(0, 2**32, 50, dtype=np.uint32), size)
        reports, weights = rng.integers(0, buckets, 50), rng.integers(1, 100, 50).astype(np.float64)
        slow = np.zeros(size)
        for j in range(size):
            slow[j] = weights[buckets_of(np.full(50, j), maps, size, buckets) == reports].sum()
        assert cell_sums(reports, weights, maps, size, buckets).tolist() == slow.tolist()
