"""Whatever is passed in the wrong place, the caller gets one sentence that says what was expected."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.errors import DomainError, EstimateError, InputError, PdqsError, TermsError

untyped: Any = pdqs
"""The package as a caller without a type checker sees it: wrong types are what is tested here."""

AGES = pdqs.Domain.grid(0, 9, 1)
TERMS = pdqs.Terms(query=pdqs.Count("ill?"), budget=2.0)
OFFERS = pdqs.clear([0.1, 0.2, 0.3], TERMS)
REPORTS = pdqs.randomise([1, 0, 1], OFFERS, np.random.default_rng(0))


class Asks:
    kind = "mode"

    @property
    def question(self) -> Any:
        return pdqs.Question(domain=AGES)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: untyped.Terms(query=Asks(), budget=1.0), r"query must be Count\(\), .*got an Asks"),
        (lambda: untyped.Terms(query=pdqs.Count, budget=1.0), "query must be .*got the class Count"),
        (lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, clearing=["ladder"]), "unknown clearing"),
        (lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, contract=3), "unknown contract 3"),
        (lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, scale="big"), "scale must be a number, got 'big'"),
        (lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, bid_range=("0", "1")), "low must be a number, got '0'"),
        (lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, priced_as_binary=1), "True or False, got 1"),
        (
            lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, prior="uniform"),
            r"prior must be Uniform.*got 'uniform'",
        ),
        (
            lambda: untyped.Terms(query=pdqs.Count(), budget=1.0, rule=untyped.rules.Lottery(prior=9)),
            "prior must be Uniform.*got 9",
        ),
        (
            lambda: pdqs.Terms.read({"query": "count", "budget": 20, "rule": {"is": "optimal", "prior": "x"}}),
            "prior must be Uniform.*got 'x'",
        ),
        (lambda: untyped.Count(lambda value: value > 3), "text of a count must be a text, got a function"),
        (lambda: untyped.Median([1, 2, 3]), r"a median needs a domain.*got \[1, 2, 3\]"),
        (lambda: untyped.Mean("ages"), "a mean needs a domain"),
        (lambda: untyped.Histogram(None), "a histogram needs a domain"),
        (lambda: untyped.Quantile(AGES, "half"), "p of a quantile .* must be a number, got 'half'"),
        (lambda: untyped.Quantile(0.5, AGES), "a quantile needs a domain"),
        (lambda: untyped.Question(domain="ages"), "a question needs a domain"),
        (lambda: untyped.clear(TERMS, [0.1, 0.2]), r"terms must be a Terms, got \[0.1, 0.2\]"),
        (lambda: untyped.plan(3, owners=10), "terms must be a Terms, got 3"),
        (lambda: untyped.plan(TERMS, owners="many"), "owners must be a whole number, got 'many'"),
        (lambda: untyped.plan(TERMS, owners=10, half_width="2%"), "half_width must be a number, got '2%'"),
        (lambda: untyped.audit("gpqm"), "terms must be a Terms, got 'gpqm'"),
        (lambda: untyped.answer(REPORTS, OFFERS, TERMS, level="95%"), "level must be a number"),
        (lambda: untyped.received([1, 0], "binary"), "domain must be a Domain, got 'binary'"),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused_in_one_sentence(call: Any, says: str) -> None:
    with pytest.raises(PdqsError, match=says):
        call()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: untyped.Domain(kind="banana", size=-3), "a domain is one of binary, categories, grid, got 'banana'"),
        (lambda: untyped.Domain(kind="grid", size=-3), "at least 2 values, got 0"),
        (lambda: untyped.Domain(kind="grid", size=2.5), "size of a domain must be a whole number"),
        (lambda: untyped.Domain(kind="grid", step=0), "step above 0"),
        (lambda: untyped.Domain(kind="grid", size=2**40), "too large"),
        (lambda: untyped.Domain(kind="binary", size=3), "binary domain has 2 values"),
        (lambda: untyped.Domain(kind="binary", start=1), "only a grid has a start"),
        (lambda: untyped.Domain(kind="binary", labels=("a", "b")), "cannot have 2 labels"),
        (lambda: untyped.Domain(kind="categories", labels=("a", "b"), size=3), "cannot have 2 labels"),
        (lambda: untyped.Domain(kind="categories", labels=("a", "a")), "category 2 repeats 'a'"),
        (lambda: untyped.Domain.categories("abc"), "a list of labels, got 'abc'"),
        (lambda: untyped.Domain.categories({"a", "b"}), "a list of labels, got"),
        (lambda: untyped.Domain.categories(3), "a list of labels, got 3"),
        (lambda: untyped.Domain.categories(["a", ["b"]]), r"category 2 must be a text or a number, got \['b'\]"),
        (lambda: untyped.Domain.categories(["a", None]), "category 2 must be a text or a number, got None"),
        (lambda: untyped.Domain.categories([1, 1.0]), "category 2 repeats 1"),
        (lambda: untyped.Domain.grid("0", 9, 1), "start of a grid must be a number, got '0'"),
    ],
)
def test_a_domain_is_checked_however_it_is_made(make: Any, says: str) -> None:
    with pytest.raises(DomainError, match=says):
        make()


@pytest.mark.parametrize("rng", [7, None, "seed", np.random.RandomState(7), pdqs.SystemEntropy])
def test_randomising_needs_a_generator_or_a_source_of_entropy(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=r"rng must be np.random.default_rng\(seed\) or SystemEntropy\(\), got"):
        pdqs.randomise([1, 0, 1], OFFERS, rng)


def test_swapped_arguments_are_named() -> None:
    with pytest.raises(InputError, match="offers must be an Offers, got"):
        untyped.randomise(OFFERS, [1, 0, 1], np.random.default_rng(0))
    with pytest.raises(EstimateError, match="reports must be a Reports, got an Offers"):
        untyped.answer(OFFERS, REPORTS, TERMS)
    with pytest.raises(EstimateError, match="terms must be a Terms, got a Domain"):
        untyped.answer(REPORTS, OFFERS, AGES)
    with pytest.raises(TermsError, match="reports must be a Reports, got an Offers"):
        untyped.settle(REPORTS, OFFERS, TERMS)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"query": pdqs.Median(AGES)}, "are of another domain"),
        ({"query": pdqs.Count("rich?")}, "made under other terms"),
        ({"rule": "optimal", "contract": "on-selection"}, "made under other terms"),
        ({"rule": "linear"}, "made under other terms"),
        ({"epsilon_max": 1.0}, "made under other terms"),
    ],
)
def test_offers_are_not_answered_or_settled_under_other_terms(changes: Any, says: str) -> None:
    other = dataclasses.replace(TERMS, **changes)
    with pytest.raises(EstimateError, match=says):
        pdqs.answer(REPORTS, OFFERS, other)
    with pytest.raises(TermsError, match=says):
        pdqs.settle(OFFERS, REPORTS, other)


def test_another_estimator_or_statistic_may_be_asked_of_the_same_reports() -> None:
    other = dataclasses.replace(TERMS, query=pdqs.Mean(pdqs.Domain.binary(), "ill?"), estimator="shrunk")
    assert pdqs.answer(REPORTS, OFFERS, other).estimator == "shrunk"


@pytest.mark.parametrize("where", ["terms", "rule"])
def test_a_prior_fitted_on_another_range_of_bids_is_refused(where: str) -> None:
    prior = pdqs.priors.fit(np.linspace(1, 24, 40), (0, 25))
    given = {"prior": prior} if where == "terms" else {"rule": pdqs.rules.Optimal(prior=prior)}
    with pytest.raises(TermsError, match="fitted to bids from 0 to 25, not to the bid range 0 to 1"):
        pdqs.Terms(query=pdqs.Count(), budget=1.0, **given)
    assert pdqs.Terms(query=pdqs.Count(), budget=1.0, bid_range=(0, 25), **given).bid_prior is prior
