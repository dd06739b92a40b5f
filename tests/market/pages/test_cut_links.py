"""A link that was cut off on its way: she is told to copy all of it, not to ask for another, which would void it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pdqs.market import access
from pdqs.protocol.problems import UnauthorizedError

from .axe import violations
from .open_round import PHONE
from .site import Site, Visitor
from .test_device_page import enrol, page, place, told

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["page", "place"]  # the fixtures

ALL = "This is not a whole one-time code: copy all of it, or the whole link."
ANOTHER = "The one-time code is unknown, used or has run out: ask for another."


def test_a_code_that_is_cut_off_is_told_from_one_that_is_used_up(site: Site) -> None:
    _, code = site.invite("owner", "Cut")
    for given in (code[:30], code[:-1], code + "x", ""):
        for asked in (access.redeem, access.whose_code):
            with pytest.raises(UnauthorizedError, match="copy all of it, or the whole link"):
                asked(site.market, given)
    assert access.redeem(site.market, code).name == "Cut"
    with pytest.raises(UnauthorizedError, match="ask for another"):
        access.redeem(site.market, code)


@pytest.fixture(scope="module")
def opened(site: Site, browser: Browser) -> Iterator[Visitor]:
    visitor = Visitor(browser, site, **PHONE)
    yield visitor
    visitor.context.close()


@pytest.mark.parametrize("letters", [8, 30])
def test_at_the_door_a_cut_link_says_to_copy_all_of_it(site: Site, browser: Browser, letters: int) -> None:
    _, code = site.invite("owner", f"Cut at {letters}")
    phone = Visitor(browser, site, **PHONE)
    phone.page.goto(f"{site.address}/enter#{code[:letters]}")
    phone.press("Sign in")
    phone.page.get_by_text(ALL).wait_for()
    assert ANOTHER not in phone.page.locator("main").inner_text()
    assert violations(phone.page) == []
    phone.shoot("door-cut-link-phone")
    phone.page.get_by_label("One-time code").fill(code)
    phone.press("Sign in")
    phone.page.wait_for_url("**/owner")
    phone.context.close()


def test_on_the_page_of_her_own_device_too(place: Site, page: Page) -> None:
    _, code = place.invite("owner", "Cut Elsewhere")
    enrol(page, place.address, code[:-3])
    told(page, "The market does not know this code: copy all of it, or the whole link.")
    enrol(page, f"{place.address}/enter#{code}.", "")
    page.get_by_role("button", name=place.address).wait_for()


@pytest.mark.parametrize("behind", [".", ")", ">", ".)", ",", "\u201d", "\u2026", "\N{ZERO WIDTH SPACE}"])
def test_what_a_letter_has_behind_a_link_is_no_part_of_its_code(site: Site, opened: Visitor, behind: str) -> None:
    _, code = site.invite("owner", f"Before {ord(behind[0])} {len(behind)}")
    opened.page.goto("about:blank")
    opened.page.goto(f"{site.address}/enter#{code}{behind}")
    field = opened.page.get_by_label("One-time code")
    opened.page.wait_for_function("document.getElementById('code').value !== ''")
    assert field.input_value() == code
    field.fill(f"({site.address}/enter#{code}{behind}")
    opened.press("Sign in")
    opened.page.wait_for_url("**/owner")
    opened.press("Sign out")


def test_who_is_signed_in_already_is_told_so_too(site: Site, browser: Browser) -> None:
    _, code = site.invite("owner", "Already in")
    _, other = site.invite("owner", "Not yet in")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.page.goto(f"{site.address}/enter#{other[:30]}")
    visitor.page.get_by_text(ALL).wait_for()
    visitor.context.close()


def test_a_place_on_the_page_is_no_code(site: Site, browser: Browser) -> None:
    visitor = Visitor(browser, site)
    visitor.go("/enter#main")
    visitor.page.wait_for_load_state("networkidle")
    assert visitor.page.get_by_label("One-time code").input_value() == ""
    visitor.context.close()
