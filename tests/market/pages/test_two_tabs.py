"""One draft in two tabs: what a button says is what it does, and no change is taken back unseen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access, drafts, reads, round_steps
from pdqs.market.pages import plan_form
from pdqs.protocol.market_messages import RoundPlan, User

from .axe import violations
from .open_round import PHONE, PLAN
from .site import Site, Visitor, served
from .test_money_pages import fields as all_fields

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHEAP, DEAR = (PLAN.model_copy(update={"budget_micros": amount}) for amount in (50_000_000, 700_000_000))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As everywhere, but that money has a name."""
    with served(Path(tmp_path_factory.mktemp("market")), currency="USD") as up:
        yield up


def drafted(site: Site, name: str) -> tuple[User, str]:
    """A consumer of means with a cheap draft, and where it is."""
    user, _ = site.invite("consumer", name)
    site.deposit(user, 900_000_000)
    made = drafts.draft_round(site.market, user, CHEAP, f"the-draft-of-{user.user_id}")
    return user, f"/consumer/rounds/{made.round_id}"


@contextmanager
def drafting(site: Site, name: str) -> Iterator[tuple[User, str, httpx.Client]]:
    """The same, and her browser."""
    user, at = drafted(site, name)
    cookies = {access.COOKIE: access.start_session(site.market, user).cookie}
    with httpx.Client(base_url=site.address, cookies=cookies, timeout=60) as browser:
        yield user, at, browser


def fields(html: str, action: str) -> dict[str, str]:
    """Of the form that goes there, what it does not show."""
    return {name: value for name, value in all_fields(html, action).items() if name in ("csrf_token", "key", "shown")}


def kept(site: Site, user: User, at: str) -> RoundPlan:
    return reads.round_by_id(site.market, user, at.rpartition("/")[2]).plan


def test_a_button_that_says_50_does_not_put_700_in_escrow(site: Site) -> None:
    with drafting(site, "Two Tabs") as (user, at, browser):
        shown = browser.get(at).text
        assert "put 50.00 USD in escrow" in shown
        drafts.change_draft(site.market, user, at.rpartition("/")[2], DEAR)  # in the other tab
        for more in ({}, {"nonce_hash": "ab" * 32}):
            refused = browser.post(f"{at}/open", data={**fields(shown, f"{at}/open"), **more})
            assert refused.status_code == 409
            assert "This draft was changed since you looked: the budget is now 700.00 USD." in refused.text
            assert kept(site, user, at).nonce_hash is None, "nothing was put into it either"
        assert reads.me(site.market, user).balance_micros == 900_000_000
        assert "put 700.00 USD in escrow" in refused.text
        again = browser.post(f"{at}/open", data=fields(refused.text, f"{at}/open"))
        assert again.status_code == 303, "she has seen it now"
        assert reads.me(site.market, user).balance_micros == 200_000_000


def test_an_opening_that_does_not_say_what_was_looked_at_is_shown_the_draft(site: Site) -> None:
    with drafting(site, "An Old Page") as (user, at, browser):
        token = fields(browser.get(at).text, f"{at}/open")["csrf_token"]
        assert browser.post(f"{at}/open", data={"csrf_token": token}).status_code == 409
        assert reads.round_by_id(site.market, user, at.rpartition("/")[2]).state == "draft"


def test_the_button_pressed_twice_opens_once_also_with_a_part_in_the_draw(site: Site) -> None:
    with drafting(site, "Pressed Twice") as (user, at, browser):
        sent = {**fields(browser.get(at).text, f"{at}/open"), "nonce_hash": "ab" * 32}
        assert [browser.post(f"{at}/open", data=sent).status_code for _ in range(2)] == [303, 303]
        assert reads.me(site.market, user).balance_micros == 850_000_000


def test_a_later_form_does_not_take_an_earlier_change_back_unseen(site: Site) -> None:
    with drafting(site, "Two Forms") as (user, at, browser):
        sent = {**plan_form.fields_of(CHEAP), **fields(browser.get(f"{at}/edit").text, f"{at}/edit")}
        first = browser.post(f"{at}/edit", data={**sent, "budget": "700", "bid_time": "3", "bid_unit": "days"})
        assert first.status_code == 303
        late = {**sent, "purpose": "Typed with care."}
        refused = browser.post(f"{at}/edit", data=late)
        said = unescape(refused.text)
        assert refused.status_code == 422
        assert "This draft was changed since you opened this form, and what you typed is not saved." in said
        assert "Kept now: why you ask left empty; the budget “700”; the time to bid “3 days”." in said
        assert 'value="Typed with care."' in said
        assert kept(site, user, at).budget_micros == 700_000_000
        again = browser.post(f"{at}/edit", data={**late, **fields(refused.text, f"{at}/edit")})
        assert again.status_code == 303, "she knows what is kept, and wants hers"
        assert (kept(site, user, at).budget_micros, kept(site, user, at).purpose) == (50_000_000, "Typed with care.")


def test_a_change_sent_twice_is_one_change(site: Site) -> None:
    with drafting(site, "Saved Twice") as (user, at, browser):
        sent = {**plan_form.fields_of(CHEAP), **fields(browser.get(f"{at}/edit").text, f"{at}/edit"), "budget": "60"}
        assert [browser.post(f"{at}/edit", data=sent).status_code for _ in range(2)] == [303, 303]
        assert kept(site, user, at).budget_micros == 60_000_000


def test_a_new_form_in_two_tabs_does_not_take_back_what_the_first_has_saved(site: Site) -> None:
    with drafting(site, "A Form Twice") as (user, _, browser):
        start = browser.get("/consumer/plan", follow_redirects=True).text
        sent = {**plan_form.fields_of(CHEAP), **fields(start, "/consumer/rounds")}
        at = browser.post("/consumer/rounds", data={**sent, "budget": "61"}).headers["location"]
        refused = browser.post("/consumer/rounds", data={**sent, "budget": "62"})
        assert refused.status_code == 422
        assert "Kept now: the budget “61”." in unescape(refused.text)
        again = browser.post(
            "/consumer/rounds", data={**sent, **fields(refused.text, "/consumer/rounds"), "budget": "62"}
        )
        assert again.headers["location"] == at, "still one draft"
        assert kept(site, user, at).budget_micros == 62_000_000


def test_both_refusals_are_seen_at_once_on_a_phone(site: Site, browser: Browser) -> None:
    user, at = drafted(site, "On a Phone")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(round_steps.renew_code(site.market, site.operator, user.user_id).code)
    for path, button, name in ((at, "Open the round", "opened"), (f"{at}/edit", "Save the changes", "edited")):
        drafts.change_draft(site.market, user, at.rpartition("/")[2], CHEAP)
        visitor.go(path)
        drafts.change_draft(site.market, user, at.rpartition("/")[2], DEAR)
        visitor.press(button)
        said = visitor.page.get_by_text("This draft was changed since")
        said.wait_for()
        assert said.evaluate("box => box.getBoundingClientRect().bottom <= innerHeight")
        assert violations(visitor.page) == []
        assert visitor.fits()
        visitor.shoot(f"draft-changed-elsewhere-{name}-phone")
    visitor.context.close()
