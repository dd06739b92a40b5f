"""A canonical form that is not one is refused in a sentence that names what is strange."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pdqs
from pdqs.clearing.lottery.market import LotteryMarket
from pdqs.model.errors import PdqsError
from pdqs.pricing.rules import Linear

MEDIAN = pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 100, 1)), budget=30.0, question="side")


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(MEDIAN.canonical()), **fields})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "terms are a JSON object"),
        (changed(**{"is": "Offers"}), "describes a Offers, not terms"),
        (changed(question={"is": "side", "colour": 3}), "a question has no 'colour'"),
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
