"""The canonical form stands for the terms: equal terms have one, different terms two, and it is read back whole."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdqs
from pdqs import neural
from pdqs.model import priors
from pdqs.model.arrays import Floats
from pdqs.model.errors import PdqsError, RuleError, TermsError
from pdqs.model.names import ClearingName, ContractName, EstimatorName
from pdqs.model.priors import Prior
from pdqs.model.query import KINDS
from pdqs.pricing import rules
from pdqs.pricing.rules import Rule
from pdqs.rounds.canonical import PRIORS
from pdqs.rounds.terms import Terms

figures = st.floats(0.001, 100.0) | st.integers(1, 100)

labels = st.lists(st.text(max_size=4) | st.integers() | st.floats(-1e6, 1e6) | st.booleans(), min_size=2, unique=True)
grids = st.builds(
    lambda start, step, size: pdqs.Domain.grid(start, start + step * (size - 1), step),
    st.integers(-100, 100),
    st.sampled_from([0.1, 0.25, 1, 3.0]),
    st.integers(2, 60),
)
domains = st.one_of(st.just(pdqs.Domain.binary()), labels.map(pdqs.Domain.categories), grids)
ordered = domains.filter(lambda domain: domain.ordered)
texts = st.text(max_size=10)
queries = {
    pdqs.Count: st.builds(pdqs.Count, texts),
    pdqs.Median: st.builds(pdqs.Median, ordered, texts),
    pdqs.Quantile: st.builds(pdqs.Quantile, ordered, st.floats(0.001, 0.999), texts),
    pdqs.Mean: st.builds(pdqs.Mean, ordered, texts),
    pdqs.Histogram: st.builds(pdqs.Histogram, domains, texts),
}


def priors_on(low: float, high: float) -> Any:
    return {
        "Uniform": st.just(priors.Uniform(low, high)),
        "TruncatedNormal": st.builds(priors.TruncatedNormal, figures, figures, st.just(low), st.just(high)),
        "Fitted": st.integers(0, 99).map(
            lambda seed: priors.fit(np.random.default_rng(seed).uniform(low, high, 30), (low, high))
        ),
    }


def rules_with(prior: Any) -> Any:
    prior = st.none() | prior
    return {
        "linear": st.just(rules.Linear()),
        "quadratic": st.just(rules.Quadratic()),
        "exponential": st.builds(rules.Exponential, figures),
        "logarithmic": st.builds(rules.Logarithmic, figures, st.sampled_from([0, 0.1]), st.sampled_from([0.5, 0.9])),
        "step": st.builds(rules.Step, q_max=st.none() | st.floats(0.01, 0.99)),
        "optimal": st.builds(rules.Optimal, prior=prior),
        "robust": st.builds(rules.Robust, prior=prior),
        "lottery": st.builds(rules.Lottery, prior=prior),
        "flat": st.just(rules.Flat()),
        "laplace": st.builds(rules.Laplace, prior=prior),
    }


@st.composite
def any_terms(draw: Any) -> Any:
    low = draw(st.sampled_from([0, 0.5, np.float32(0.1)]))
    bid_range = (float(low), float(low) + draw(st.sampled_from([1, 2.5])))
    prior = st.one_of(*priors_on(*bid_range).values())
    rule = draw(st.sampled_from(sorted(rules.NAMED)) | st.one_of(*rules_with(prior).values()))
    by_lot = rule in ("lottery", "flat") or isinstance(rule, rules.Asks)
    return pdqs.Terms(
        query=draw(st.one_of(*queries.values())),
        budget=draw(figures),
        bid_range=bid_range,
        rule=rule,
        clearing=ClearingName.LADDER if by_lot else draw(st.sampled_from(ClearingName)),
        contract=ContractName.ON_REPORT if by_lot else draw(st.sampled_from(ContractName)),
        epsilon_max=draw(st.sampled_from([1, 2.0, np.float32(0.7)])),
        estimator=draw(st.sampled_from(EstimatorName)),
        prior=draw(st.none() | prior),
        scale=draw(st.none() | figures),
        priced_as_binary=draw(st.booleans()),
    )


@settings(max_examples=150, deadline=None)
@given(any_terms())
def test_every_terms_is_read_back_from_its_canonical_form(terms: Terms) -> None:
    again = pdqs.Terms.read(terms.canonical())
    assert again == terms
    assert again.canonical() == terms.canonical()
    assert pdqs.Terms.read(json.loads(terms.canonical())) == terms


@settings(max_examples=100, deadline=None)
@given(any_terms(), any_terms())
def test_terms_have_one_hash_exactly_when_they_are_equal(ours: Any, theirs: Any) -> None:
    for other in (theirs, dataclasses.replace(theirs, budget=ours.budget, query=ours.query)):
        assert (ours.hash == other.hash) == (ours == other)


def test_the_properties_above_meet_every_query_rule_and_prior_there_is() -> None:
    assert set(queries) == set(KINDS)
    assert set(rules_with(st.none())) == set(rules.NAMED)
    assert set(priors_on(0.0, 1.0)) == set(PRIORS)


# Numbers and columns as numpy users pass them, which no annotation admits and every entry takes.
single: Any = np.float32
whole: Any = np.int64
LETTERS: Any = np.array(["a", "b"])


def terms_of(**changes: Any) -> Any:
    given: dict[str, Any] = {"query": pdqs.Count(), "budget": 5.0} | changes
    return pdqs.Terms(**given)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"budget": np.int64(5)}, {"budget": np.int64(6)}),
        ({"epsilon_max": np.float32(1.5)}, {"epsilon_max": np.float32(2.5)}),
        ({"scale": np.float32(0.25)}, {"scale": np.float32(0.5)}),
        ({"bid_range": (0, np.float32(1))}, {"bid_range": (0, np.float32(2))}),
        ({"rule": rules.Exponential(single(1.5))}, {"rule": rules.Exponential(single(2.5))}),
        ({"prior": priors.Uniform(0, whole(1))}, {"prior": priors.Uniform(0, whole(2))}),
    ],
)
def test_other_numbers_of_any_type_give_another_hash(one: Any, other: Any) -> None:
    assert terms_of(**one).hash != terms_of(**other).hash


AGES = pdqs.Domain.grid(0, 9, 1)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"budget": 1}, {"budget": 1.0}),
        ({"budget": np.int64(1)}, {"budget": 1.0}),
        ({"budget": -0.0}, {"budget": 0.0}),
        ({"bid_range": (0, 1)}, {"bid_range": (0.0, 1.0)}),
        ({"bid_range": [0, 1]}, {"bid_range": (0.0, 1.0)}),
        ({"bid_range": np.array([0, 1])}, {"bid_range": (0.0, 1.0)}),
        ({"epsilon_max": 2}, {"epsilon_max": np.float32(2)}),
        ({"scale": 2}, {"scale": 2.0}),
        ({"rule": rules.Exponential(2)}, {"rule": rules.Exponential(2.0)}),
        ({"prior": priors.Uniform(0, 1)}, {"prior": priors.Uniform(0.0, 1.0)}),
        ({"query": pdqs.Median(pdqs.Domain.grid(0.0, 9.0, whole(1)))}, {"query": pdqs.Median(AGES)}),
        ({"query": pdqs.Quantile(AGES, single(0.5))}, {"query": pdqs.Quantile(AGES, 0.5)}),
        (
            {"query": pdqs.Histogram(pdqs.Domain.categories([1, 0]))},
            {"query": pdqs.Histogram(pdqs.Domain.categories([np.float64(1), False]))},
        ),
        (
            {"query": pdqs.Histogram(pdqs.Domain.categories(LETTERS))},
            {"query": pdqs.Histogram(pdqs.Domain.categories(["a", "b"]))},
        ),
    ],
)
def test_equal_terms_have_one_hash_whatever_types_their_numbers_had(one: Any, same: Any) -> None:
    assert terms_of(**one) == terms_of(**same)
    assert terms_of(**one).hash == terms_of(**same).hash


class Plain:
    def __init__(self, height: float) -> None:
        self.height = height

    def q(self, bids: Floats, scale: float) -> Any:
        return np.where(bids < scale, self.height, 0.0)


@dataclass(frozen=True)
class Own:
    height: object

    def q(self, bids: Floats, scale: float) -> Any:
        return np.where(bids < scale, 0.5, 0.0)


class Below(Own):
    """A frozen dataclass's child that keeps a figure of its own beside the fields."""


