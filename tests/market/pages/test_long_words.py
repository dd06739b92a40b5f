"""A long word without a place to break it: an address in a question, or one word of a language that joins them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pdqs.market import access, round_steps
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import QueryMessage

from .open_round import PHONE, PLAN
from .site import Site, Visitor
from .test_browser_device import PLAN as SOON
from .test_browser_device import Guest
from .test_device_page import enrol, fits, page, place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["page", "place"]  # the fixtures

ADDRESS = f"https://office.example/{'surveys-of-the-year/' * 5}"
"""As somebody would paste it; wider than any phone."""


def opened(site: Site) -> str:
    """A round whose question has the address in it."""
    consumer, _ = site.invite("consumer", "Office")
    site.deposit(consumer, 100_000_000)
    asked = PLAN.model_copy(update={"query": QueryMessage(kind="count", text=f"Have you seen {ADDRESS}?")})
    drafted = round_steps.draft_round(site.market, consumer, asked, "key-of-a-long-word")
    return round_steps.open_round(site.market, consumer, drafted.round_id).round_id


def test_no_page_runs_off_a_phone_where_a_question_has_an_address_in_it(site: Site, browser: Browser) -> None:
    round_id, visitor = opened(site), Visitor(browser, site, **PHONE)
    for role, name in (("consumer", "Office"), ("owner", "Ann")):
        user, _ = site.invite(role, name)  # type: ignore[arg-type]  # a role
        cookie = access.start_session(site.market, user).cookie
        visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
        for path in (f"/{role}", f"/{role}/rounds/{round_id}"):
            visitor.go(path)
            assert visitor.page.get_by_text("surveys-of-the-year").first.is_visible()
            assert visitor.fits(), path
    visitor.context.close()


def test_nor_does_an_offer_whose_answers_are_such_words(site: Site, browser: Browser) -> None:
    labels = ["Tea", f"{'Donaudampfschifffahrt' * 3}sgesellschaft"]
    domain = DomainMessage(kind="categories", labels=labels, size=2)
    which = QueryMessage(kind="histogram", text="Where do you work?", domain=domain)
    guest = Guest(site, browser, "Long Answers", SOON.model_copy(update={"query": which, "attribute": "work"}))
    guest.page.set_viewport_size(PHONE["viewport"])  # type: ignore[arg-type]  # a size
    guest.ready()
    guest.page.get_by_label(labels[1]).check()
    assert guest.visitor.fits()
    guest.leave()


def test_nor_does_the_page_of_all_that_her_browser_knows(site: Site, browser: Browser, tmp_path: Path) -> None:
    guest = Guest(site, browser, "Takes It Away")
    guest.visitor.go("/owner/privacy")
    with guest.page.expect_download() as kept:
        guest.page.get_by_role("button", name="Save it as a page").click()
    kept.value.save_as(tmp_path / "known.html")
    phone = Visitor(browser, site, **PHONE)
    phone.page.goto((tmp_path / "known.html").as_uri())
    phone.page.get_by_role("heading", name="What you bid on").wait_for()
    assert phone.fits()
    widths = phone.page.evaluate("[...document.querySelectorAll('td')].map(cell => cell.getBoundingClientRect().width)")
    assert min(widths) >= 64, "no column of single letters"
    phone.shoot("known-phone")
    phone.context.close()
    guest.leave()


def test_nor_does_the_page_of_her_own_device(place: Site, page: Page) -> None:
    opened(place)
    _, code = place.invite("owner", "Ann")
    enrol(page, place.address, code)
    page.get_by_role("button", name="Have you seen").click()
    page.get_by_label("Your price per unit of epsilon").wait_for()
    assert fits(page)
