"""Coming in: by a link of one's own, by a passkey, to the page that was wanted, and while somebody else is in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from pdqs.market import access, people
from pdqs.market.passkeys import FRESH_MS, Place, enter_with_passkey, options_to_sign_in
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import UnauthorizedError

from .axe import violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def http(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.address, timeout=60.0) as made:
        yield made


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found is not None
    return found[1]


def come_in(http: httpx.Client, code: str, path: str = "/") -> httpx.Response:
    door = http.get(path).text
    form = {"code": code, "door_token": hidden(door, "door_token"), "next": hidden(door, "next")}
    return http.post("/enter", data=form)


def test_whoever_signs_in_goes_on_to_the_page_that_she_wanted(site: Site, http: httpx.Client) -> None:
    _, code = site.invite("owner", "Ada")
    asked = http.get("/owner/privacy?after=1")
    assert asked.headers["location"] == "/enter?next=/owner/privacy%3Fafter%3D1"
    assert come_in(http, code, asked.headers["location"]).headers["location"] == "/owner/privacy?after=1"
    assert http.get("/enter?next=/owner/earnings").headers["location"] == "/owner/earnings", "who is in goes there"


ELSEWHERE = [
    "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/%2f/evil.example", "/\tevil",
    "/.//evil.example", "///evil.example", "/enter@evil.example", "evil", "/operator", "/consumer/plan", "/ownership",
]  # fmt: skip


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_no_address_leads_out_of_the_site_or_to_pages_of_another_role(
    site: Site, http: httpx.Client, wanted: str
) -> None:
    user, _ = site.invite("owner", "Eva")
    code = people.renew_code(site.market, user, user.user_id).code
    http.get("/enter", params={"next": wanted})
    form = {"code": code, "door_token": hidden(http.get("/").text, "door_token"), "next": wanted}
    assert http.post("/enter", data=form).headers["location"] == "/owner"


def test_somebody_elses_invitation_says_whose_it_is_and_changes_nothing_until_told(
    site: Site, http: httpx.Client
) -> None:
    _, code = site.invite("owner", "Ann")
    _, others = site.invite("consumer", "Ben")
    come_in(http, code)
    page = http.get("/enter").text
    form = {"csrf_token": hidden(page, "csrf_token"), "code": others}
    told = http.post("/enter/other", data=form)
    said = re.sub(r"<[^>]*>", "", told.text)
    assert "You are signed in as Ann (owner); this invitation is for Ben (consumer)." in said
    assert http.get("/owner").status_code == 200
    refused = http.post("/enter/other", data={"code": others, "instead": "yes"})
    assert refused.status_code == 403, "not without the form's token"
    cookie = dict(http.cookies)
    assert http.post("/enter/other", data={**form, "instead": "yes"}).headers["location"] == "/consumer"
    old = httpx.Client(base_url=site.address, cookies=cookie)
    assert old.get("/owner").status_code == 303, "Ann is signed out"
    old.close()
    page = http.get("/enter").text
    form = {"csrf_token": hidden(page, "csrf_token"), "code": others}
    again = http.post("/enter/other", data=form).text
    assert "used or has run out" in again
    assert "You need no code on this browser" in again, "a new one from the operator would sign him out here"


def test_who_made_her_code_is_told_by_name_and_the_id_is_under_details(site: Site, http: httpx.Client) -> None:
    _, code = site.invite("owner", "Dee")
    page = http.get("/enter").text
    http.post("/enter", data={"door_token": hidden(page, "door_token"), "code": code})
    found = http.get("/account").text
    in_details = f'<summary>Details</summary><code class="hash">{site.operator.user_id}</code>'
    assert found.count(site.operator.user_id) == found.count(in_details) > 0


def test_her_own_link_is_not_used_up_where_she_is_in_already(site: Site, http: httpx.Client) -> None:
    user, code = site.invite("owner", "Cat")
    come_in(http, code)
    page = http.post("/account/link", data={"csrf_token": hidden(http.get("/account").text, "csrf_token")}).text
    made = re.search(r'value="[^"]*/enter#([A-Za-z0-9_-]{20,80})"', page)
    assert made is not None
    form = {"csrf_token": hidden(page, "csrf_token"), "code": made[1]}
    assert "was not needed, and still works" in http.post("/enter/other", data=form).text
    assert access.whose_code(site.market, made[1]) == user


def test_sessions_and_tokens_are_ended_one_by_one_on_the_page_and_anothers_are_not_there(
    site: Site, http: httpx.Client
) -> None:
    user, code = site.invite("owner", "Dot")
    other, _ = site.invite("owner", "Eve")
    theirs = access.start_session(site.market, other)
    come_in(http, code)
    second = access.start_session(site.market, user, device="Firefox on Android")
    page = http.get("/account").text
    assert "Firefox on Android" in page
    csrf = {"csrf_token": hidden(page, "csrf_token")}
    assert "A name has 1 to 80 letters" in http.post("/account/tokens", data={**csrf, "name": " "}).text
    made = re.search(
        r'id="new-token"[^>]*value="([^"]+)"', http.post("/account/tokens", data={**csrf, "name": "laptop"}).text
    )
    assert made is not None
    assert access.user_of_token(site.market, made[1]) == user
    assert made[1] not in http.get("/account").text, "shown once"
    assert http.post(f"/account/sign-ins/{theirs.sign_in_id}/end", data=csrf).status_code == 404
    assert http.post(f"/account/sign-ins/{second.sign_in_id}/end").status_code == 403, "not without the form's token"
    token = access.sign_ins(site.market, user).tokens[0].sign_in_id
    for one in (second.sign_in_id, token):
        assert http.post(f"/account/sign-ins/{one}/end", data=csrf).headers["location"] == "/account"
    for ended in (
        lambda: access.session_of(site.market, second.cookie),
        lambda: access.user_of_token(site.market, made[1]),
    ):
        with pytest.raises(UnauthorizedError):
            ended()
    assert access.session_of(site.market, theirs.cookie).user == other
    (own,) = access.sign_ins(site.market, user).pages
    assert http.post(f"/account/sign-ins/{own.sign_in_id}/end", data=csrf).headers["location"] == "/"
    assert http.get("/account").status_code == 303


PAGES = ["GET /account", "POST /account/link", "POST /account/tokens", "GET /account/passkeys/options"]
PAGES += ["POST /account/passkeys", "POST /account/sign-ins/s_000000000000000000000000/end", "POST /enter/other"]


@pytest.mark.parametrize("route", PAGES)
def test_a_stranger_is_shown_the_door(http: httpx.Client, route: str) -> None:
    method, path = route.split()
    answer = http.request(method, path)
    if method == "POST":
        assert (answer.status_code, 'id="come-in"' in answer.text) == (401, True)
    else:
        assert (answer.status_code, answer.headers["location"].startswith("/enter?next=")) == (303, True)


def with_authenticator(visitor: Visitor) -> None:
    """A device that makes passkeys and whose owner always shows her finger."""
    line = visitor.context.new_cdp_session(visitor.page)
    line.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    line.send("WebAuthn.addVirtualAuthenticator", {"options": options})


@pytest.fixture(scope="module")
def passkey_site(site: Site) -> Site:
    """The same market by the name under which browsers make passkeys for it."""
    by_name = site.address.replace("127.0.0.1", "localhost")
    return Site(by_name, site.market, site.clock, site.operator, site.folder)


def test_a_passkey_is_made_used_and_removed_on_a_phone(passkey_site: Site, browser: Browser) -> None:
    site = passkey_site
    user, code = site.invite("owner", "Fay")
    visitor = Visitor(browser, site, **PHONE)
    with_authenticator(visitor)
    visitor.enter(code)
    visitor.go("/account")
    visitor.page.get_by_label("Name it, so that you know it again").fill("my phone")
    visitor.page.get_by_role("button", name="Add a passkey").click()
    visitor.page.locator(".rows").get_by_text("not used yet").wait_for()
    assert [one.name for one in access.sign_ins(site.market, user).passkeys] == ["my phone"]
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    visitor.page.wait_for_url(lambda url: url.endswith("/"))
    visitor.go("/owner/privacy")
    sent: list[str] = []
    visitor.page.on("request", lambda asked: sent.append(asked.post_data or "") if asked.method == "POST" else None)
    visitor.page.get_by_role("button", name="Use a passkey").click()
    visitor.page.wait_for_url(lambda url: url == f"{site.address}/owner/privacy")  # the door names it too
    visitor.go("/account")
    assert visitor.page.locator(".rows").get_by_text("last used").count()
    assert visitor.fits()
    (form,) = sent
    _assert_useless_again(site, form)
    _assert_shown_again_before_anything_lasting(site, visitor, user)
    visitor.page.get_by_role("button", name="Remove my phone").click()
    visitor.page.get_by_role("heading", name="Your account").wait_for()
    assert access.sign_ins(site.market, user).passkeys == []
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    visitor.page.wait_for_url(lambda url: url.endswith("/"))
    visitor.page.get_by_role("button", name="Use a passkey").click()
    visitor.page.get_by_text("This passkey is not known here").wait_for()
    visitor.context.close()


def _assert_shown_again_before_anything_lasting(site: Site, visitor: Visitor, user: User) -> None:
    """A token asks for the passkey once the session is no longer fresh, and is made once it was shown."""
    site.clock.skip(FRESH_MS / 1000 + 1)
    visitor.page.get_by_label("Name of the new token").fill("lasting")
    visitor.page.get_by_role("button", name="Make a token").click()
    visitor.page.get_by_role("heading", name="Is it you?").wait_for()
    assert violations(visitor.page) == []
    assert access.sign_ins(site.market, user).tokens == []
    csrf = visitor.page.locator("meta[name=csrf-token]").get_attribute("content") or ""
    options = {"headers": {"X-CSRF-Token": csrf}, "data": {"name": "sly"}}
    for path in ("/v1/me/tokens", f"/v1/users/{user.user_id}/code"):
        refused = visitor.context.request.post(f"{site.address}{path}", **options)  # type: ignore[arg-type]  # as named
        assert (refused.status, refused.json()["type"]) == (403, "sign-in-again")
    assert visitor.context.request.get(f"{site.address}/account/passkeys/options").status == 403
    visitor.page.get_by_role("button", name="Show my passkey").first.click()
    visitor.page.get_by_role("button", name="Add a passkey").wait_for()  # the page again, and a session that is fresh
    visitor.page.get_by_label("Name of the new token").fill("lasting")
    visitor.page.get_by_role("button", name="Make a token").click()
    visitor.page.get_by_role("heading", name="Token “lasting”").wait_for()
    assert [one.name for one in access.sign_ins(site.market, user).tokens] == ["lasting"]
    assert len(access.sign_ins(site.market, user).pages) == 1


def _assert_useless_again(site: Site, form: str) -> None:
    """What a passkey has said once lets nobody in a second time, nor with another cookie."""
    from urllib.parse import parse_qs

    said = parse_qs(form)["credential"][0]
    with httpx.Client(base_url=site.address, timeout=60.0) as thief:
        thief.get("/")
        knock = thief.cookies["pdqs_knock"]
        fields = {"door_token": access.form_token(site.market, "door", knock), "credential": said}
        assert thief.post("/enter/passkey", data=fields).status_code == 401
        assert thief.get("/owner").status_code == 303


def test_a_disabled_account_does_not_come_in_by_its_passkey(passkey_site: Site, browser: Browser) -> None:
    site = passkey_site
    user, code = site.invite("owner", "Gil")
    visitor = Visitor(browser, site)
    with_authenticator(visitor)
    visitor.enter(code)
    visitor.go("/account")
    visitor.page.get_by_role("button", name="Add a passkey").click()
    visitor.page.locator(".rows").get_by_text("not used yet").wait_for()
    people.disable_user(site.market, site.operator, user.user_id)
    visitor.go("/")
    visitor.page.get_by_role("button", name="Use a passkey").click()
    visitor.page.get_by_text("This passkey is not known here").wait_for()
    people.enable_user(site.market, site.operator, user.user_id)
    visitor.page.get_by_role("button", name="Use a passkey").click()
    visitor.page.get_by_text("This passkey is not known here").wait_for()
    visitor.context.close()


STRANGE = [
    "",
    "{}",
    "[]",
    "null",
    "{" * 3000,
    '{"response": {"clientDataJSON": 5}}',
    '{"response": {"clientDataJSON": "é"}}',
]


@pytest.mark.parametrize("said", STRANGE)
def test_what_is_no_passkey_is_refused_in_a_sentence(site: Site, said: str) -> None:
    place = Place(site="localhost", origin="http://localhost")
    with pytest.raises(UnauthorizedError):
        enter_with_passkey(site.market, place, "k" * 43, said)


def test_a_challenge_that_is_right_with_a_credential_that_is_not_is_refused_too(site: Site) -> None:
    import base64

    place = Place(site="localhost", origin="http://localhost")
    challenge = json.loads(options_to_sign_in(site.market, place, "k" * 43))["challenge"]
    told = base64.urlsafe_b64encode(json.dumps({"challenge": challenge}).encode()).decode().rstrip("=")
    for raw_id in ("AAAA", "", "é", None):
        said = json.dumps({"id": "AAAA", "rawId": raw_id, "response": {"clientDataJSON": told}})
        with pytest.raises(UnauthorizedError, match="not known here"):
            enter_with_passkey(site.market, place, "k" * 43, said)
    with pytest.raises(UnauthorizedError, match="too long"):
        enter_with_passkey(site.market, place, "j" * 43, said)