@dataclass(frozen=True)
class Linear:
    name = "linear"

    def q(self, bids: Floats, scale: float) -> Any:
        return np.where(bids < scale, 0.5, 0.0)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (Plain(0.5), "make it frozen"),
        (Below(0.5), "make it frozen"),
        (Own(lambda bids: bids), "rule.height cannot be part of terms: a function"),
        (Own(np.array([0.5])), "rule.height cannot be part of terms: a ndarray"),
        (Own(float("nan")), "rule.height cannot be part of terms: nan"),
        (Own((1.0, Plain(0.5))), "a Plain cannot be written"),
        (rules.Linear, "the class Linear"),
    ],
)
def test_a_rule_whose_figures_cannot_be_written_is_refused(rule: Rule, says: str) -> None:
    with pytest.raises(RuleError, match=says):
        terms_of(rule=rule)


def test_a_rule_of_ones_own_is_told_apart_by_its_fields_and_its_class() -> None:
    written = [Own(0.5), Own(0.6), Own("0.5"), Own(float("inf")), Own((0.5,)), Own(None), Own(rules.Linear())]
    assert len({terms_of(rule=rule).hash for rule in written}) == len(written)
    assert terms_of(rule=Linear()).hash != terms_of(rule=rules.Linear()).hash
    with pytest.raises(TermsError, match="not one of ours"):
        pdqs.Terms.read(terms_of(rule=Own(0.5)).canonical())


