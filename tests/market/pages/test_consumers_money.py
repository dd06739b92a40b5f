"""The consumer's page of money: whatever changed her balance is told there, and adds up to it."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import httpx

from market.town import plan
from pdqs.market import access, drafts, reads, round_steps, transfers
from pdqs.protocol.market_messages import Transfer, User

from .axe import violations
from .open_round import PHONE
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def moved(site: Site, name: str) -> User:
    """A consumer whose deposit was undone and entered anew, with a round that was called off and one that is open."""
    user, _ = site.invite("consumer", name)
    for place, amount in enumerate((90_000_000, 100_000_000)):
        given = Transfer(user_id=user.user_id, amount_micros=amount)
        made = transfers.deposit(site.market, site.operator, given, f"key-{place}-{user.user_id}")
        if not place:
            transfers.reverse(site.market, site.operator, made.transaction_id)
    for place in range(2):
        draft = drafts.draft_round(site.market, user, plan(), f"key-{place}-round-{user.user_id}")
        round_steps.open_round(site.market, user, draft.round_id)
        if not place:
            round_steps.cancel_round(site.market, user, draft.round_id)
    return user


def rows(html: str) -> list[tuple[str, str]]:
    """What and how much as it is shown, from the top."""
    amount = r"<td class=\"num\"><data[^>]*>([^<]*)</data></td>"
    found = re.findall(r"<td>([^<]*)(?: · )?(?:<a[^>]*>round</a>)?</td>" + amount, unescape(html))
    return [(what.removesuffix(" · "), amount) for what, amount in found]


def test_every_entry_is_told_newest_first_and_adds_up_to_the_balance(site: Site) -> None:
    user = moved(site, "Moved About")
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60) as browser:
        page = browser.get("/consumer/money").text
        assert '<a href="/consumer/money">Balance</a>' in browser.get("/consumer").text
    told = rows(page)
    assert sorted(told) == sorted(
        [
            ("Put in escrow for a round", "-20.00"),
            ("Returned: a round was called off", "+20.00"),
            ("Put in escrow for a round", "-20.00"),
            ("Deposit", "+100.00"),
            ("A deposit undone", "-90.00"),
            ("Deposit", "+90.00"),
        ]
    )
    times = re.findall(r'<td><time datetime="([^"]*)"', page)
    assert times == sorted(times, reverse=True)
    balance = reads.me(site.market, user).balance_micros
    assert round(1_000_000 * sum(float(amount) for _, amount in told)) == balance
    assert page.count("/consumer/rounds/r_") == 3, "each with its round"


def test_amounts_have_as_many_decimals_as_are_paid_and_the_rest_in_their_title(site: Site) -> None:
    user, _ = site.invite("consumer", "Left Over")
    for place, micros in enumerate((40_800_801, 3_999)):  # as programs enter them, and rounds give back
        given = Transfer(user_id=user.user_id, amount_micros=micros)
        transfers.deposit(site.market, site.operator, given, f"key-fine-{place}")
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60) as browser:
        page = browser.get("/consumer/money").text
    assert sorted(amount for _, amount in rows(page)) == ["+40.80", "less than 0.01"]
    assert 'title="exactly 40.800801"' in page


def test_older_entries_are_on_the_next_page(site: Site) -> None:
    user, _ = site.invite("consumer", "Many Deposits")
    for place in range(60):
        given = Transfer(user_id=user.user_id, amount_micros=1_000_000)
        transfers.deposit(site.market, site.operator, given, f"key-many-{place}")
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60) as browser:
        first = browser.get("/consumer/money").text
        older = re.search(r'href="(/consumer/money\?after=[^"]*)"', first)
        assert older is not None
        assert len(rows(first)) + len(rows(browser.get(unescape(older[1])).text)) == 60


def test_the_page_of_money_fits_a_phone_and_a_desktop(site: Site, browser: Browser) -> None:
    user = moved(site, "Looked At")
    for name, look in (("phone", PHONE), ("desktop", {})):
        visitor = Visitor(browser, site, **look)
        visitor.enter(round_steps.renew_code(site.market, site.operator, user.user_id).code)
        visitor.page.get_by_role("link", name="Money").click()
        visitor.page.get_by_role("heading", name="Money").wait_for()
        assert visitor.figure("balance") == "80.00"
        assert visitor.fits()
        assert violations(visitor.page) == []
        visitor.shoot(f"consumer-money-{name}")
        visitor.context.close()
