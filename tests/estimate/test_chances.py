"""Reports drawn by lottery: exact sums from any split, and estimates that are right whatever prices say."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pdqs.estimate.chances import ChanceTally, sampled, tally_chances
from pdqs.estimate.functionals import CumulativeShares, NumberMean, Shares
from pdqs.estimate.strata import GAP, cut, summarise_prices
from pdqs.model.errors import EstimateError

Q = 3 / 4


def columns(rng: np.random.Generator, n: int = 600, k: int = 4, share: float = 0.3) -> Any:
    """A market where the dear hold the high values, with a q that differs from owner to owner."""
    bids = rng.random(n)
    chances = np.floor(np.minimum(1.0, 0.3 / np.sqrt(bids + 1e-3)) * 2**32) / 2**32
    values = np.minimum((bids * k * share * 2).astype(np.int64), k - 1)
    asked = rng.random(n) < chances
    arrived = asked & (rng.random(n) < 0.8)
    q = np.where(rng.random(n) < 0.5, 0.75, 0.625)
    codes = np.where(rng.random(n) < q, values, rng.integers(0, k, n))
    return {"bids": bids, "chances": chances, "q": q, "asked": asked, "codes": codes, "arrived": arrived}


def strata_of(market: Any) -> Any:
    return cut(summarise_prices(market["bids"], market["chances"], market["arrived"]))


def same(one: ChanceTally, other: ChanceTally) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(ChanceTally))


def test_any_split_of_the_market_gives_the_same_tally_bit_for_bit(rng: np.random.Generator) -> None:
    market = columns(rng)
    strata = strata_of(market)
    whole = tally_chances(strata, **market, domain_size=4)
    order = rng.permutation(600)
    parts = [
        tally_chances(strata, **{name: column[some] for name, column in market.items()}, domain_size=4)
        for some in np.array_split(order, 7)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    assert same(merged, whole)
    assert not same(merged, parts[0])


def test_sums_are_those_of_slow_fractions(rng: np.random.Generator) -> None:
    market = columns(rng, 200)
    strata = strata_of(market)
    found = tally_chances(strata, **market, domain_size=4)
    number = strata.of(market["bids"], market["chances"])
    slow = [[0] * 4 for _ in range(len(strata))]
    steep = [0] * len(strata)
    for i in np.flatnonzero(market["arrived"] & (number != GAP)):
        w, lift = 1.0 / market["chances"][i], 1.0 / market["q"][i]
        slow[number[i]][market["codes"][i]] += int(Fraction(w * lift) * 2**28)
        steep[number[i]] += int(Fraction((w * lift) ** 2) * 2**28)
    assert found.lifts == tuple(tuple(row) for row in slow)
    assert found.steep == tuple((total,) for total in steep)


def test_the_smallest_chances_and_q_still_add_up_exactly() -> None:
    n = 5000
    market = {
        "bids": np.full(n, 0.5),
        "chances": np.full(n, 2.0**-20),
        "q": np.full(n, 2.0**-12),
        "asked": np.ones(n, dtype=bool),
        "codes": np.zeros(n, dtype=np.int64),
        "arrived": np.ones(n, dtype=bool),
    }
    assert tally_chances(strata_of(market), **market, domain_size=2).steep == ((n << (64 + 28),),)


@pytest.mark.parametrize("statistic", [Shares(4), CumulativeShares(4), NumberMean(np.array([0.0, 1.0, 2.0, 5.0]))])
def test_the_estimate_is_the_weighted_mean_of_reports_made_right(statistic: Any, rng: np.random.Generator) -> None:
    market = columns(rng)
    strata = strata_of(market)
    found = sampled(statistic, tally_chances(strata, **market, domain_size=4))
    number = strata.of(market["bids"], market["chances"])
    inside = number != GAP
    slow = np.zeros_like(statistic.centre)
    for h in range(len(strata)):
        told = (number == h) & market["arrived"]
        one_each = np.eye(4)[market["codes"][told]]
        y = statistic.centre + np.array([statistic.first(row) for row in one_each]) / market["q"][told][:, None]
        slow += (number == h).sum() / inside.sum() * np.average(y, axis=0, weights=1 / market["chances"][told])
    np.testing.assert_allclose(found.estimate, slow, rtol=1e-6, atol=1e-7)


def test_the_response_rate_of_a_stratum_scales_its_weights_to_its_owners(rng: np.random.Generator) -> None:
    """N_h = sum 1/r estimates n_h. Over 10 strata: 5 standard errors at this seed."""
    market = columns(rng, 20_000)
    strata = strata_of(market)
    found = tally_chances(strata, **market, domain_size=4)
    weight = sampled(Shares(4), found).weight
    assert weight == pytest.approx(found.owners, rel=0.12)
    without = sampled(Shares(4), replace(found, asked=found.reported)).weight  # negative control: no rate
    assert (without < 0.9 * found.owners).all()


def test_the_estimate_is_right_on_average_when_prices_tell_and_plain_averages_are_not() -> None:
    """300 markets: 5 standard errors, so a false alarm in 2 million."""
    rng = np.random.default_rng(5)
    truth, found, plain = [], [], []
    for _ in range(300):
        market = columns(rng, 600, k=2, share=0.8)
        values = np.minimum((market["bids"] * 2 * 0.8 * 2).astype(np.int64), 1)
        tally = tally_chances(strata_of(market), **market, domain_size=2)
        told = market["arrived"]
        truth.append(values.mean())
        found.append(sampled(Shares(2), tally).estimate[1])
        plain.append(0.5 + np.mean((market["codes"][told] - 0.5) / market["q"][told]))
    error = np.array(found) - truth
    noise = 5 * error.std() / np.sqrt(error.size)
    assert abs(error.mean()) < noise
    assert abs(np.mean(np.array(plain) - truth)) > noise  # negative control


def test_information_with_equal_weights_is_the_sum_of_squared_q() -> None:
    n = 400
    market = {
        "bids": np.full(n, 0.5),
        "chances": np.full(n, 0.25),
        "q": np.full(n, Q),
        "asked": np.arange(n) < 100,
        "codes": np.zeros(n, dtype=np.int64),
        "arrived": np.arange(n) < 100,
    }
    found = sampled(Shares(2), tally_chances(strata_of(market), **market, domain_size=2))
    assert found.information == pytest.approx(100 * Q * Q)


@pytest.mark.parametrize(
    ("column", "value", "words"), [("asked", False, "was not asked"), ("chances", 0.0, "chance of being asked is 0")]
)
def test_a_report_that_cannot_be_is_refused_by_row(
    column: str, value: float, words: list[int], rng: np.random.Generator
) -> None:
    market = columns(rng, 50)
    strata = strata_of(market)
    row = int(np.flatnonzero(market["arrived"])[2])
    market[column][row] = value
    with pytest.raises(EstimateError, match=f"row {row + 1}.*{words}"):
        tally_chances(strata, **market, domain_size=4)


def test_no_report_gives_no_rows_and_no_information(rng: np.random.Generator) -> None:
    market = columns(rng, 50)
    market["arrived"][:] = False
    tally = tally_chances(strata_of(market), **market, domain_size=4)
    assert sampled(Shares(4), tally).information == 0.0
    assert tally.gap == 1.0
