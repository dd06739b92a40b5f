"""A long word without a place to break it: an address in a question, or one word of a language that joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdqs.market import access, round_steps
from pdqs.protocol.market_messages import QueryMessage

from .open_round import PHONE, PLAN
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ADDRESS = f"https://office.example/{'surveys-of-the-year/' * 5}"
"""As somebody would paste it; wider than any phone."""


def test_no_page_runs_off_a_phone_where_a_question_has_an_address_in_it(site: Site, browser: Browser) -> None:
    consumer, _ = site.invite("consumer", "Office")
    owner, _ = site.invite("owner", "Ann")
    site.deposit(consumer, 100_000_000)
    asked = PLAN.model_copy(update={"query": QueryMessage(kind="count", text=f"Have you seen {ADDRESS}?")})
    drafted = round_steps.draft_round(site.market, consumer, asked, "key-of-a-long-word")
    found = round_steps.open_round(site.market, consumer, drafted.round_id)
    paths = {
        consumer: ("consumer", f"consumer/rounds/{found.round_id}"),
        owner: ("owner", f"owner/rounds/{found.round_id}"),
    }
    visitor = Visitor(browser, site, **PHONE)
    for user, places in paths.items():
        cookie = access.start_session(site.market, user).cookie
        visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
        for place in places:
            visitor.go(f"/{place}")
            assert visitor.fits(), place
    visitor.context.close()
