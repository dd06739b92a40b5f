"""Estimators against the formulas of the theory, written out owner by owner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs.estimate.estimators import disagreement, naive, shrunk, unbiased, weighted
from pdqs.estimate.functionals import CumulativeShares, NumberMean, Shares
from pdqs.estimate.tallies import tally
from pdqs.model.errors import EstimateError

K = 5
DOMAIN = pdqs.Domain.grid(1, K, 1)


def market(owners: int, seed: int, least: float = 0.05, domain: pdqs.Domain = DOMAIN) -> Any:
    """Offers at q of every size, and reports drawn from them."""
    rng = np.random.default_rng(seed)
    q = np.floor(rng.uniform(least, 0.95, owners) * 2**32) / 2**32
    offers = pdqs.Offers(
        bids=np.zeros(owners),
        q=q,
        epsilon=np.zeros(owners),
        payment_micros=np.zeros(owners, dtype=np.int64),
        domain=domain,
        budget_micros=0,
    )
    values = rng.integers(0, domain.size, owners)
    reports = pdqs.randomise(domain.decode(values), offers, rng)
    return offers, reports.only(rng.random(owners) < 0.8)


@given(owners=st.integers(3, 60), seed=st.integers(0, 10**6), size=st.integers(1, K - 1))
def test_the_weighted_share_and_its_error_are_the_formulas_of_the_theory(owners: int, seed: int, size: int) -> None:
    offers, reports = market(owners, seed)
    if not reports.arrived.any():
        return
    q, y = offers.q[reports.arrived], reports.codes[reports.arrived] < size
    chance = (1 - q) * size / K
    share = float((q * (y - chance)).sum() / (q**2).sum())
    plausible = min(max(share, 0.0), 1.0)
    p = q * plausible + chance
    variance = float((q**2 * p * (1 - p)).sum() / (q**2).sum() ** 2) - plausible * (1 - plausible) / owners
    found = weighted(CumulativeShares(K), tally(reports, offers.q))
    assert float(found.mean[size - 1]) == pytest.approx(share, abs=1e-9)
    assert float(found.standard_error[size - 1]) == pytest.approx(max(variance, 0.0) ** 0.5, rel=1e-6, abs=1e-8)


@given(owners=st.integers(3, 60), seed=st.integers(0, 10**6), size=st.integers(1, K - 1))
def test_the_unbiased_share_is_the_formula_of_the_theory(owners: int, seed: int, size: int) -> None:
    offers, reports = market(owners, seed)
    if not reports.arrived.any():
        return
    q, y = offers.q[reports.arrived], reports.codes[reports.arrived] < size
    share = float(((y - (1 - q) * size / K) / q).mean())
    assert float(unbiased(CumulativeShares(K), tally(reports, offers.q)).mean[size - 1]) == pytest.approx(
        share, abs=1e-6
    )


@given(owners=st.integers(3, 60), seed=st.integers(0, 10**6))
def test_shares_cumulative_shares_and_means_agree_with_each_other(owners: int, seed: int) -> None:
    offers, reports = market(owners, seed)
    if not reports.arrived.any():
        return
    sums = tally(reports, offers.q)
    for estimator in (naive, weighted, unbiased):
        shares = estimator(Shares(K), sums).mean
        assert np.cumsum(shares) == pytest.approx(estimator(CumulativeShares(K), sums).mean, abs=1e-6)
        assert float(shares.sum()) == pytest.approx(1.0, abs=1e-6)
        mean = float(estimator(NumberMean(DOMAIN.numbers), sums).mean[0])
        assert mean == pytest.approx(float(shares @ DOMAIN.numbers), abs=1e-5)


def test_the_naive_share_is_the_share_of_reports() -> None:
    offers, reports = market(50, 1)
    seen = reports.codes[reports.arrived]
    assert naive(Shares(K), tally(reports, offers.q)).mean == pytest.approx(np.bincount(seen, minlength=K) / seen.size)


def test_the_shrunk_share_is_pulled_toward_a_half_by_information_over_information_plus_three() -> None:
    offers, reports = market(50, 2, domain=pdqs.Domain.binary())
    sums = tally(reports, offers.q)
    information = float((offers.q[reports.arrived] ** 2).sum())
    plain, pulled = weighted(Shares(2), sums), shrunk(Shares(2), sums)
    kappa = information / (information + 3)
    assert pulled.mean == pytest.approx(0.5 + kappa * (plain.mean - 0.5))
    assert np.array_equal(pulled.middle, plain.mean)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), cut=st.integers(0, 40))
def test_tallies_merge_bit_for_bit_in_any_split(seed: int, cut: Any) -> None:
    offers, reports = market(40, seed)
    whole = tally(reports, offers.q)
    parts = []
    for part in (slice(None, cut), slice(cut, None)):
        heard = pdqs.Reports(
            codes=reports.codes[part], arrived=reports.arrived[part], selected=reports.selected[part], domain=DOMAIN
        )
        parts.append(tally(heard, offers.q[part]))
    merged = parts[1].merged(parts[0])
    assert (merged.owners, merged.reports, merged.heard) == (whole.owners, whole.reports, whole.heard)
    assert (merged.powers, merged.inverses, merged.weights) == (whole.powers, whole.inverses, whole.weights)
    assert (merged.lifts, merged.squared_lifts) == (whole.lifts, whole.squared_lifts)
    assert merged.counts.tolist() == whole.counts.tolist()


def rounds_of(
    estimator: Any, statistic: Any, values: Any, q: Any, rounds: Any, seed: Any, response: float = 1.0
) -> Any:
    """Estimates, standard errors and disagreements over many rounds of the same market."""
    rng = np.random.default_rng(seed)
    domain = pdqs.Domain.binary()
    offers = pdqs.Offers(
        bids=np.zeros(q.size),
        q=np.floor(q * 2**32) / 2**32,
        epsilon=np.zeros(q.size),
        payment_micros=np.zeros(q.size, dtype=np.int64),
        domain=domain,
        budget_micros=0,
    )
    found = []
    for _ in range(rounds):
        reports = pdqs.randomise(values, offers, rng)
        sums = tally(reports.only(rng.random(q.size) < response) if response < 1.0 else reports, offers.q)
        estimate = estimator(statistic, sums)
        found.append((estimate.mean[1], estimate.standard_error[1], disagreement(statistic, sums)[1]))
    return np.array(found)


def test_the_unbiased_estimate_is_unbiased_and_its_error_right_even_when_bids_tell_of_values() -> None:
    rng = np.random.default_rng(4)
    q = rng.uniform(0.2, 0.9, 2000)
    values = (rng.random(2000) < 0.2 + 0.6 * (q < 0.5)).astype(int)  # those who sell little hold the value more often
    found = rounds_of(unbiased, Shares(2), values, q, 600, 5)
    error = found[:, 0] - values.mean()
    noise = error.std() / np.sqrt(error.size)
    assert abs(error.mean()) < 4 * noise  # false alarms: 6e-5
    assert found[:, 1].mean() == pytest.approx(error.std(), rel=0.12)
    lean = rounds_of(weighted, Shares(2), values, q, 600, 5)[:, 0] - values.mean()
    assert abs(lean.mean()) > 20 * noise  # negative control: the weighted estimate is far off here


@pytest.mark.parametrize("response", [0.9, 0.7, 0.4])
@pytest.mark.parametrize("estimator", [weighted, unbiased])
def test_an_error_allows_for_who_reported_where_reports_are_missing(estimator: Any, response: float) -> None:
    rng = np.random.default_rng(14)
    values = (rng.random(300) < 0.4).astype(int)
    found = rounds_of(estimator, Shares(2), values, rng.uniform(0.8, 0.98, 300), 600, 15, response)
    error = found[:, 0] - values.mean()
    assert found[:, 1].mean() == pytest.approx(error.std(), rel=0.12)


def test_the_disagreement_is_standard_normal_without_correlation_and_large_with_it() -> None:
    rng = np.random.default_rng(6)
    q = rng.uniform(0.2, 0.9, 2000)
    gaps = []
    for seed in range(400):
        values = (rng.random(2000) < 0.3).astype(int)
        gaps.append(rounds_of(weighted, Shares(2), values, q, 1, seed)[0, 2])
    assert abs(np.mean(gaps)) < 4 / np.sqrt(400)
    assert np.std(gaps) == pytest.approx(1.0, rel=0.15)
    correlated = (rng.random(2000) < 0.2 + 0.6 * (q < 0.5)).astype(int)
    assert abs(rounds_of(weighted, Shares(2), correlated, q, 1, 1)[0, 2]) > 3


def test_unbiased_refuses_a_market_where_someone_was_not_asked() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=50.0, estimator="unbiased")
    offers = pdqs.clear(np.linspace(0.1, 0.9, 500), terms)
    reports = pdqs.randomise(np.ones(500), offers, np.random.default_rng(0))
    with pytest.raises(EstimateError, match=r"needs q > 0 for every owner.*use rule 'lottery'"):
        pdqs.answer(reports, offers, terms)


@pytest.mark.parametrize("estimator", [naive, weighted, unbiased, shrunk])
def test_of_nothing_heard_there_is_the_middle_and_no_idea_how_far_off(estimator: Any) -> None:
    offers, reports = market(4, seed=1)
    silence = tally(reports.only(np.zeros(4, dtype=bool)), offers.q)
    found = estimator(NumberMean(DOMAIN.numbers), silence)
    assert found.mean.tolist() == [3.0]  # the middle of 1 to 5
    assert found.standard_error.tolist() == [np.inf]
    assert disagreement(NumberMean(DOMAIN.numbers), silence).tolist() == [0.0]
