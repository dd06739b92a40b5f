"""Amounts as people write them: read as they are meant, or asked back; in Python and in the browser alike."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from owner.node import BROWSER, run_node
from pdqs.model.errors import InputError, TermsError
from pdqs.model.money import PLAIN, Currency, exact_money

EURO = Currency(code="EUR", symbol="\u20ac", mark=",")
YEN = Currency(code="JPY", decimals=0)

READ = [
    (PLAIN, "0", 0),
    (PLAIN, "1,500.25", 1_500_250_000),
    (PLAIN, " .5 ", 500_000),
    (PLAIN, "7.", 7_000_000),
    (PLAIN, "0.000001", 1),
    (PLAIN, "999999999.999999", 999_999_999_999_999),
    (PLAIN, "1.5000000", 1_500_000),
    (PLAIN, "1.250", 1_250_000),
    (PLAIN, "1,250,000", 1_250_000_000_000),
    (PLAIN, "1 250.5", 1_250_500_000),
    (PLAIN, "1\u202f250", 1_250_000_000),
    (PLAIN, "1\u00a0250", 1_250_000_000),
    (PLAIN, "1'250", 1_250_000_000),
    (PLAIN, "1\u2019250.00", 1_250_000_000),
    (EURO, "12,50", 12_500_000),
    (EURO, "1.250,50", 1_250_500_000),
    (EURO, "12,50 EUR", 12_500_000),
    (EURO, "eur12", 12_000_000),
    (EURO, "\u20ac 12,50", 12_500_000),
    (YEN, "1,250", 1_250_000_000),
]

ASKED_BACK = [
    (PLAIN, "12,50", "could mean 12.50 or 1250"),
    (PLAIN, "1,5", "could mean 1.5 or 15"),
    (PLAIN, "1,250", "could mean 1.250 or 1250"),
    (PLAIN, "0,5", "is to be written 0.5,"),
    (PLAIN, ",5", "is to be written 0.5,"),
    (PLAIN, "1.250,50", "is to be written 1250.50,"),
    (PLAIN, "1 250,50", "is to be written 1250.50,"),
    (EURO, "12.50", "could mean 12,50 or 1250"),
    (EURO, "1,250.50", "is to be written 1250,50,"),
    (PLAIN, "1,25,000", "is not a number"),
    (PLAIN, "1 250,000", "is to be written 1250.000,"),
    (PLAIN, "12 50", "is not a number"),
    (PLAIN, "1.2.3", "is not a number"),
    (PLAIN, "$5", "is not a number: write it like 12.50"),
    (PLAIN, "12 EUR", "is not a number"),
    (EURO, "$12", "is not a number: write it like 12,50"),
    (EURO, "EUR", "nothing is written"),
    (PLAIN, "-5", "is below zero"),
    (PLAIN, "\u22125", "is below zero"),
    (PLAIN, "(5)", "is below zero"),
    (PLAIN, "+5", "is not a number"),
    (PLAIN, "1e3", "write all of its digits"),
    (PLAIN, "1_000", "is not a number"),
    (PLAIN, "0x10", "is not a number"),
    (PLAIN, "\u0663", "is not in the digits 0 to 9"),
    (PLAIN, "\uff11\uff12", "is not in the digits 0 to 9"),
    (PLAIN, "", "nothing is written"),
    (PLAIN, "   ", "nothing is written"),
    (PLAIN, ".", "is not a number"),
    (PLAIN, "nan", "is not a number"),
    (PLAIN, "twelve", "is not a number"),
    (PLAIN, "0.1234567", "has more than six decimals"),
    (PLAIN, "1234567890", "is too large"),
    (PLAIN, "9" * 5000, "is too large"),
]


@pytest.mark.parametrize(("currency", "text", "micros"), READ)
def test_an_amount_is_read_as_the_market_writes_it(currency: Currency, text: str, micros: int) -> None:
    assert currency.read(text) == micros


@pytest.mark.parametrize(("currency", "text", "why"), ASKED_BACK, ids=lambda one: str(one)[:20])
def test_what_could_mean_two_amounts_or_none_is_asked_back(currency: Currency, text: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        currency.read(text, "price")
    assert str(refused.value).startswith("price: ")
    assert why in str(refused.value)


@pytest.mark.parametrize("currency", [PLAIN, EURO, Currency(code="KWD", decimals=3)], ids=lambda one: one.code)
@given(micros=st.integers(0, 10**15 - 1))
def test_what_is_shown_can_be_typed_again(currency: Currency, micros: int) -> None:
    assert currency.read(currency.exact(micros)) == micros
    assert currency.read(currency.owed(micros)) <= micros < currency.read(currency.owed(micros)) + currency.step


@pytest.mark.parametrize(
    "wrong", [{"code": "E R"}, {"symbol": "<b>"}, {"symbol": "1"}, {"decimals": 7}, {"decimals": -1}, {"mark": "x"}]
)
def test_a_currency_that_could_not_be_read_back_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TermsError, match="currency"):
        Currency(**wrong)  # type: ignore[arg-type]  # one wrong field at a time


def test_the_browser_reads_writes_and_asks_back_as_python_does() -> None:
    module = BROWSER / "money.mjs"
    sums = [0, 1, 9_999, 10_000, -1_234_000_001, 1_500_000, 4_000_001, 10**12]
    for currency in (PLAIN, EURO, YEN):
        texts = [text for of, text, _ in [*READ, *ASKED_BACK] if of == currency]
        told = {"code": currency.code, "symbol": currency.symbol, "decimals": currency.decimals, "mark": currency.mark}
        script = f"import * as m from {json.dumps(module.as_uri())}; m.useCurrency({json.dumps(told)});"
        read = f"{json.dumps(texts)}.map((t) => m.amount(t))"
        script += (
            f"console.log(JSON.stringify([{read}, {json.dumps(sums)}.map(m.money), {json.dumps(sums)}.map(m.owed)]))"
        )
        found, exact, owed = run_node("--input-type=module", "-e", script)
        assert exact == [currency.exact(amount) for amount in sums]
        assert owed[:4] + owed[5:] == [currency.owed(amount) for amount in sums if amount >= 0]
        for text, there in zip(texts, found, strict=True):
            assert there == _here(currency, text)


def _here(currency: Currency, text: str) -> dict[str, object]:
    try:
        return {"micros": currency.read(text)}
    except InputError as refused:
        return {"fault": str(refused).removeprefix("amount: ")}


def test_money_without_a_name_is_written_as_numbers_are() -> None:
    assert PLAIN.exact(1_234_000_001) == exact_money(1_234_000_001) == "1,234.000001"
