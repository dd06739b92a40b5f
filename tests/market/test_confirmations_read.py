"""Confirmations as providers write them: what is meant is read, and other money or another batch is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.owing import asked_for, batch_of, confirmed, earn, owe, owed
from market.town import Town
from pdqs.market import payout_confirmations, payouts
from pdqs.market.invitation_files import guests_in
from pdqs.market.payout_confirmations import read_confirmation
from pdqs.model.money import Currency
from pdqs.protocol.problems import UnprocessableError
from pdqs.tables.lists import read_list

EURO = Currency(code="EUR", symbol="€", decimals=2, mark=",")


@pytest.mark.parametrize("amount", ["4,00 EUR", "EUR 4.00", "4.00", "€4,00"])
def test_an_amount_may_come_with_the_markets_own_currency(amount: str) -> None:
    (said,) = read_confirmation(f'reference;status;amount\np_1;paid;"{amount}"\n', EURO)
    assert 4_000_000 in (said.amount_micros, said.or_micros)


def test_another_currency_is_refused_with_its_row() -> None:
    head = "reference,status,amount,currency\n"
    assert len(read_confirmation(f"{head}p_1,paid,4.00,eur\np_2,paid,1.00,\n", EURO)) == 2
    with pytest.raises(UnprocessableError, match="row 3 is in 'USD', and this market's money is EUR"):
        read_confirmation(f"{head}p_1,paid,4.00,EUR\np_2,paid,1.00,USD\n", EURO)
    with pytest.raises(UnprocessableError):
        read_confirmation("reference,status,amount\np_1,paid,4.00 USD\n", EURO)


def test_what_failed_may_come_without_an_amount_and_what_was_paid_may_not(either_town: Town) -> None:
    town = either_town
    owe(town, [4_000_000])
    batch_id, told = batch_of(town)
    empty = told.replace("paid,4.00", "failed,")
    assert empty != told
    assert (confirmed(town, batch_id, empty).failed, owed(town)) == (1, [4_000_000])
    with pytest.raises(UnprocessableError):
        confirmed(town, batch_id, told.replace("paid,4.00", "paid,"))


def test_a_reference_of_another_batch_says_which(town: Town) -> None:
    owe(town, [4_000_000])
    first, told = batch_of(town)
    owe_more = town.add_owners(1)
    earn(town, {owe_more[0].user_id: 1_000_000}, "more")
    second = payouts.make_batch(town.market, town.operator, "the-batch-2").batch_id
    with pytest.raises(UnprocessableError, match=f"it belongs to batch {payouts.mark_of_batch(first)}$"):
        payout_confirmations.preview(town.market, town.operator, second, told)
    unknown = told.replace(asked_for(town, first)[0]["reference"], "p_0")
    with pytest.raises(UnprocessableError, match=r"no payout 'p_0' in this batch$"):
        payout_confirmations.preview(town.market, town.operator, second, unknown)


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", "\ufeffsep=;"])
def test_the_line_that_tells_a_spreadsheets_separator_is_no_row(first: str) -> None:
    listed = read_list(f"{first}\r\nname;group\r\nAnn;North, old\r\n", Path("list.csv"), ["name"], alone="name")
    assert (listed.header, listed.rows) == (("name", "group"), [(3, ["Ann", "North, old"])])
    assert guests_in(f"{first}\nAnn\nBo\n".encode()).names == ["Ann", "Bo"]