LEARNED = neural.Learned(knots=(0, 0.5, 1), heights=(2, 0.5, -2), link="sigmoid")


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": LEARNED},
        {"rule": neural.Logistic(slope=4, intercept=2.0)},
        {"rule": "robust", "prior": LEARNED.price},
        {"rule": rules.Optimal(prior=LEARNED.price)},
    ],
)
def test_learned_rules_are_read_back_where_their_kinds_are_given(changes: Any) -> None:
    terms = terms_of(**changes)
    assert pdqs.Terms.read(terms.canonical(), neural.KINDS) == terms
    with pytest.raises(TermsError, match="unknown"):
        pdqs.Terms.read(terms.canonical())


def nets(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return neural.Nets(rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=(3, 2)), rng.normal(size=3))


def test_nets_are_told_apart_by_their_digest_and_a_loaded_file_says_what_to_pass(tmp_path: Path) -> None:
    ours, theirs = (neural.Npqm(nets=n, digest=n.digest, typical=(4.0, 2.0)) for n in (nets(1), nets(2)))
    assert terms_of(rule=ours).hash != terms_of(rule=theirs).hash
    with pytest.raises(TermsError, match="unknown rule 'npqm'"):
        pdqs.Terms.read(terms_of(rule=ours).canonical(), neural.KINDS)
    neural.save(tmp_path / "rule.npz", ours)
    loaded = neural.load(tmp_path / "rule.npz")
    with pytest.raises(RuleError, match=r"got a Checkpoint: pass its \.rule"):
        terms_of(rule=loaded)
    assert terms_of(rule=loaded.rule) == terms_of(rule=ours)


@dataclass(frozen=True)
class Believed:
    weights: list[float] = field(default_factory=list)

    def virtual_price(self, bids: Floats) -> Any:
        return 2 * bids

    def quantile(self, shares: Any) -> Any:
        return shares


@pytest.mark.parametrize("prior", ["uniform", priors.Uniform, Believed(), 3])
def test_a_prior_that_is_none_or_cannot_be_written_is_refused(prior: Prior) -> None:
    with pytest.raises(PdqsError, match="prior"):
        terms_of(prior=prior)
