"""Forms from elsewhere: another site cannot sign a visitor in or out, nor act in her name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pdqs.market import access
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.market.people import first_operator
from pdqs.market.settings import Settings

from .site import Site


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.address, timeout=30.0) as made:
        yield made


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found is not None
    return found[1]


def test_without_the_knock_cookie_no_token_signs_anybody_in(site: Site, browser: httpx.Client) -> None:
    _, code = site.invite("owner", "Ada")
    known = hashlib.sha256(b"csrf:").hexdigest()  # what an empty cookie used to make
    for token in (known, "", "0" * 64, access.form_token(site.market, "door", "")):
        assert browser.post("/enter", data={"code": code, "door_token": token}).status_code == 403
    token = hidden(browser.get("/").text, "door_token")
    assert browser.post("/enter", data={"code": code, "door_token": token}).status_code == 303


def test_a_token_cannot_be_made_from_a_cookie_without_the_servers_key(site: Site, browser: httpx.Client) -> None:
    _, code = site.invite("owner", "Bea")
    knock = "k" * 43
    token = hashlib.sha256(b"csrf:" + knock.encode()).hexdigest()
    browser.cookies.set("pdqs_knock", knock)
    assert browser.post("/enter", data={"code": code, "door_token": token}).status_code == 403


@pytest.mark.parametrize("token", ["\u00e9" * 64, "\U0001f600", "a\x00b"])
def test_a_door_token_of_strange_letters_is_refused_and_no_fault(browser: httpx.Client, token: str) -> None:
    browser.get("/")
    assert browser.post("/enter", data={"code": "c" * 43, "door_token": token}).status_code == 403


ELSEWHERE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=lambda headers: str(*headers.values()))
def test_every_form_from_another_site_is_refused_even_with_the_right_tokens(
    site: Site, browser: httpx.Client, headers: dict[str, str]
) -> None:
    mark = str(*headers.values())
    _, code = site.invite("operator", f"Cleo {mark}")
    form = {"code": code, "door_token": hidden(browser.get("/").text, "door_token")}
    assert browser.post("/enter", data=form, headers=headers).status_code == 403
    own = {"Origin": site.address, "Sec-Fetch-Site": "same-origin"}
    assert browser.post("/enter", data=form, headers=own).status_code == 303
    csrf = hidden(browser.get("/operator/people").text, "csrf_token")
    invite = {"csrf_token": csrf, "name": f"Mal {mark}", "role": "owner", "key": "key-of-mallory"}
    for path in ("/operator/people", "/operator/ledger/deposit", "/leave", "/account/end"):
        answer = browser.post(path, data=invite, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (403, "other-site")
    api = {"X-CSRF-Token": csrf, "Idempotency-Key": "key-of-mallory", **headers}
    assert browser.post("/v1/users", json={"name": f"Mal {mark}", "role": "owner"}, headers=api).status_code == 403
    assert f"Mal {mark}" not in browser.get("/operator/people").text
    assert browser.post("/operator/people", data=invite, headers=own).status_code == 200


def test_a_request_to_leave_without_a_session_takes_no_cookie_away(browser: httpx.Client) -> None:
    answer = browser.post("/leave")
    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers


def test_behind_tls_cookies_are_this_hosts_alone_and_the_browser_is_told_to_stay(tmp_path: Path) -> None:
    public = "https://market.example"
    settings = Settings(database_url=f"sqlite:///{tmp_path}/market.db", public_url=public)
    app = create_app(settings, ticking=False)
    code = first_operator(app.state.market).code
    with served(app) as address, httpx.Client(base_url=address) as browser:
        door = browser.get("/")
        knock = door.headers["set-cookie"]
        assert re.match(r"__Host-pdqs_knock=.*HttpOnly.*Path=/.*SameSite=strict; Secure", knock)
        assert "Domain" not in knock
        assert door.headers["strict-transport-security"] == "max-age=31536000"
        kept = {"Cookie": knock.partition(";")[0], "Origin": public}
        form = {"code": code, "door_token": hidden(door.text, "door_token")}
        assert browser.post("/enter", data=form, headers={**kept, "Origin": address}).status_code == 403
        session = browser.post("/enter", data=form, headers=kept).headers.get_list("set-cookie")[0]
        assert session.startswith("__Host-pdqs_session=")
        value = session.partition(";")[0].partition("=")[2]
        browser.cookies.clear()
        assert browser.get("/operator", headers={"Cookie": f"pdqs_session={value}"}).status_code == 303
        assert browser.get("/operator", headers={"Cookie": f"__Host-pdqs_session={value}"}).status_code == 200
