"""The wire takes the names there are, and no others."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pdqs.market.pages.plan_form import METHODS
from pdqs.market.pages.render import KIND_WORDS
from pdqs.model.names import EstimatorName, QueryKind, RuleName
from pdqs.protocol.market_messages import MARKET_ESTIMATORS, MARKET_RULES, QueryMessage, RoundPlan

SCHEMA = RoundPlan.model_json_schema()["properties"]


def test_a_query_of_every_kind_there_is_can_be_sent_and_stays_a_plain_string() -> None:
    for kind in QueryKind:
        assert type(QueryMessage(kind=kind.value, text="?").kind) is str
    with pytest.raises(ValidationError):
        QueryMessage(kind="mode", text="?")


def test_the_schema_lists_the_names_that_a_round_may_have() -> None:
    assert SCHEMA["rule"]["enum"] == [rule.value for rule in MARKET_RULES]
    assert SCHEMA["estimator"]["enum"] == [estimator.value for estimator in MARKET_ESTIMATORS]
    assert set(MARKET_RULES) < set(RuleName)
    assert set(MARKET_ESTIMATORS) == set(EstimatorName) - {EstimatorName.NAIVE}


def test_the_pages_offer_every_kind_and_only_what_can_be_sent() -> None:
    assert {kind.value: kind.words for kind in QueryKind} == KIND_WORDS
    for rule, estimator in METHODS.values():
        assert rule in MARKET_RULES
        assert estimator in MARKET_ESTIMATORS
