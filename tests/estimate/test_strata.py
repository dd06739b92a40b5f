"""Strata by price: equal sums of chance, five reports each, and the same from any split of the market."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.estimate import strata as strata_of_prices
from pdqs.estimate.strata import GAP, PriceSummary, Strata, cut, response_trend, summarise_prices


def market(rng: np.random.Generator, n: int = 2000) -> Any:
    bids = rng.random(n).round(3)
    chances = np.floor(np.minimum(1.0, 0.1 / np.sqrt(bids + 1e-3)) * 2**32) / 2**32
    return bids, chances, rng.random(n) < chances


def same(one: PriceSummary, other: PriceSummary) -> bool:
    columns = ("prices", "owners", "chances", "asked", "reports")
    return one.dearest == other.dearest and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in columns
    )


def test_strata_have_equal_sums_of_chance_up_to_one_price(rng: np.random.Generator) -> None:
    bids, chances, heard = market(rng)
    strata = cut(summarise_prices(bids, chances, heard))
    number = strata.of(bids, chances)
    sums = np.array([chances[number == h].sum() for h in range(len(strata))])
    at_one_price = max(chances[bids == bid].sum() for bid in np.unique(bids))
    assert len(strata) == min(int(chances[number != GAP].sum() // 30), 10)
    assert np.ptp(sums) <= 2 * at_one_price


def test_owners_of_one_price_share_a_stratum(rng: np.random.Generator) -> None:
    bids, chances, heard = market(rng)
    number = cut(summarise_prices(bids, chances, heard)).of(bids, chances)
    assert all(np.unique(number[bids == bid]).size == 1 for bid in np.unique(bids))


def test_every_stratum_has_five_reports_and_there_are_fewer_when_few_reported(rng: np.random.Generator) -> None:
    bids, chances, _ = market(rng)
    for heard_of in (4, 9, 23, 60):
        heard = np.zeros(bids.size, dtype=bool)
        heard[rng.choice(bids.size, heard_of, replace=False)] = True
        strata = cut(summarise_prices(bids, chances, heard))
        counts = np.bincount(strata.of(bids, chances)[heard], minlength=len(strata))
        assert len(strata) == 1 or counts.min() >= 5
        assert len(strata) <= max(heard_of // 5, 1)


def test_any_split_gives_the_same_summary_on_bids_and_on_bins(rng: np.random.Generator) -> None:
    bids, chances, heard = market(rng)
    for grain in (0.0, 2.0**-6):
        whole = summarise_prices(bids, chances, heard, grain=grain)
        cuts = np.sort(rng.integers(0, bids.size, 5))
        parts = [
            summarise_prices(*batch, grain=grain)
            for batch in zip(np.split(bids, cuts), np.split(chances, cuts), np.split(heard, cuts), strict=True)
        ]
        merged = parts[-1]
        for part in parts[:-1]:
            merged = merged.merged(part)
        assert same(merged, whole)


def test_those_dearer_than_any_report_or_without_a_chance_are_in_the_gap() -> None:
    bids, chances = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.0, 0.5, 0.5])
    summary = summarise_prices(bids, chances, np.array([True, False, True, False]))
    assert cut(summary).of(bids, chances).tolist() == [0, GAP, 0, GAP]


def test_without_a_report_everyone_is_in_the_gap(rng: np.random.Generator) -> None:
    bids, chances, heard = market(rng, 50)
    strata = cut(summarise_prices(bids, chances, np.zeros_like(heard)))
    assert (strata.of(bids, chances) == GAP).all()


@pytest.mark.parametrize("price", [0.0, 0.3, 1.0])
def test_a_market_of_equal_bids_is_one_stratum(price: float) -> None:
    bids, chances = np.full(1000, price), np.full(1000, 0.5)
    strata = cut(summarise_prices(bids, chances, np.ones(1000, dtype=bool)))
    assert len(strata) == 1
    assert (strata.of(bids, chances) == 0).all()


def test_a_bound_belongs_to_the_dearer_stratum() -> None:
    assert Strata(np.array([0.5]), 1.0).of(np.array([0.5]), np.array([1.0])).tolist() == [1]


def test_the_dear_beyond_a_jump_from_whom_few_were_heard_are_set_aside() -> None:
    bids = np.array([0.1] * 40 + [0.9] * 20)
    chances = np.array([0.5] * 40 + [0.1] * 20)
    heard = np.arange(60) % 2 == 0
    heard[40:] = np.arange(20) < 2
    strata = cut(summarise_prices(bids, chances, heard))
    assert strata.trimmed
    assert strata.of(np.array([0.1, 0.9]), np.array([0.5, 0.1])).tolist() == [0, GAP]


def test_the_dear_beyond_a_jump_from_whom_enough_were_heard_are_a_stratum() -> None:
    bids = np.array([0.1] * 40 + [0.9] * 20)
    chances = np.array([0.5] * 40 + [0.1] * 20)
    heard = np.ones(60, dtype=bool)
    strata = cut(summarise_prices(bids, chances, heard))
    assert not strata.trimmed
    assert strata.of(np.array([0.1, 0.9]), np.array([0.5, 0.1])).tolist() == [0, 1]


# --- reports that are missing by price ------------------------------------------------------------------------------


def trend(asked: list[int], reports: list[int]) -> float:
    ones = np.ones(len(asked), dtype=np.int64)
    summary = PriceSummary(
        prices=np.arange(len(asked)) / 10,
        owners=ones,
        chances=ones << 32,
        asked=np.array(asked),
        reports=np.array(reports),
        dearest=1.0,
    )
    return response_trend(summary, np.ones(len(asked), dtype=bool))


def test_the_trend_of_the_response_is_that_of_cochran_and_armitage() -> None:
    assert trend([10, 10], [10, 10]) == trend([10, 10], [0, 0]) == trend([10], [3]) == trend([10, 10], [5, 5]) == 0.0
    # Of two groups it is the difference of their shares over its pooled standard error.
    assert trend([20, 20], [18, 6]) == pytest.approx(-0.6 / np.sqrt(0.6 * 0.4 * 2 / 20))
    assert trend([20, 20], [6, 18]) == -trend([20, 20], [18, 6])


def covered_where_the_dear_answer_less(rounds: int) -> int:
    """80 owners whose prices are quarters: the dearest two fifths hold the trait, six in ten of the dear are silent."""
    rng, covered = np.random.default_rng(5), 0
    terms = pdqs.Terms(query=pdqs.Count(), budget=72.0)
    for _ in range(rounds):
        bids = rng.integers(0, 5, 80) * 0.25
        values = np.argsort(np.argsort(bids + 1e-9 * rng.random(80))) >= 48
        offers = pdqs.clear(bids, terms, draws=rng)
        there = rng.random(80) > np.where(bids >= np.median(bids), 0.6, 0.0)
        found = pdqs.answer(pdqs.randomise(values, offers, rng).only(there), offers, terms)
        assert found.interval is not None
        covered += bool(found.interval[0] <= values.sum() <= found.interval[1])
    return covered


def test_an_interval_covers_where_the_dear_answer_less_often_than_the_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: .979 of 2,000 rounds, so that fewer than 286 of 300 cover in one of 500 runs with other seeds. Where the
    dear need five reports to be a stratum, as they did, .93 cover, and 286 of 300 in one of 15 runs; where strata do
    not heed who is silent, .71."""
    assert covered_where_the_dear_answer_less(300) >= 286
    monkeypatch.setattr(strata_of_prices, "FEWEST_REPORTS", strata_of_prices.LEAST_REPORTS)
    assert covered_where_the_dear_answer_less(300) < 286
    monkeypatch.setattr(strata_of_prices, "TELLING_TREND", np.inf)
    assert covered_where_the_dear_answer_less(80) < 66


def silent(dear: int) -> PriceSummary:
    """20 cheap owners who all reported, and 20 dear ones of whom so many did."""
    bids, chances = np.repeat([0.1, 0.9], 20), np.ones(40)
    heard = np.arange(40) < 20 + dear
    return summarise_prices(bids, chances, heard, asked=np.ones(40, dtype=bool))


@pytest.mark.parametrize("dear", [2, 3, 4, 5])
def test_two_reports_of_the_dear_are_a_stratum_where_they_answer_less_often(dear: int) -> None:
    assert cut(silent(dear)).bounds.tolist() == [0.9]


def test_one_report_of_the_dear_is_no_stratum() -> None:
    assert cut(silent(1)).bounds.size == 0


def test_few_reports_of_the_dear_are_no_stratum_where_nobody_is_silent() -> None:
    bids, chances = np.repeat([0.1, 0.9], 20), np.repeat([1.0, 0.6], 20)
    heard = np.arange(40) < 23  # three of the dear were asked, by lot, and all of them reported
    assert cut(summarise_prices(bids, chances, heard)).bounds.size == 0
