"""Mistakes of people in a hurry, as a browser shows them: each ends in a page with a sentence, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

import httpx
import pytest

from pdqs.market import groups, reads, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.invitation_files import guests_in
from pdqs.market.settings import Settings
from pdqs.protocol.market_messages import User

from .site import Site
from .test_mistakes import NEVER, PLAN
from .test_pages import Town, enter, hidden

HTML = {"Accept": "text/html"}


@dataclass
class Hurry:
    """An operator, a consumer with a draft and an open round, and an owner, each at a browser."""

    town: Town
    owner: User
    consumer: User
    desk: httpx.Client
    phone: httpx.Client
    office: httpx.Client
    draft: str
    opened: str

    def post(self, browser: httpx.Client, page: str, action: str, **sent: str) -> httpx.Response:
        """Send a form of a page."""
        shown = browser.get(page).text
        tokens = {"csrf_token": hidden(shown, "csrf_token")}
        if 'name="key"' in shown:
            tokens["key"] = hidden(shown, "key")
        return browser.post(action, data={**tokens, **sent}, headers=HTML)

    def upload(self, raw: bytes) -> httpx.Response:
        """A list of invitations."""
        shown = self.office.get("/operator/invitations").text
        tokens = {name: hidden(shown, name) for name in ("csrf_token", "key")}
        file = {"file": ("list.csv", raw)}
        return self.office.post(
            "/operator/invitations", data={**tokens, "role": "owner", "confirmed": "yes"}, files=file, headers=HTML
        )


@pytest.fixture(scope="module")
def hurry(site: Site) -> Iterator[Hurry]:
    town = Town(site)
    owner, phone = town.somebody("owner", "Ann")
    consumer, desk = town.somebody("consumer", "Bureau")
    _, office = town.somebody("operator", "Op")
    site.deposit(consumer, 45_000_000)
    draft = round_steps.draft_round(town.market, consumer, PLAN, "key-of-a-draft").round_id
    opened = round_steps.draft_round(town.market, consumer, PLAN, "key-of-a-round").round_id
    round_steps.open_round(town.market, consumer, opened)
    yield Hurry(town, owner, consumer, desk, phone, office, draft, opened)
    for browser in town.browsers:
        browser.close()


def said(answer: httpx.Response) -> str:
    assert answer.headers["content-type"].startswith("text/html"), answer.text
    text = unescape(re.sub(r"<(script|style|head).*?</\1>|<[^>]+>", " ", answer.text, flags=re.DOTALL))
    assert NEVER.search(text) is None, NEVER.search(text)
    return " ".join(text.split())


MISTAKES: dict[str, tuple[Callable[[Hurry], httpx.Response], str]] = {
    "cancel pressed beside another button": (
        lambda h: h.post(h.desk, f"/consumer/rounds/{h.opened}", f"/consumer/rounds/{h.opened}/cancel"),
        "Cancel this round?",
    ),
    "discard pressed instead of change": (
        lambda h: h.post(h.desk, f"/consumer/rounds/{h.draft}", f"/consumer/rounds/{h.draft}/cancel"),
        "Discard this draft?",
    ),
    "the wrong person shut out": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.owner.user_id}/disable"),
        "Disable Ann?",
    ),
    "the wrong person signed out": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.owner.user_id}/revoke"),
        "End all sign-ins of Ann?",
    ),
    "a spreadsheet for a list": (lambda h: h.upload(b"PK\x03\x04" + bytes(90)), "save it as CSV first"),
    "a list with columns and no name": (
        lambda h: h.upload(b"first,last\nAnn,Lee\n"),
        "none is called name",
    ),
    "a list in another encoding": (lambda h: h.upload("name\nJosé\n".encode("latin-1")), "save it as UTF-8"),
    "a file that is far too large": (lambda h: h.upload(b"x" * 400_000), "may hold at most 262,144 bytes"),
    "a group's name that goes on and on": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.owner.user_id}/groups", groups="x" * 50),
        "1 to 40 letters",
    ),
    "a group's name that turns the writing": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.owner.user_id}/groups", groups="\u202eA"),
        "A group's name holds a sign that is not shown",
    ),
    "a group's name that shows nothing": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.owner.user_id}/groups", groups="\u3164"),
        "A group's name has no letter that shows",
    ),
    "a name that shows nothing": (
        lambda h: h.post(h.office, "/operator/people", "/operator/people", name="\u3164", role="owner"),
        "The name has no letter that shows: type it anew.",
    ),
    "a name that turns the writing": (
        lambda h: h.post(h.office, "/operator/people", "/operator/people", name="Ann\u202eeel", role="owner"),
        "The name holds a sign that is not shown, or that turns the direction of writing",
    ),
    "a token whose name shows nothing": (
        lambda h: h.post(h.phone, "/account", "/account/tokens", name="\u200b"),
        "A name has 1 to 80 letters.",
    ),
    "a consumer in a group": (
        lambda h: h.post(h.office, "/operator/people", f"/operator/people/{h.consumer.user_id}/groups", groups="A"),
        "Only owners are in groups",
    ),
    "a webhook without its beginning": (
        lambda h: h.post(h.phone, "/account", "/account/letters", webhook="example.org/hook", opened="yes"),
        "begins with https://",
    ),
    "an old link into a list": (lambda h: h.office.get("/operator?after=zzz"), "begin at its first page"),
    "an amount with its sign": (
        lambda h: h.post(h.office, "/operator/ledger", "/operator/ledger/deposit", amount="€12.50"),
        "write it like 12.50",
    ),
    "a form from a copy of the page elsewhere": (
        lambda h: h.desk.post("/consumer/rounds", headers={**HTML, "Origin": "https://copy.example"}),
        "use this market's own pages",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_ends_in_a_sentence_and_changes_nothing(hurry: Hurry, mistake: str) -> None:
    act, sentence = MISTAKES[mistake]
    assert sentence in said(act(hurry))
    market = hurry.town.market
    assert reads.round_by_id(market, hurry.consumer, hurry.opened).state == "open"
    assert reads.round_by_id(market, hurry.consumer, hurry.draft).state == "draft"
    assert reads.me(market, hurry.consumer).balance_micros == 35_000_000
    assert hurry.phone.get("/owner").status_code == 200, "nobody was signed out"
    assert groups.all_groups(market, hurry.consumer).items == []


def test_what_was_typed_about_letters_is_still_there_after_a_fault(hurry: Hurry) -> None:
    page = hurry.post(hurry.phone, "/account", "/account/letters", webhook="example.org/hook", opened="yes").text
    assert 'value="example.org/hook"' in page
    assert 'name="opened" value="yes" checked' in page


def test_a_name_that_is_refused_is_still_there_with_its_role(hurry: Hurry) -> None:
    page = hurry.post(hurry.office, "/operator/people", "/operator/people", name="x" * 81, role="consumer").text
    assert f'value="{"x" * 81}"' in page
    assert '<option value="consumer" selected>' in page


def test_what_was_pasted_along_with_a_name_makes_no_second_one_of_it(hurry: Hurry) -> None:
    made = hurry.post(hurry.office, "/operator/people", "/operator/people", name="Ann\u200b ", role="owner")
    assert "Somebody else is called Ann too." in said(made)
    assert groups.group_names(["Nurses", "\ufeffNurses"]).groups == ["Nurses"]
    assert guests_in("name\nBo\u200b\n".encode()).names == ["Bo"]


def test_the_whole_link_pasted_for_the_code_is_as_good(hurry: Hurry) -> None:
    _, code = hurry.town.site.invite("owner", "Zoe")
    visitor = hurry.town.browser()
    entered = enter(visitor, f" {hurry.town.site.address}/enter#{code}\n")
    assert (entered.status_code, entered.headers["location"]) == (303, "/owner")


def test_a_slash_too_many_leads_to_the_page_and_never_elsewhere(hurry: Hurry) -> None:
    found = hurry.phone.get("/owner/privacy/?x=1", headers=HTML)
    assert (found.status_code, found.headers["location"]) == (307, "/owner/privacy?x=1")
    assert hurry.phone.get(f"{hurry.town.site.address}//evil.example/", headers=HTML).status_code == 404


def test_pressing_far_too_often_is_said_on_a_page(hurry: Hurry) -> None:
    url = hurry.town.market.settings.database_url
    slow = create_app(Settings(database_url=url, address_burst=1.0, address_rate=0.001), ticking=False)
    with served(slow) as address, httpx.Client(base_url=address, headers=HTML) as visitor:
        visitor.get("/")
        refused = visitor.get("/")
    assert refused.status_code == 429
    assert "ask again in" in said(refused)
