"""Whatever is passed in the wrong place, the caller gets one sentence that says what was expected."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.errors import DomainError, EstimateError, InputError, PdqsError, TermsError

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
        (lambda: pdqs.Terms(query=Asks(), budget=1.0), r"query must be Count\(\), .*got an Asks"),
        (lambda: pdqs.Terms(query=pdqs.Count, budget=1.0), "query must be .*got the class Count"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, clearing=["ladder"]), "unknown clearing"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, contract=3), "unknown contract 3"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, scale="big"), "scale must be a number, got 'big'"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, bid_range=("0", "1")), "low must be a number, got '0'"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, priced_as_binary=1), "True or False, got 1"),
        (lambda: pdqs.Terms(query=pdqs.Count(), budget=1.0, prior="uniform"), r"prior must be Uniform.*got 'uniform'"),
        (lambda: pdqs.Count(lambda value: value > 3), "text of a count must be a text, got a function"),
        (lambda: pdqs.Median([1, 2, 3]), r"a median needs a domain.*got \[1, 2, 3\]"),
        (lambda: pdqs.Mean("ages"), "a mean needs a domain"),
        (lambda: pdqs.Histogram(None), "a histogram needs a domain"),
        (lambda: pdqs.Quantile(AGES, "half"), "p of a quantile .* must be a number, got 'half'"),
        (lambda: pdqs.Quantile(0.5, AGES), "a quantile needs a domain"),
        (lambda: pdqs.Question(domain="ages"), "a question needs a domain"),
        (lambda: pdqs.clear(TERMS, [0.1, 0.2]), r"terms must be a Terms, got \[0.1, 0.2\]"),
        (lambda: pdqs.plan(3, owners=10), "terms must be a Terms, got 3"),
        (lambda: pdqs.plan(TERMS, owners="many"), "owners must be a whole number, got 'many'"),
        (lambda: pdqs.plan(TERMS, owners=10, half_width="2%"), "half_width must be a number, got '2%'"),
        (lambda: pdqs.audit("gpqm"), "terms must be a Terms, got 'gpqm'"),
        (lambda: pdqs.answer(REPORTS, OFFERS, TERMS, level="95%"), "level must be a number"),
        (lambda: pdqs.received([1, 0], "binary"), "domain must be a Domain, got 'binary'"),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused_in_one_sentence(call: Any, says: str) -> None:
    with pytest.raises(PdqsError, match=says):
        call()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: pdqs.Domain(kind="banana", size=-3), "a domain is one of binary, categories, grid, got 'banana'"),
        (lambda: pdqs.Domain(kind="grid", size=-3), "at least 2 values, got 0"),
        (lambda: pdqs.Domain(kind="grid", size=2.5), "size of a domain must be a whole number"),
        (lambda: pdqs.Domain(kind="grid", step=0), "step above 0"),
        (lambda: pdqs.Domain(kind="grid", size=2**40), "too large"),
        (lambda: pdqs.Domain(kind="binary", size=3), "binary domain has 2 values"),
        (lambda: pdqs.Domain(kind="binary", start=1), "only a grid has a start"),
        (lambda: pdqs.Domain(kind="binary", labels=("a", "b")), "cannot have 2 labels"),
        (lambda: pdqs.Domain(kind="categories", labels=("a", "b"), size=3), "cannot have 2 labels"),
        (lambda: pdqs.Domain(kind="categories", labels=("a", "a")), "category 2 repeats 'a'"),
        (lambda: pdqs.Domain.categories("abc"), "a list of labels, got 'abc'"),
        (lambda: pdqs.Domain.categories({"a", "b"}), "a list of labels, got"),
        (lambda: pdqs.Domain.categories(3), "a list of labels, got 3"),
        (lambda: pdqs.Domain.categories(["a", ["b"]]), r"category 2 must be a text or a number, got \['b'\]"),
        (lambda: pdqs.Domain.categories(["a", None]), "category 2 must be a text or a number, got None"),
        (lambda: pdqs.Domain.categories([1, 1.0]), "category 2 repeats 1"),
        (lambda: pdqs.Domain.grid("0", 9, 1), "start of a grid must be a number, got '0'"),
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
        pdqs.randomise(OFFERS, [1, 0, 1], np.random.default_rng(0))
    with pytest.raises(EstimateError, match="reports must be a Reports, got an Offers"):
        pdqs.answer(OFFERS, REPORTS, TERMS)
    with pytest.raises(EstimateError, match="terms must be a Terms, got a Domain"):
        pdqs.answer(REPORTS, OFFERS, AGES)
    with pytest.raises(TermsError, match="reports must be a Reports, got an Offers"):
        pdqs.settle(REPORTS, OFFERS, TERMS)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"query": pdqs.Median(AGES)}, "reports are of another domain"),
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
