"""Going back to a page that answered a form: the form is there, and no browser asks whether to send it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pdqs.market import drafts, reads, round_steps

from .open_round import PHONE, PLAN
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_back_after_a_plan_was_refused_and_mended_is_the_form_with_its_draft(site: Site, browser: Browser) -> None:
    user, code = site.invite("consumer", "Refused Once")
    visitor = Visitor(browser, site, **PHONE)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    page = visitor.page
    page.get_by_label("Question put to each owner").fill("Do you row?")
    visitor.press("Save as draft")
    page.get_by_text("1 thing needs your attention").wait_for()
    assert "/consumer/plan?form=" in page.url
    page.reload()
    assert page.get_by_label("Question put to each owner").input_value() == "Do you row?", "what she typed stays"
    page.get_by_label("The fact it is about").fill("rowing")
    visitor.press("Save as draft")
    page.wait_for_url("**/consumer/rounds/r_*")
    page.go_back()
    page.get_by_text("You have sent this form before").wait_for()
    assert page.get_by_label("The fact it is about").input_value() == "rowing"
    assert len(reads.rounds_page(site.market, user).items) == 1
    assert not [one for one in visitor.complaints if "422" not in one]
    visitor.context.close()


@pytest.mark.parametrize("opened", [False, True])
def test_back_after_a_round_was_called_off_is_its_page(site: Site, browser: Browser, opened: bool) -> None:
    user, code = site.invite("consumer", f"Called Off {opened}")
    site.deposit(user, 100_000_000)
    made = drafts.draft_round(site.market, user, PLAN, f"the-draft-called-off-{opened}")
    if opened:
        round_steps.open_round(site.market, user, made.round_id)
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{made.round_id}")
    visitor.press("Cancel and get the escrow back" if opened else "Discard")
    visitor.press("Cancel the round" if opened else "Discard the draft")
    visitor.page.get_by_text("Plan another like this").wait_for()
    visitor.page.go_back()
    visitor.page.get_by_text("Plan another like this").wait_for()
    assert visitor.page.url.endswith(made.round_id)
    assert not visitor.complaints
    visitor.context.close()
