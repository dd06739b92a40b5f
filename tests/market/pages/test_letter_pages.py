"""Pages of letters: what to be told of, an address that is confirmed, and letters that did not arrive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access, letter_choices
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.letter_words import email_word
from pdqs.market.people import first_operator, register_user
from pdqs.market.settings import Settings
from pdqs.market.store.schema import outbox
from pdqs.protocol.market_messages import NewUser

from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


class Postal:
    """A market with mail, and two people who are signed in to it."""

    def __init__(self, address: str, app: object) -> None:
        self.market = app.state.market  # type: ignore[attr-defined]
        self.operator = first_operator(self.market).user
        new = NewUser(role="owner", name="Ann")
        self.owner = register_user(self.market, self.operator, new, "key-of-ann").user
        self.http = {user.role: self._browser(address, user) for user in (self.owner, self.operator)}

    def _browser(self, address: str, user: object) -> tuple[httpx.Client, dict[str, str]]:
        session = access.start_session(self.market, user)  # type: ignore[arg-type]
        client = httpx.Client(base_url=address, timeout=60.0, cookies={access.COOKIE: session.cookie})
        return client, {"csrf_token": session.csrf_token}


@pytest.fixture
def postal(tmp_path: Path) -> Iterator[Postal]:
    mail = {"mail_url": f"file:{tmp_path}", "mail_from": "market@example.org"}
    app = create_app(Settings(database_url=f"sqlite:///{tmp_path}/market.db", **mail), ticking=False)  # type: ignore[arg-type]
    app.state.readiness.prepare()
    with served(app) as address:
        made = Postal(address, app)
        yield made
        for client, _ in made.http.values():
            client.close()


def test_she_chooses_confirms_and_sees_what_she_chose(postal: Postal) -> None:
    http, csrf = postal.http["owner"]
    assert http.post("/account/letters", data={"email": "ann@example.org"}).status_code == 403
    wrong = http.post("/account/letters", data={**csrf, "email": "nobody"})
    assert wrong.status_code == 422
    assert "This is not an e-mail address" in wrong.text
    inside = http.post("/account/letters", data={**csrf, "webhook": "http://127.0.0.1/"})
    assert "must begin with https://" in inside.text
    chosen = {**csrf, "email": "ann@example.org", "opened": "yes", "paid": "yes"}
    sent = http.post("/account/letters", data=chosen)
    assert sent.status_code == 303
    page = http.get(sent.headers["location"]).text
    assert "Your choice is saved." in page
    assert "Is ann@example.org your address?" in page
    assert set(re.findall(r'name="([a-z]+)" value="yes" checked', page)) == {"opened", "paid"}
    assert "is not the word" in http.post("/account/letters/word", data={**csrf, "word": "0" * 10}).text
    word = email_word(postal.market, postal.owner.user_id, "ann@example.org")
    assert (
        http.post("/account/letters/word", data={**csrf, "word": f" {word[:5].upper()} {word[5:]}. "}).status_code
        == 303
    )
    assert "This one is confirmed" in http.get("/account/letters").text
    assert "Your address is confirmed." in http.get("/account/letters?done=confirmed").text
    assert letter_choices.choices(postal.market, postal.owner).email_confirmed


def test_a_choice_that_could_arrive_nowhere_is_not_taken_in_silence(postal: Postal) -> None:
    http, csrf = postal.http["owner"]
    refused = http.post("/account/letters", data={**csrf, "opened": "yes"})
    assert refused.status_code == 422
    assert "give the address that letters should go to" in refused.text
    assert 'name="opened" value="yes" checked' in refused.text
    assert letter_choices.choices(postal.market, postal.owner).kinds == []
    assert http.post("/account/letters", data=csrf).status_code == 303, "none at all is a choice"


def test_the_operator_sees_what_did_not_arrive_and_has_it_tried_again(postal: Postal) -> None:
    http, csrf = postal.http["operator"]
    assert "Every letter arrived" in http.get("/operator/letters").text
    row = {"letter_id": "opened:r_1:email:x", "user_id": postal.owner.user_id, "channel": "email", "kind": "opened"}
    kept = {"round_id": "r_1", "at_ms": 1, "due_at_ms": 1, "state": "dead", "fault": "the mail server said 550"}
    with postal.market.store.write() as connection:
        connection.execute(outbox.insert(), {**row, **kept, "attempts": 6})
    page = http.get("/operator/letters").text
    assert "the mail server said 550" in page
    assert "Ann" in page
    owners, theirs = postal.http["owner"]
    assert owners.get("/operator/letters").status_code == 403
    assert owners.post("/operator/letters/opened:r_1:email:x/again", data=theirs).status_code == 403
    assert http.post("/operator/letters/opened:r_1:email:x/again").status_code == 403
    assert http.post("/operator/letters/opened:r_1:email:x/again", data=csrf).status_code == 303
    assert "Every letter arrived" in http.get("/operator/letters").text
    assert http.post("/operator/letters/opened:r_1:email:x/again", data=csrf).status_code == 404


@pytest.mark.parametrize("path", ["/account/letters", "/operator/letters"])
def test_a_stranger_is_shown_the_door(postal: Postal, path: str) -> None:
    client, _ = postal.http["owner"]
    with httpx.Client(base_url=client.base_url, timeout=60.0) as stranger:
        assert stranger.get(path).status_code == 303
        sent = stranger.post(path)
        assert sent.status_code in (401, 405), "a form that came too late is answered by the door itself"
        assert sent.status_code == 405 or "sign" in sent.text.lower()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_fit_a_phone_and_say_when_there_is_no_mail(site: Site, browser: Browser, scheme: str) -> None:
    _, code = site.invite("owner", f"Bea {scheme}")
    visitor = Visitor(browser, site, **PHONE, color_scheme=scheme)
    visitor.enter(code)
    visitor.go("/account/letters")
    assert visitor.page.get_by_text("This market sends no e-mail").count() == 1
    visitor.page.get_by_label("A round opens that you can bid in").check()
    visitor.press("Save")
    assert visitor.page.get_by_text("Nothing was saved: this market sends no e-mail").count() == 1
    assert visitor.page.get_by_label("A round opens that you can bid in").is_checked()
    assert visitor.fits()
    visitor.shoot(f"market-letters-phone-{scheme}")
    visitor.go("/account")
    assert visitor.fits()
    assert all("422" in each for each in visitor.complaints), "of the choice that was not taken"
    visitor.context.close()
