"""Priors: the virtual price, its ironing, and fits to past bids."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import truncnorm

import pdqs
from pdqs.auditing.mechanism import SHIPPED
from pdqs.model.arrays import Floats
from pdqs.model.errors import InputError, TermsError
from pdqs.model.priors import Fitted, Prior, TruncatedNormal, Uniform, fit
from pdqs.pricing.rules import Rule


@given(low=st.floats(0, 10), width=st.floats(0.1, 10))
def test_the_uniform_virtual_price_is_twice_the_bid_less_the_low_end(low: float, width: float) -> None:
    bids = low + width * np.linspace(0, 1, 5)
    assert Uniform(low, low + width).virtual_price(bids) == pytest.approx(bids + (bids - low))


@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.25), (0.0, 1.0), (0.9, 0.05), (-2.0, 0.5)])
def test_the_truncated_normals_virtual_price_agrees_with_scipy(mean: float, sd: float) -> None:
    oracle = truncnorm((0 - mean) / sd, (1 - mean) / sd, loc=mean, scale=sd)
    bids = np.linspace(0.01, 0.99, 50)
    prior = TruncatedNormal(mean, sd)
    assert prior.virtual_price(bids) == pytest.approx(bids + oracle.cdf(bids) / oracle.pdf(bids), rel=1e-8)
    shares = np.linspace(0.02, 0.98, 20)
    assert prior.quantile(shares) == pytest.approx(oracle.ppf(shares), rel=1e-6)
    assert (np.diff(prior.virtual_price(np.linspace(0, 1, 2001))) >= 0).all()


def test_a_fit_to_uniform_bids_comes_near_the_uniform_price(rng: np.random.Generator) -> None:
    prior = fit(rng.random(20_000))
    bids = np.linspace(0.05, 0.95, 19)
    assert np.abs(prior.virtual_price(bids) - 2 * bids).max() < 0.15
    assert prior.quantile(np.array([0.5]))[0] == pytest.approx(0.5, abs=0.02)


def test_bimodal_bids_are_ironed_so_that_the_price_never_falls(rng: np.random.Generator) -> None:
    two_peaks = np.concatenate([rng.normal(0.2, 0.03, 5000), rng.normal(0.8, 0.03, 5000)]).clip(0, 1)
    prior = fit(two_peaks)
    prices = prior.virtual_price(np.linspace(0, 1, 5001))
    assert (np.diff(prices) >= -1e-12).all()
    # Negative control: the raw empirical b + F/f of the same bids does fall between the peaks.
    counts, edges = np.histogram(two_peaks, bins=20, range=(0, 1))
    middle, share = 0.5 * (edges[1:] + edges[:-1]), counts / counts.sum()
    seen = share > 0
    raw = middle[seen] + np.cumsum(share)[seen] / (share / np.diff(edges))[seen]
    assert (np.diff(raw) < 0).any()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0]), min_size=10, max_size=60))
def test_ties_in_past_bids_still_give_a_rising_price(past: Any) -> None:
    prices = fit(past).virtual_price(np.linspace(0, 1, 501))
    assert np.isfinite(prices).all()
    assert (np.diff(prices) >= -1e-12).all()


@pytest.mark.parametrize("past", [[0.0] * 10, [1.0] * 10, [0.5] * 10, [0.0, 1.0] * 10])
def test_a_prior_from_the_same_bid_over_and_over_still_clears(past: Any) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, prior=fit(past))
    assert pdqs.clear([0.2, 0.4, 0.9], terms).spent <= 1.0


def test_too_few_past_bids_and_impossible_figures_are_refused() -> None:
    with pytest.raises(InputError, match="at least 10 past bids"):
        fit([0.1, 0.2])
    with pytest.raises(InputError, match="row 3, column 'past bid'"):
        fit([0.1, 0.2, 7.0] * 10)
    with pytest.raises(TermsError, match="sd above 0"):
        TruncatedNormal(0.5, 0.0)
    with pytest.raises(TermsError, match="low < high"):
        Uniform(1.0, 1.0)


def test_the_right_prior_buys_more_than_the_wrong_one(rng: np.random.Generator) -> None:
    def two_peaks(owners: int) -> Any:
        return np.where(rng.random(owners) < 0.5, rng.normal(0.2, 0.03, owners), rng.normal(0.8, 0.03, owners)).clip(
            0, 1
        )

    past, now = two_peaks(5000), two_peaks(5000)
    terms: dict[str, Any] = {"query": pdqs.Count(), "budget": 2500.0}
    informed = pdqs.clear(now, pdqs.presets.sound(**terms, prior=fit(past)))
    mistaken = pdqs.clear(now, pdqs.presets.sound(**terms))
    assert informed.information > 1.05 * mistaken.information


@pytest.mark.parametrize("contract", ["on-report", "on-selection"])
@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.25), (-2.0, 0.5), (0.9, 0.05), (0.0, 1.0)])
@pytest.mark.parametrize("budget", [0.03, 3.0, 300.0])
def test_a_normal_prior_prices_markets_of_every_size(
    contract: str, mean: float, sd: float, budget: float, rng: np.random.Generator
) -> None:
    """Next to the low end of the range the price is a difference of tails, which must not drown in rounding."""
    prior = TruncatedNormal(mean, sd)
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget, contract=contract, prior=prior)
    assert pdqs.clear(rng.random(300), terms).spent <= budget
    tiny = np.array([1e-12, 1e-9, 1e-6])
    assert prior.virtual_price(tiny) == pytest.approx(2 * tiny, rel=1e-4)


RANGES = st.tuples(st.floats(0.0, 0.6), st.floats(0.1, 1.5)).map(lambda pair: (pair[0], pair[0] + pair[1]))
BELIEFS = st.one_of(
    RANGES.map(lambda ends: Uniform(*ends)),
    st.tuples(st.floats(-0.5, 2.0), st.floats(0.02, 1.0), RANGES).map(lambda t: TruncatedNormal(t[0], t[1], *t[2])),
)
PRIORS = BELIEFS | RANGES.map(lambda ends: fit(np.linspace(*ends, 40), ends))


@given(prior=PRIORS)
def test_a_price_is_defined_on_any_bid_range_never_below_the_bid_and_never_falling(prior: Prior) -> None:
    bids = np.unique(np.concatenate([np.linspace(0.0, 3.0, 301), np.geomspace(1e-9, 3.0, 60)]))
    prices = prior.virtual_price(bids)
    assert np.isfinite(prices).all()
    assert (prices >= bids).all()
    assert (np.diff(prices) >= -1e-12 * prices[1:]).all()


@pytest.mark.parametrize("rule", ["optimal", "robust"])
@settings(max_examples=5)
@given(prior=BELIEFS, bids=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=3), budget=st.floats(0.1, 8.0))
def test_nobody_gains_by_a_lie_where_the_priors_range_is_not_that_of_the_bids(
    rule: Rule, prior: Prior, bids: Floats, budget: float
) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget, rule=rule, prior=prior)
    market = np.array(bids)
    for lie in (0.5 * market[0], 0.5 * (market[0] + 1.0)):
        assert not SHIPPED.temptation(market, 0, float(lie), terms).gains


def test_the_first_of_two_owners_below_the_prior_gains_nothing() -> None:
    """Carried on below its range as 2b - low, the price was negative there, and a lie of .135 gained 1.9 units."""
    bids = np.array([0.0808, 0.2921])
    terms = pdqs.presets.robust(query=pdqs.Count(), budget=6.0, prior=Uniform(0.3, 1.0))
    assert not SHIPPED.temptation(bids, 0, 0.135, terms).gains


def test_ten_owners_below_the_prior_are_cleared(rng: np.random.Generator) -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=3.0, prior=Uniform(0.1, 1.0))
    assert 0 < pdqs.clear(rng.random(10), terms).spent <= 3.0


def test_a_normal_prior_far_above_the_range_has_all_its_digits() -> None:
    """At 1000 standard deviations below the mean, F/f = 1/|z| (1 - 1/z^2 + 3/z^4 ...), the cut at low left out."""
    bids = np.linspace(0.05, 1.0, 20)
    z = 1000.0 - bids
    expected = bids + 1.0 / z * (1.0 - z**-2.0 + 3.0 * z**-4.0) - np.exp(-0.5 * bids * (z + 1000.0)) / 1000.0
    assert TruncatedNormal(1000.0, 1.0).virtual_price(bids) == pytest.approx(expected, rel=1e-14)


def test_a_fitted_prior_whose_prices_fall_is_refused() -> None:
    with pytest.raises(TermsError, match="never fall"):
        Fitted((0.0, 1.0), (0.5, 0.4), (0.0, 1.0))


def test_a_prior_fitted_to_round_dollars_buys_more_than_none() -> None:
    # Over six budgets; before round prices were priced as such: 0.988 of what no prior buys in the first market.
    draws: list[Callable[[np.random.Generator], Floats]] = [
        lambda rng: np.minimum(rng.lognormal(np.log(5.0), 0.6, 2000), 25.0),
        lambda rng: 25.0 * rng.beta(2.0, 5.0, 2000),
    ]
    for draw in draws:
        rng = np.random.default_rng(0)
        past, now = np.round(draw(rng)), np.round(draw(rng))
        prior = fit(past, (0.0, 25.0))
        gains = []
        for budget in np.geomspace(500.0, 12_000.0, 6):
            plain = pdqs.presets.sound(query=pdqs.Count(), budget=float(budget), bid_range=(0.0, 25.0))
            fitted = dataclasses.replace(plain, prior=prior)
            gains.append(pdqs.clear(now, fitted).information / pdqs.clear(now, plain).information)
        assert np.mean(gains) > 1.01
        assert min(gains) > 0.97


def test_round_prices_are_priced_as_the_next_dearer_share_costs() -> None:
    prior = fit([1.0] * 5 + [2.0] * 10 + [4.0] * 5, (0.0, 5.0))
    # C = u b at u = 1/4, 3/4, 1: slopes (1.5 - 0.25) / 0.5 and (4 - 1.5) / 0.25, flat back to the price below.
    assert prior.virtual_price(np.array([1.0, 1.5, 2.0, 3.0, 4.0])).tolist() == pytest.approx(
        [1.0, 2.5, 2.5, 10.0, 10.0]
    )


@pytest.mark.parametrize("prior", [Uniform(0.0, 2.0), TruncatedNormal(0.5, 0.2), fit(np.linspace(0.1, 0.9, 40))])
def test_a_notebook_shows_what_bids_a_prior_expects(prior: Uniform | TruncatedNormal | Fitted) -> None:
    shown = prior._repr_html_()
    assert shown.count(",") >= 4
    assert "quarters of the bids expected" in shown
    assert "<strong>" in shown
