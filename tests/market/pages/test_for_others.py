"""Pages of another role: she is told whom they are for, as whom she is signed in, and what to do."""

from __future__ import annotations

import re

import httpx
import pytest
from fastapi.routing import APIRoute

from pdqs.market import access, pages
from pdqs.market.http.plain_answers import TITLES
from pdqs.market.pages.session import HOMES
from pdqs.protocol.market_messages import Role, User

from .site import Site

ROLES: tuple[Role, ...] = ("consumer", "owner", "operator")
NAMES: dict[Role, str] = {"consumer": "Institute", "owner": "Ann", "operator": "Otto"}
ONE = {"consumer": "a consumer", "owner": "an owner", "operator": "an operator"}


@pytest.fixture(scope="module")
def people(site: Site) -> dict[Role, User]:
    return {role: site.invite(role, NAMES[role])[0] for role in ROLES}


def signed_in(site: Site, user: User) -> httpx.Client:
    session = access.start_session(site.market, user)
    return httpx.Client(
        base_url=site.address,
        cookies={access.COOKIE: session.cookie},
        headers={"X-CSRF": session.csrf_token},
        timeout=30.0,
    )


def routes() -> list[tuple[str, str, Role]]:
    """Method and address of everything that is for one role alone."""
    found = []
    for part in pages.PARTS:
        for route in part.router.routes:
            assert isinstance(route, APIRoute)
            whose = [role for role, home in HOMES.items() if route.path.split("/")[1] == home[1:]]
            path = re.sub(r"\{\w+\}", "x_1", route.path)
            found += [(method, path, role) for method in route.methods or () for role in whose]
    return found


def test_every_page_says_whom_it_is_for_and_what_to_do(site: Site, people: dict[Role, User]) -> None:
    asked = routes()
    assert {role for _, _, role in asked} == set(ROLES)
    assert len(asked) > 40
    for role in ROLES:
        with signed_in(site, people[role]) as browser:
            for method, path, whose in asked:
                if whose == role:
                    continue
                form = {"csrf_token": browser.headers["X-CSRF"]} if method == "POST" else None
                answer = browser.request(method, path, data=form)
                assert answer.status_code == 403, (role, method, path)
                text = re.sub(r"<[^>]+>", "", answer.text)
                assert f"This page is for {whose}s" in text, (role, method, path)
                assert f"You are signed in as {NAMES[role]}, {ONE[role]}." in text
                assert f'href="{HOMES[role]}">Go to your own pages' in answer.text
                assert f"Are you {ONE[whose]} here too?" in text
                assert not re.search(r"for (consumer|owner|operator)\b|Forbidden", text), (role, method, path)


def test_signing_out_there_leads_on_to_the_page_that_was_wanted(site: Site, people: dict[Role, User]) -> None:
    with signed_in(site, people["owner"]) as browser:
        page = browser.get("/consumer/plan?kind=median").text
        form = dict(re.findall(r'type="hidden" name="(csrf_token|next)" value="([^"]*)"', page))
        assert form["next"] == "/consumer/plan?kind=median"
        left = browser.post("/leave", data=form)
        assert left.headers["location"] == "/enter?next=/consumer/plan%3Fkind%3Dmedian"
        assert browser.get("/owner").status_code == 303
    with signed_in(site, people["owner"]) as browser:
        form["csrf_token"], form["next"] = browser.headers["X-CSRF"], "//evil.example"
        assert browser.post("/leave", data=form).headers["location"] == "/"


def test_programs_are_told_in_a_sentence_too(site: Site, people: dict[Role, User]) -> None:
    with signed_in(site, people["owner"]) as browser:
        assert browser.get("/v1/users").json()["detail"] == "this is for operators, and you are an owner"
        assert browser.get("/v1/rounds").json()["detail"] == "this is for consumers or operators, and you are an owner"


def test_no_error_is_headed_by_the_name_that_programs_know_it_by(site: Site, people: dict[Role, User]) -> None:
    with signed_in(site, people["owner"]) as browser:
        browser.headers["Accept"] = "text/html"
        for sent, status in (
            (browser.get("/owner/rounds/r_0"), 404),
            (browser.post("/account/end", headers={"Origin": "https://evil.example"}), 403),
            (browser.post("/enter/passkey", data={}), 403),
        ):
            found = re.search(r"<h1>([^<]*)</h1>", sent.text)
            assert found is not None
            assert (sent.status_code, found[1]) == (status, TITLES[status])
