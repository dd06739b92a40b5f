"""Numbers in forms are read as the market writes them, or asked back; and a market has a currency."""

from __future__ import annotations

import pytest

from pdqs.market.configuration import settings_from
from pdqs.market.pages import plan_form
from pdqs.model.errors import TermsError
from pdqs.model.money import Currency

EURO = Currency(code="EUR", mark=",")


@pytest.mark.parametrize("field", ["budget", "bid_high", "epsilon_max", "owners", "bid_time"])
def test_a_comma_that_could_mean_two_numbers_is_asked_back_beside_its_field(field: str) -> None:
    form = plan_form.read({field: "1,5"})
    assert list(form.faults) == [field]
    assert form.faults[field].startswith(
        '"1,5" could mean 1.5 or 15: write the one that you mean, with a point before the decimals.'
    )
    assert form.plan is None


def test_a_market_that_writes_commas_reads_them() -> None:
    form = plan_form.read({"budget": "1.250,50", "epsilon_max": "1,5", "kind": "quantile"}, EURO)
    assert form.faults == {}
    assert form.plan is not None
    assert (form.plan.budget_micros, form.plan.epsilon_max, form.plan.query.p) == (1_250_500_000, 1.5, 0.9)


def test_numbers_below_zero_and_short_ones_are_read_where_they_may_be() -> None:
    form = plan_form.read({"kind": "mean", "start": "\u221210", "stop": "1e2"})
    assert form.plan is not None
    assert (form.plan.query.domain.start, form.plan.query.domain.size) == (-10.0, 111)


def test_the_currency_is_a_setting() -> None:
    given = {"PDQS_CURRENCY": "JPY", "PDQS_CURRENCY_SYMBOL": "\u00a5", "PDQS_CURRENCY_DECIMALS": "0"}
    assert settings_from(given).money == Currency(code="JPY", symbol="\u00a5", decimals=0)
    assert settings_from({"PDQS_DECIMAL_MARK": ","}).money.mark == ","


@pytest.mark.parametrize(
    "wrong", [{"PDQS_DECIMAL_MARK": ";"}, {"PDQS_CURRENCY": "no code"}, {"PDQS_CURRENCY_DECIMALS": "7"}]
)
def test_a_currency_that_cannot_be_written_is_refused_at_the_start(wrong: dict[str, str]) -> None:
    with pytest.raises(TermsError):
        settings_from(wrong)
