"""Forms sent after the session has ended: she is told, signs in, and finds hers as it was; nobody else does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import Settings, access, drafts, people, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served as serving
from pdqs.market.pages import not_sent
from pdqs.protocol.market_messages import User
from pdqs.rounds.commitments import commitment_to

from .axe import violations
from .open_round import PHONE, PLAN, SEEN
from .site import Site, Visitor
from .test_own_nonce import bid_and_close

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OUT = "You were signed out before this arrived, so nothing was sent and nothing was changed."
KEPT = "This tab has kept what you filled in"
AGAIN = "You were signed out before you sent this, so it was not taken and nothing was changed. It is filled in again"
KEEPS = "Object.keys(sessionStorage)"
TYPED = {
    "Question put to each owner": "Do you cycle to work, even when it rains?",
    "The fact it is about": "cycling",
    "Why you ask": "To plan paths.",
    "Budget": "123.45",
    "Lowest price to bid": "0.125",
}


def ended(site: Site, user: User) -> None:
    """End all her sign-ins, as an operator may, or time."""
    people.revoke_all(site.market, site.operator, user.user_id)


def code_for(site: Site, user: User) -> str:
    return people.renew_code(site.market, site.operator, user.user_id).code


def sign_in_here(visitor: Visitor, code: str) -> None:
    """At the door as it stands, without going anywhere first."""
    visitor.page.get_by_label("One-time code").fill(code)
    visitor.press("Sign in")


def planning(site: Site, browser: Browser, name: str, **context: object) -> tuple[User, Visitor]:
    """A consumer who has filled in a plan."""
    user, code = site.invite("consumer", name)
    visitor = Visitor(browser, site, **context)
    visitor.enter(code)
    visitor.go("/consumer/plan")
    visitor.page.get_by_label("What do you want to know?").select_option("median")
    visitor.page.get_by_text("More settings").click()
    for label, words in TYPED.items():
        visitor.page.get_by_label(label, exact=True).fill(words)
    visitor.page.get_by_label("Sharper, if prices say nothing").check()
    return user, visitor


def drafts_of(site: Site, user: User) -> int:
    return len(reads.rounds_page(site.market, user).items)


def test_a_plan_sent_after_the_session_is_found_again_and_sent_by_her(site: Site, browser: Browser) -> None:
    user, phone = planning(site, browser, "Path Institute", **PHONE)
    ended(site, user)
    phone.press("Save as draft")
    phone.page.get_by_text(OUT).wait_for()
    phone.page.get_by_text(KEPT).wait_for()
    assert phone.page.get_by_text(KEPT).evaluate(SEEN), "without a scroll"
    assert not phone.page.get_by_text("What you had written").is_visible()
    assert violations(phone.page) == []
    assert phone.fits()
    phone.shoot("unsent-door-phone")
    sign_in_here(phone, "x" * 30)  # a wrong code changes nothing of it
    phone.page.get_by_text(KEPT).wait_for()
    with phone.page.expect_response("**/plan/preview?*kind=median*") as asked:
        sign_in_here(phone, code_for(site, user))
    assert asked.value.ok, "the picture is of what was typed"
    phone.page.get_by_text(AGAIN).wait_for()
    phone.page.locator("#preview[aria-busy=false]").wait_for()
    assert phone.page.url.startswith(f"{site.address}/consumer/plan?form=")
    for label, words in TYPED.items():
        assert phone.page.get_by_label(label, exact=True).input_value() == words
    assert phone.page.get_by_label("What do you want to know?").input_value() == "median"
    assert phone.page.get_by_label("Sharper, if prices say nothing").is_checked()
    assert phone.page.get_by_label("Lowest answer").is_visible(), "the fields of a median are shown"
    assert phone.page.get_by_label("Lowest price to bid").is_visible(), "what she changed is not folded away"
    assert violations(phone.page) == []
    assert phone.fits()
    phone.shoot("unsent-found-phone")
    assert drafts_of(site, user) == 0, "nothing is sent by itself"
    assert phone.page.evaluate(KEEPS) == []
    phone.press("Save as draft")
    phone.page.wait_for_url("**/consumer/rounds/r_*")
    assert drafts_of(site, user) == 1
    assert phone.page.evaluate(KEEPS) == [], "what has arrived is not kept"
    phone.context.close()


def test_whoever_else_signs_in_there_neither_sees_nor_sends_it(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "First at the desk")
    _, code = site.invite("consumer", "Second at the desk")
    ended(site, user)
    visitor.press("Save as draft")
    visitor.page.get_by_text(KEPT).wait_for()
    sign_in_here(visitor, code)
    visitor.page.wait_for_url(re.compile("/consumer/plan[?]form="))
    visitor.page.get_by_label("Budget", exact=True).wait_for()
    assert visitor.page.get_by_label("Question put to each owner").input_value() == ""
    assert visitor.page.get_by_label("Budget", exact=True).input_value() == "500"
    assert visitor.page.evaluate(KEEPS) == []
    visitor.context.close()


def test_a_tab_of_before_keeps_the_form_when_she_signed_in_in_another(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "Two Tabs")
    cookie = access.start_session(site.market, user).cookie
    visitor.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    visitor.press("Save as draft")
    visitor.page.get_by_text("Nothing was sent: that page was loaded before you signed in as Two Tabs.").wait_for()
    assert violations(visitor.page) == []
    visitor.page.get_by_role("link", name="Back to that page").click()
    visitor.page.get_by_text(
        "You sent this from a page that was loaded before you signed in, so it was not taken"
    ).wait_for()
    assert visitor.page.get_by_label("Why you ask").input_value() == "To plan paths."
    assert drafts_of(site, user) == 0
    visitor.context.close()


def test_of_a_form_that_arrived_and_was_refused_it_is_said_that_it_was_and_why(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "Run out")
    visitor.page.evaluate("document.querySelector('#plan [name=key]').value = 'x'")
    visitor.press("Save as draft")
    visitor.page.get_by_text("The form has run out: reload the page and try again.").wait_for()
    visitor.go("/consumer/plan")
    why = (
        "This was refused when you sent it: the form has run out: reload the page and try again. It is filled in again"
    )
    visitor.page.get_by_text(why).wait_for()
    assert visitor.page.get_by_label("Why you ask").input_value() == "To plan paths."
    assert "arrive" not in visitor.page.locator("#unsent").inner_text()
    assert drafts_of(site, user) == 0
    visitor.context.close()


def test_signing_out_forgets_it(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "Leaves early")
    ended(site, user)
    visitor.press("Save as draft")
    visitor.page.get_by_text(KEPT).wait_for()
    visitor.page.get_by_role("link", name="pdqs market").click()
    sign_in_here(visitor, code_for(site, user))
    visitor.page.wait_for_url("**/consumer")
    assert visitor.page.evaluate(KEEPS) != [], "it waits on its page"
    visitor.press("Sign out")
    assert visitor.page.evaluate(KEEPS) == []
    visitor.context.close()


def test_what_is_sent_out_of_reach_is_there_when_she_goes_back(site: Site, browser: Browser) -> None:
    _, visitor = planning(site, browser, "In a tunnel")
    # Over TLS browsers keep nothing of a page that is not to be stored; this has them keep nothing here either.
    visitor.page.evaluate("document.getElementById('plan').autocomplete = 'off'")
    visitor.context.set_offline(True)
    visitor.page.get_by_role("button", name="Save as draft").click()
    visitor.page.wait_for_url(lambda url: "/consumer/plan" not in url)
    visitor.context.set_offline(False)
    visitor.page.go_back()
    visitor.page.get_by_label("Why you ask").wait_for()
    assert visitor.page.get_by_label("Why you ask").input_value() == "To plan paths."
    assert visitor.page.get_by_label("Budget", exact=True).input_value() == "123.45"
    visitor.context.close()


def test_a_refused_plan_and_a_changed_draft_are_found_again_too(site: Site, browser: Browser) -> None:
    user, visitor = planning(site, browser, "Twice unlucky")
    visitor.page.get_by_label("Budget", exact=True).fill("much")
    visitor.press("Save as draft")
    visitor.page.locator("#faults").wait_for()
    visitor.page.wait_for_load_state()
    ended(site, user)
    visitor.page.get_by_label("Budget", exact=True).fill("60")
    visitor.press("Save as draft")
    sign_in_here(visitor, code_for(site, user))
    visitor.page.wait_for_url(re.compile("/consumer/plan[?]form="))
    visitor.page.get_by_text(AGAIN).wait_for()
    assert visitor.page.get_by_label("Budget", exact=True).input_value() == "60"
    visitor.press("Save as draft")
    visitor.page.get_by_role("link", name="Change it", exact=True).click()
    visitor.page.wait_for_url("**/edit")  # until it is whole: what keeps her form is the last to arrive
    visitor.page.get_by_label("Budget", exact=True).fill("70")
    ended(site, user)
    visitor.press("Save the changes")
    sign_in_here(visitor, code_for(site, user))
    visitor.page.wait_for_url("**/edit")
    visitor.page.get_by_text(AGAIN).wait_for()
    assert visitor.page.get_by_label("Budget", exact=True).input_value() == "70"
    visitor.context.close()


def test_without_scripts_she_is_told_and_shown_her_words(site: Site, browser: Browser) -> None:
    user, _ = site.invite("consumer", "Plain Pages")
    plain = Visitor(browser, site, java_script_enabled=False, **PHONE)
    cookie = access.start_session(site.market, user).cookie
    plain.context.add_cookies([{"name": access.COOKIE, "value": cookie, "url": site.address}])
    plain.go("/consumer/plan")
    words = "Do you <b>cycle</b>?"
    plain.page.get_by_label("Question put to each owner").fill(words)
    plain.page.get_by_label("Answers to choose from").fill("a\nb")
    ended(site, user)
    plain.press("Save as draft")
    text = plain.page.locator("main").inner_text()
    assert OUT in text
    assert KEPT not in text, "nothing has kept it"
    assert plain.page.get_by_label("The question").input_value() == words
    assert plain.page.get_by_label("Answers to choose from").input_value() == "a\nb"
    assert plain.fits()
    plain.shoot("unsent-door-no-script-phone")
    plain.context.close()


def test_an_owners_letters_and_an_operators_deposit_are_found_again(site: Site, browser: Browser) -> None:
    ann, code = site.invite("owner", "Ann of the letters")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go("/account")
    visitor.page.get_by_label("Name of the new token").fill("my laptop")
    ended(site, ann)
    visitor.press("Make a token")
    visitor.page.get_by_text(OUT).wait_for()
    sign_in_here(visitor, code_for(site, ann))
    visitor.page.wait_for_url("**/account")
    visitor.page.get_by_text(AGAIN).wait_for()
    assert visitor.page.get_by_label("Name of the new token").input_value() == "my laptop"
    assert access.sign_ins(site.market, ann).tokens == []
    visitor.context.close()

    other, code = site.invite("operator", "Otto")
    consumer, _ = site.invite("consumer", "Money Ltd")
    desk = Visitor(browser, site)
    desk.enter(code)
    desk.go("/operator/ledger")
    desk.page.locator("#consumer").select_option(consumer.user_id)
    desk.page.locator("#deposit").fill("12.50")
    ended(site, other)
    desk.page.locator("form[action='/operator/ledger/deposit'] button").click()
    desk.page.get_by_text(OUT).wait_for()
    sign_in_here(desk, code_for(site, other))
    desk.page.get_by_text(AGAIN).wait_for()
    assert desk.page.locator("#consumer").input_value() == consumer.user_id
    assert desk.page.locator("#deposit").input_value() == "12.50"
    desk.page.locator("form[action='/operator/ledger/deposit'] button").click()
    desk.page.wait_for_url("**/operator/ledger/deposit")
    ended(site, other)  # at the second word: no money moves, and it is not said by itself later
    desk.page.locator("main form button[type=submit]").first.click()
    desk.page.get_by_text(OUT).wait_for()
    sign_in_here(desk, code_for(site, other))
    desk.page.wait_for_url("**/operator/ledger")
    assert reads.me(site.market, consumer).balance_micros == 0
    desk.context.close()


def test_a_part_of_the_draw_is_neither_kept_nor_said_back(site: Site, browser: Browser) -> None:
    user, code = site.invite("consumer", "Secret Parts")
    site.deposit(user, 30_000_000)
    secret = "cd" * 32
    plan = PLAN.model_copy(update={"nonce_hash": commitment_to("nonce", bytes.fromhex(secret)), "bid_seconds": 3600})
    draft = drafts.draft_round(site.market, user, plan, "key-of-secret")
    round_steps.open_round(site.market, user, draft.round_id)
    bid_and_close(site, user, draft.round_id)
    round_steps.clear_round(site.market, user, draft.round_id)  # as the market's clock does, but now
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{draft.round_id}")
    visitor.page.get_by_label("Your part, from its file or your program").fill(secret)
    ended(site, user)
    visitor.press("Tell it and make the draw")
    visitor.page.get_by_text(OUT).wait_for()
    assert visitor.page.evaluate(KEEPS) == []
    assert secret not in visitor.page.content()
    visitor.context.close()


def test_hidden_fields_codes_and_passwords_are_not_kept(site: Site, browser: Browser) -> None:
    _, code = site.invite("consumer", "Hidden Fields")
    visitor = Visitor(browser, site)
    visitor.enter(code)
    visitor.page.wait_for_load_state("networkidle")
    kept = visitor.page.evaluate(
        """() => { document.body.insertAdjacentHTML("beforeend", `<form id="any" method="post" action="/x">
          <input name="words" value="w"><input name="code" autocomplete="one-time-code" value="secret">
          <input type="hidden" name="key" value="secret"><input type="password" name="p" value="secret">
          <input name="shown" readonly value="secret"></form>`);
        addEventListener("submit", (event) => event.preventDefault());  // after the page has heard of it
        document.getElementById("any").requestSubmit();
        return sessionStorage.getItem("pdqs-unsent"); }"""
    )
    assert '["words","w",null]' in kept
    assert "secret" not in kept
    visitor.context.close()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_door_after_a_form_leads_to_a_page_that_there_is(site: Site, browser: Browser, elsewhere: bool) -> None:
    context = browser.new_context()
    for came, led in (
        ("/consumer/plan?kind=median", "/consumer/plan?kind=median"),
        ("/operator/ledger/deposit", "/operator/ledger"),
        ("/account/end", "/account"),
        ("/consumer/rounds/r_1/cancel", "/consumer/rounds/r_1"),
        ("/no/such/page", ""),
    ):
        answer = context.request.post(
            f"{site.address}/account/link",
            form={"csrf_token": "old"},
            headers={"Referer": f"{'https://evil.example' if elsewhere else site.address}{came}"},
        )
        assert answer.status == 401
        found = re.search(r'name="next" value="([^"]*)"', answer.text())
        assert found is not None
        assert found[1] == ("" if elsewhere else led)
    context.close()


def test_under_a_prefix_it_leads_back_there_too(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/market.db", root_path="/market")
    with serving(create_app(settings, ticking=False)) as address:
        came = {"Referer": f"{address}/market/consumer/plan"}
        answer = httpx.post(f"{address}/market/consumer/rounds", data={"text": "Why?"}, headers=came)
    assert 'name="next" value="/consumer/plan"' in answer.text
    assert 'href="/market/consumer/plan"' in answer.text


@pytest.mark.parametrize("referer", ["http://[", "{site}" + "/a" * 30_000, "{site}" + "/a" * 900, "{site}:x/consumer"])
def test_no_address_that_a_form_claims_to_come_from_holds_anyone_up(
    site: Site, referer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no_page(_request: object, path: str) -> bool:
        asked.append(path)
        return False

    monkeypatch.setattr(not_sent, "_is_page", no_page)
    with httpx.Client(base_url=site.address, timeout=60.0) as stranger:
        sent = stranger.post("/consumer/rounds", headers={"referer": referer.replace("{site}", site.address)})
        assert sent.status_code in (401, 403)
        assert len(asked) <= 8
        stranger.post("/consumer/rounds", headers={"referer": f"{site.address}/consumer/rounds/r_1/nothing"})
    assert asked, "an address like ours is looked at"
