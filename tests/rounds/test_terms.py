"""Terms: what cannot be promised is refused when it is written down."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError, TermsError
from pdqs.model.question import Question

GOOD: dict[str, Any] = {"query": pdqs.Count(), "budget": 1.0}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"budget": -1.0}, "budget must be a finite number of at least 0, got -1"),
        ({"budget": math.nan}, "budget must be a finite number"),
        ({"budget": math.inf}, "budget must be a finite number"),
        ({"budget": "much"}, "budget must be a number"),
        ({"budget": True}, "budget must be a number"),
        ({"bid_range": (1.0, 1.0)}, "bid_range needs 0 <= low < high"),
        ({"bid_range": (-1.0, 1.0)}, "bid_range needs 0 <= low < high"),
        ({"bid_range": (0.0, math.inf)}, "bid_range needs 0 <= low < high"),
        ({"bid_range": 5}, "bid_range must be"),
        ({"rule": "cubic"}, "unknown rule 'cubic'"),
        ({"rule": 3}, "rule must be a name or have q"),
        ({"clearing": "auction"}, "unknown clearing 'auction'"),
        ({"contract": "handshake"}, "unknown contract 'handshake'"),
        ({"estimator": "guess"}, "unknown estimator 'guess'"),
        ({"epsilon_max": 0.0}, "epsilon_max must be"),
        ({"epsilon_max": math.inf}, "epsilon_max must be"),
        ({"epsilon_max": 40.0}, "q_max of 1"),
        ({"scale": 0.0}, "scale must be above 0"),
        ({"query": "count"}, "query must be Count"),
    ],
)
def test_terms_that_do_not_hold_together_are_refused(change: Any, says: str) -> None:
    with pytest.raises(TermsError, match=says):
        pdqs.Terms(**{**GOOD, **change})


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, math.nan])
def test_a_quantile_needs_a_share_strictly_between_0_and_1(p: float) -> None:
    with pytest.raises(TermsError, match="0 < p < 1"):
        pdqs.Quantile(pdqs.Domain.grid(0, 5, 1), p)


@pytest.mark.parametrize("query", [pdqs.Median, pdqs.Mean, lambda domain: pdqs.Quantile(domain, 0.5)])
def test_categories_have_no_median_mean_or_quantile(query: Any) -> None:
    with pytest.raises(TermsError, match="ordered domain"):
        query(pdqs.Domain.categories(["a", "b"]))


def test_the_question_is_kept_apart_from_the_query() -> None:
    ages = pdqs.Domain.grid(18, 99, 1)
    assert pdqs.Median(ages, "How old are you?").question == Question(domain=ages, text="How old are you?")
    assert pdqs.Count("Have you been ill?").question.domain.size == 2


def test_the_same_terms_have_the_same_hash_and_any_change_another() -> None:
    terms = pdqs.Terms(**GOOD, rule="optimal")
    assert terms.hash == pdqs.Terms(**GOOD, rule="optimal").hash
    changes: list[dict[str, Any]] = [
        {"budget": 1.5},
        {"bid_range": (0.0, 2.0)},
        {"rule": "linear"},
        {"rule": pdqs.rules.Exponential(2.0)},
        {"clearing": "greedy"},
        {"contract": "on-selection"},
        {"epsilon_max": 3.0},
        {"estimator": "shrunk"},
        {"query": pdqs.Count("Have you been ill?")},
        {"prior": pdqs.priors.TruncatedNormal(0.5, 0.2)},
    ]
    hashes = {dataclasses.replace(terms, **change).hash for change in changes}
    assert len(hashes | {terms.hash}) == len(changes) + 1


def test_the_canonical_form_is_json_that_another_language_can_write() -> None:
    form = json.loads(pdqs.Terms(**GOOD).canonical())
    assert form["budget"] == 1.0
    assert form["query"]["is"] == "count"
    assert list(form) == sorted(form)


def test_which_terms_promise_to_keep_the_budget() -> None:
    assert pdqs.Terms(**GOOD).keeps_budget
    assert not pdqs.Terms(**GOOD, rule="optimal", contract="on-selection").keeps_budget
    assert not pdqs.Terms(**GOOD, rule="optimal", clearing="open").keeps_budget
    assert pdqs.presets.fairquery(**GOOD).keeps_budget


@pytest.mark.parametrize("rule", ["lottery", "flat", pdqs.rules.Lottery()])
@pytest.mark.parametrize("change", [{"clearing": "greedy"}, {"clearing": "open"}, {"contract": "on-selection"}])
def test_a_lottery_needs_the_ladder_and_a_contract_that_hides_the_coin(rule: object, change: dict[str, str]) -> None:
    with pytest.raises(TermsError, match="asks by lot, which needs clearing 'ladder' and contract 'on-report'"):
        pdqs.Terms(**{**GOOD, **change, "rule": rule})


def test_the_defaults_are_the_honest_ones() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=1.0)
    assert (terms.rule, terms.estimator, terms.epsilon_max) == ("lottery", "unbiased", 2.0)
    assert terms == pdqs.presets.honest(query=pdqs.Count(), budget=1.0)
    sharp = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    assert (sharp.rule, sharp.estimator, sharp.epsilon_max) == ("optimal", "weighted", 4.0)


def test_an_epsilon_too_low_to_buy_anything_is_refused() -> None:
    with pytest.raises(TermsError, match=r"too low to buy anything: a report among 2 values needs at least 3\.1e-05"):
        pdqs.Terms(**{**GOOD, "epsilon_max": 1e-6})


@dataclasses.dataclass(frozen=True)
class Constant:
    """A rule that buys the same whatever the scale."""

    name = "constant"

    def q(self, bids: Floats, scale: float) -> Floats:
        del scale
        return np.full_like(bids, 0.5)


@pytest.mark.parametrize("epsilon_max", [0.001, 0.1, 0.3])
def test_a_rule_whose_prices_cannot_be_worked_out_is_refused_in_a_sentence(epsilon_max: float) -> None:
    low = {"rule": "optimal", "estimator": "weighted", "contract": "on-selection", "epsilon_max": epsilon_max}
    terms = pdqs.Terms(**{**GOOD, **low})
    with pytest.raises(RuleError, match="rule optimal cannot be priced: not smooth enough"):
        pdqs.clear(np.linspace(0.0, 1.0, 20), terms)


def test_a_rule_that_ignores_the_scale_is_refused_where_a_scale_is_needed() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=50.0, rule=Constant())
    with pytest.raises(RuleError, match="rule constant ignores the scale"):
        pdqs.clear(np.linspace(0.0, 1.0, 500), terms)
    free = dataclasses.replace(terms, clearing="open")
    assert pdqs.clear(np.linspace(0.0, 1.0, 500), free).bought == 500
