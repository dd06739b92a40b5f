"""A canonical form that is not one is refused in a sentence that names what is strange."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.model.errors import PdqsError
from pdqs.pricing.rules import Linear
from pdqs.rounds.canonical import plain_of

MEDIAN = pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 100, 1)), budget=30.0, question="side")


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(MEDIAN.canonical()), **fields})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "terms are a JSON object"),
        (changed(**{"is": "Offers"}), "describes a Offers, not terms"),
        (changed(question={"is": "side", "colour": 3}), "a question has no 'colour'"),
        ("{", "this is not JSON"),
        (changed(colour=3), "terms have no 'colour'"),
        (json.dumps({"query": "count"}), "terms need a 'budget'"),
        (changed(rule=7), "a rule is an object such as"),
        (changed(rule={"is": "linear", "class": "theirs.Linear"}), "is theirs.Linear, which is not one of ours"),
        (changed(rule={"is": "bent"}), "unknown rule 'bent': choose one of"),
        (changed(rule={"is": "linear", "colour": 3}), "rule linear: got an unexpected keyword argument 'colour'"),
        (changed(query={"is": "median", "domain": {"is": "grid", "start": 0}}), "start, step and size: no step"),
    ],
)
def test_it_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(PdqsError, match=said):
        pdqs.Terms.read(text)


def test_a_grid_without_its_step_is_refused() -> None:
    plain = json.loads(MEDIAN.canonical())
    text = json.dumps(plain).replace('"step"', '"stride"')
    with pytest.raises(PdqsError):
        pdqs.Terms.read(text)


def test_a_lottery_needs_a_rule_with_chances_and_draws_of_1_to_48_bits() -> None:
    with pytest.raises(PdqsError, match="a chance of being asked"):
        LotteryMarket(rule=Linear(), budget_micros=1)  # type: ignore[arg-type]  # what is refused
    rule: Any = pdqs.Terms(query=pdqs.Count(), budget=1.0).bound_rule
    with pytest.raises(PdqsError, match="1 to 48 bits, got 49"):
        LotteryMarket(rule=rule, budget_micros=1, bits=49)


@dataclass(frozen=True)
class Capped:
    """A rule from outside whose figures are of every kind."""

    figure: object = 1.0
    name = "capped"

    def q(self, bids: Any, scale: float) -> Any:
        return np.minimum(1.0 - bids, scale / 2)


@pytest.mark.parametrize(
    ("figure", "form"),
    [
        (np.True_, True),
        (np.float32(0.5), 0.5),
        (-0.0, 0.0),
        (7, 7.0),
        (2**60 + 1, 2**60 + 1),  # a float would be another number
        (math.inf, {"is": "inf"}),
        (("a", None), ["a", None]),
    ],
)
def test_a_figure_of_a_rule_has_one_form(figure: object, form: object) -> None:
    assert plain_of(Capped(figure), "rule") == {"is": "capped", "class": f"{__name__}.Capped", "figure": form}
    assert type(plain_of(figure, "rule")) is type(form)


@pytest.mark.parametrize("figure", [math.nan, np.complex128(1j), [1, 2], len])
def test_a_figure_that_cannot_be_written_is_refused_where_it_stands(figure: object) -> None:
    with pytest.raises(PdqsError, match=r"rule\.figure cannot be part of terms: .* cannot be written"):
        plain_of(Capped(figure), "rule")


def test_a_rule_that_the_reader_knows_is_read_back_with_its_endless_figure() -> None:
    text = json.dumps({"query": "count", "budget": 5, "rule": {"is": "capped", "figure": {"is": "-inf"}}})
    assert pdqs.Terms.read(text, also={"capped": Capped}).rule == Capped(-math.inf)
    with pytest.raises(PdqsError, match="unknown rule 'capped'"):
        pdqs.Terms.read(text)


@pytest.mark.parametrize("domain", [pdqs.Domain.binary(), pdqs.Domain.categories(["red", "blue"])])
def test_a_histogram_keeps_its_domain_through_the_form(domain: pdqs.Domain) -> None:
    terms = pdqs.Terms(query=pdqs.Histogram(domain), budget=5.0)
    assert pdqs.Terms.read(terms.canonical()) == terms
