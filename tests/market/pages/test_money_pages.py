"""Money on pages: said back before it moves, moved once, undone in the open; times in the reader's own zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from market.town import plan
from pdqs.market import access, reads, round_steps, transfers
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served as serving
from pdqs.market.settings import Settings
from pdqs.protocol.market_messages import NewUser

from .site import Site, Visitor
from .test_forms import hidden

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}


@pytest.fixture
def operator(site: Site) -> Iterator[httpx.Client]:
    """The operator without a script."""
    code = round_steps.renew_code(site.market, site.operator, site.operator.user_id).code
    with httpx.Client(base_url=site.address, timeout=30.0) as made:
        made.post("/enter", data={"code": code, "door_token": hidden(made.get("/").text, "door_token")})
        yield made


def fields(html: str, action: str) -> dict[str, str]:
    """The hidden fields of the form that goes there."""
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', html, re.DOTALL)
    assert form is not None
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[0]))


def balance(site: Site, name: str) -> int:
    user, _ = site.invite("consumer", name)
    return reads.me(site.market, user).balance_micros


def test_a_deposit_is_said_back_and_moves_once_however_often_it_is_confirmed(
    site: Site, operator: httpx.Client
) -> None:
    user, _ = site.invite("consumer", "Statistics Office")
    page = operator.get("/operator/ledger").text
    asked = {**fields(page, "/operator/ledger/deposit"), "user_id": user.user_id, "amount": "1,250.50"}
    confirm = operator.post("/operator/ledger/deposit", data=asked)
    assert confirm.status_code == 200
    assert "1,250.50" in confirm.text
    assert "Statistics Office" in confirm.text
    assert balance(site, "Statistics Office") == 0
    sent = fields(confirm.text, "/operator/ledger/deposit")
    for _ in range(2):
        assert operator.post("/operator/ledger/deposit", data=sent).status_code == 303
    assert balance(site, "Statistics Office") == 1_250_500_000


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        ("12,50", "could mean 12.50 or 1250"),
        ("0", "at least 0.01"),
        ("1.005", "at most 2 decimals"),
        ("", "nothing"),
        ("1000000.01", "one entry moves at most 1,000,000.00, and a balance may hold at most 1,000,000,000.00"),
    ],
)
def test_an_amount_in_doubt_is_asked_back_and_nothing_moves(
    site: Site, operator: httpx.Client, amount: str, said: str
) -> None:
    user, _ = site.invite("consumer", "Doubtful")
    page = operator.get("/operator/ledger").text
    asked = {**fields(page, "/operator/ledger/deposit"), "user_id": user.user_id, "amount": amount}
    for confirmed in ({}, {"confirmed": "yes"}):
        answer = operator.post("/operator/ledger/deposit", data={**asked, **confirmed})
        assert answer.status_code == 422
        assert said in answer.text
    assert balance(site, "Doubtful") == 0


def test_a_wrong_deposit_is_undone_in_the_open(site: Site, operator: httpx.Client) -> None:
    user, _ = site.invite("consumer", "Mistaken")
    site.deposit(user, 1_250_000_000)
    page = operator.get("/operator/ledger").text
    line = transfers.journal(site.market, site.operator).items[0]
    asked = {"csrf_token": hidden(page, "csrf_token"), "key": "k" * 12, "undoes": line.transaction_id}
    confirm = operator.post("/operator/ledger/reversal", data=asked)
    assert "Undo the entry of 1,250.00" in confirm.text
    assert balance(site, "Mistaken") == 1_250_000_000
    done = operator.post("/operator/ledger/reversal", data=fields(confirm.text, "/operator/ledger/reversal"))
    after = operator.get(done.headers["location"]).text
    assert "The reversal is entered: -1,250.00 for Mistaken." in after
    assert "(undone)" in after
    assert balance(site, "Mistaken") == 0
    again = operator.post("/operator/ledger/reversal", data=asked)
    assert (again.status_code, "undone before" in again.text) == (409, True)


def test_unspent_money_is_paid_back_on_the_page_as_far_as_it_is_free(site: Site, operator: httpx.Client) -> None:
    user, _ = site.invite("consumer", "Paid Back")
    site.deposit(user, 50_000_000)
    draft = round_steps.draft_round(site.market, user, plan(), "key-of-paid-back")
    round_steps.open_round(site.market, user, draft.round_id)
    address = "/operator/ledger/refund"
    asked = {**fields(operator.get("/operator/ledger").text, address), "user_id": user.user_id, "amount": "40"}
    refused = operator.post(address, data=asked)
    assert refused.status_code == 409
    assert (
        "Paid Back has 30.00, which does not cover 40.00; rounds of hers hold 20.00 more until they end."
        in refused.text
    )
    assert re.search(r'id="refund" [^>]*value="40"', refused.text), "what was typed is kept"
    confirm = operator.post(address, data={**asked, "amount": "30"})
    assert "Enter the refund of 30.00" in confirm.text
    assert balance(site, "Paid Back") == 30_000_000
    sent = fields(confirm.text, address)
    done = [operator.post(address, data=sent) for _ in range(2)][1]
    assert "The refund is entered: 30.00 for Paid Back." in operator.get(done.headers["location"]).text
    assert balance(site, "Paid Back") == 0
    assert "Refund: Paid Back" in operator.get("/operator/journal").text
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    hers = httpx.get(f"{site.address}/consumer/money", cookies=cookies).text
    assert re.search(r"Paid back to you</td><td class=.num.><data[^>]*>-30\.00", hers)


def test_a_step_that_comes_too_early_is_refused_in_words_not_in_milliseconds(site: Site) -> None:
    user, _ = site.invite("consumer", "Hasty")
    site.deposit(user, 500_000_000)
    made = round_steps.draft_round(site.market, user, plan(), "key-of-hasty")
    round_steps.open_round(site.market, user, made.round_id)
    with pytest.raises(Exception, match=r"bids close in .*, at \d+ \w+ \d{4}, \d\d:\d\d UTC$"):
        round_steps.clear_round(site.market, user, made.round_id)


@pytest.mark.parametrize(("decimals", "zero", "like"), [(2, "0,00 EUR", "12,50 EUR"), (0, "0 EUR", "12 EUR")])
def test_a_market_with_a_currency_writes_it_everywhere(tmp_path: Path, decimals: int, zero: str, like: str) -> None:
    money = {"currency": "EUR", "decimal_mark": ",", "currency_decimals": decimals}
    settings = Settings(database_url=f"sqlite:///{tmp_path}/m.db", **money)  # type: ignore[arg-type]  # as named
    app = create_app(settings, ticking=False)
    first = round_steps.first_operator(app.state.market)
    new = NewUser(role="consumer", name="C")
    someone = round_steps.register_user(app.state.market, first.user, new, "key-of-consumer").user
    code = first.code
    with serving(app) as address, httpx.Client(base_url=address) as browser:
        browser.post("/enter", data={"code": code, "door_token": hidden(browser.get("/").text, "door_token")})
        assert zero in browser.get("/operator").text
        page = browser.get("/operator/ledger").text
        assert f"Like {like}." in page
        asked = {**fields(page, "/operator/ledger/deposit"), "user_id": someone.user_id, "amount": like}
        confirm = browser.post("/operator/ledger/deposit", data=asked)
        assert confirm.status_code == 200, "what it says is taken"
        browser.post("/operator/ledger/deposit", data=fields(confirm.text, "/operator/ledger/deposit"))
        assert "1 transaction<" in browser.get("/operator").text
        after = browser.get("/operator/ledger").text
        assert "1 transaction, 0 unbalanced." in after
        assert f"-{like[:-4]}" in after
        assert "for the outside world; no other accounts are below zero." in after


def test_an_owner_who_types_a_comma_is_asked_back_and_no_bid_is_sent(site: Site, browser: Browser) -> None:
    consumer, _ = site.invite("consumer", "Comma Institute")
    site.deposit(consumer, 500_000_000)
    made = round_steps.draft_round(site.market, consumer, plan(), "key-of-comma")
    round_steps.open_round(site.market, consumer, made.round_id)
    _, code = site.invite("owner", "Cora")
    owner = Visitor(browser, site, timezone_id="Europe/Vienna", locale="en-GB", **PHONE)
    owner.enter(code)
    owner.go(f"/owner/rounds/{made.round_id}")
    owner.page.get_by_label("Your price per unit of epsilon").fill("0,2")
    owner.press("Bid")
    owner.page.get_by_text("is to be written 0.2, with a point before the decimals").wait_for()
    owner.shoot("money-comma-phone")
    assert not [r for r in owner.requests if r.method == "PUT"]
    owner.page.get_by_label("Your price per unit of epsilon").fill("0.2")
    owner.page.get_by_role("button", name="Bid 0.20").wait_for()
    clock = owner.page.locator("time[data-until]").first
    before = clock.inner_text()
    script = "before => document.querySelector('time[data-until]').textContent !== before"
    owner.page.wait_for_function(script, arg=before)
    closes = owner.page.locator("dd time").first
    assert re.search(r"GMT\+[12]|CES?T", closes.inner_text())
    assert str(closes.get_attribute("title")).endswith("UTC")
    assert owner.fits()
    assert owner.complaints == []


def test_the_operator_sees_what_she_is_about_to_enter(site: Site, browser: Browser) -> None:
    user, _ = site.invite("consumer", "Big Spender")
    site.deposit(user, 250_000_000)
    for name, window in (("desktop", {}), ("phone", PHONE)):
        visitor = Visitor(browser, site, **window)
        visitor.enter(round_steps.renew_code(site.market, site.operator, site.operator.user_id).code)
        visitor.go("/operator/ledger")
        visitor.page.get_by_label("Consumer", exact=True).select_option(label="Big Spender")
        visitor.page.get_by_label("Amount received").fill("12.50")
        visitor.shoot(f"money-ledger-{name}")
        visitor.press("Enter the deposit")
        visitor.shoot(f"money-confirm-{name}")
        assert visitor.micros("amount") == 12_500_000
        assert visitor.fits()
        visitor.page.get_by_role("button", name="Enter the deposit of 12.50").dblclick()
        visitor.page.get_by_text("The deposit is entered: 12.50 for Big Spender.").wait_for()
        assert visitor.complaints == []
    assert balance(site, "Big Spender") == 275_000_000
