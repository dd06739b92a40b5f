"""A device from a named origin may use the owner's part of the API by token; no other origin, part or credential."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from market.town import Town, found_town
from pdqs.market import Settings, access, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served

HERS = "http://127.0.0.1:8017"
ALLOWED = "access-control-allow-origin"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[tuple[httpx.Client, Town]]:
    url = f"sqlite:///{tmp_path}/market.db"
    town = found_town(url)
    town.add_owners(1)
    app = create_app(Settings(database_url=url), town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as line:
        yield line, town
    town.market.store.close()


def test_her_own_page_may_ask_and_read_by_token(client: tuple[httpx.Client, Town]) -> None:
    line, town = client
    before = line.options("/v1/me", headers={"Origin": HERS, "Access-Control-Request-Method": "GET"})
    assert (before.status_code, before.headers[ALLOWED]) == (204, HERS)
    assert "access-control-allow-credentials" not in before.headers
    token = access.issue_token(town.market, town.owners[0])
    answer = line.get("/v1/me", headers={"Origin": HERS, "Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert answer.headers[ALLOWED] == HERS
    assert "access-control-allow-credentials" not in answer.headers


def test_a_session_cookie_is_no_credential_from_another_origin(client: tuple[httpx.Client, Town]) -> None:
    line, town = client
    code = round_steps.renew_code(town.market, town.operator, town.owners[0].user_id).code
    session = access.redeem_for_session(town.market, code)
    cookie = {"Cookie": f"{access.COOKIE}={session.cookie}"}
    assert line.get("/v1/me", headers=cookie).status_code == 200, "the same cookie is good on the market's own pages"
    assert line.get("/v1/me", headers={**cookie, "Origin": HERS}).status_code == 401


@pytest.mark.parametrize("origin", ["http://evil.example", "null", HERS + "0", "http://localhost:8017"])
def test_another_origin_is_told_nothing(origin: str, client: tuple[httpx.Client, Town]) -> None:
    line, _ = client
    for answer in (line.options("/v1/me", headers={"Origin": origin}), line.get("/v1/me", headers={"Origin": origin})):
        assert ALLOWED not in answer.headers


@pytest.mark.parametrize("path", ["/v1/users", "/v1/rounds", "/v1/deposits", "/v1/rounds/r_1/open", "/metrics", "/"])
def test_what_is_not_the_owners_part_is_not_shared(path: str, client: tuple[httpx.Client, Town]) -> None:
    line, _ = client
    assert ALLOWED not in line.get(path, headers={"Origin": HERS}).headers
    assert ALLOWED not in line.options(path, headers={"Origin": HERS}).headers
