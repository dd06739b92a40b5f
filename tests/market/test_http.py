"""The edges of the API: bodies, numbers, rates, errors, logs, headers, and the page that documents it."""

from __future__ import annotations

import html
import itertools
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from market.owing import owe
from market.town import Town, found_town, plan
from pdqs.market import Settings, access
from pdqs.market.http.app import create_app
from pdqs.market.http.observe import LOGGER
from pdqs.market.http.serving import served
from pdqs.market.store.schema import users
from pdqs.protocol.device_messages import Bid, Offer, Report
from pdqs.protocol.market_messages import Round, User


@pytest.fixture(scope="module")
def served_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Town]]:
    url = f"sqlite:///{tmp_path_factory.mktemp('http')}/market.db"
    town = found_town(url, money_micros=10**12)
    with _client(Settings(database_url=url), town) as client:
        yield client, town
    town.market.store.close()


@contextmanager
def _client(settings: Settings, town: Town) -> Iterator[httpx.Client]:
    app = create_app(settings, town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


_numbers = itertools.count()


def _round(town: Town, **changes: object) -> Round:
    return town.open_round(f"round-of-test-{next(_numbers)}", **changes)


def _as(town: Town, user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {access.issue_token(town.market, user)}"}


@pytest.mark.parametrize(
    "number",
    ["Infinity", "-Infinity", "NaN", "9223372036854775808", "-1", "1e3", "0.5", '"5"', "true", "null", "1" * 5000],
)
def test_a_number_that_is_not_a_bounded_whole_one_is_refused(
    served_town: tuple[httpx.Client, Town], number: str
) -> None:
    client, town = served_town
    (owner,) = town.add_owners(1)
    found = _round(town)
    body = f'{{"terms_hash": "{found.terms_hash}", "bid_micros": {number}}}'
    headers = {**_as(town, owner), "Content-Type": "application/json"}
    answer = client.put(f"/v1/rounds/{found.round_id}/bid", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '{"terms_hash": "x"}', '{"bid_micros": 1, "coin": true}', "\x00", '"\\ud800"']
)
def test_a_body_that_is_no_message_is_refused(served_town: tuple[httpx.Client, Town], body: str) -> None:
    client, town = served_town
    (owner,) = town.add_owners(1)
    found = _round(town)
    headers = {**_as(town, owner), "Content-Type": "application/json"}
    answer = client.put(f"/v1/rounds/{found.round_id}/bid", content=body, headers=headers)
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("identifier", ["r_1", "r_" + "0" * 500, "9" * 400, "r_" + "g" * 24, "%00"])
def test_an_id_of_another_shape_is_refused_before_the_database_sees_it(
    served_town: tuple[httpx.Client, Town], identifier: str
) -> None:
    client, town = served_town
    assert client.get(f"/v1/rounds/{identifier}", headers=_as(town, town.consumer)).status_code in (404, 422)


def test_a_body_too_large_is_refused_whether_it_says_so_or_not(served_town: tuple[httpx.Client, Town]) -> None:
    client, town = served_town
    headers = {**_as(town, town.consumer), "Content-Type": "application/json", "Idempotency-Key": "large-body"}
    assert client.post("/v1/rounds", content=b" " * 300_000, headers=headers).status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(300):
            yield b" " * 1000

    assert client.post("/v1/rounds", content=pieces(), headers=headers).status_code == 413


def test_a_caller_in_a_hurry_is_told_to_wait(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/market.db"
    town = found_town(url)
    with _client(Settings(database_url=url, address_rate=0.01, address_burst=3.0), town) as client:
        answers = [client.get("/healthz") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    town.market.store.close()
    assert 90 <= int(answers[-1].headers["retry-after"]) <= 101
    assert answers[-1].json()["type"] == "too-many-requests"


def test_a_fault_of_ours_says_nothing_of_itself(
    served_town: tuple[httpx.Client, Town], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, town = served_town
    headers = _as(town, town.consumer)
    monkeypatch.setattr("pdqs.market.reads.me", lambda *_: 1 / 0)
    monkeypatch.setattr(LOGGER, "propagate", True)
    with caplog.at_level(logging.INFO):
        answer = client.get("/v1/me", headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (500, "fault")
    assert "division" not in answer.text + caplog.text
    assert '"kind": "ZeroDivisionError"' in caplog.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_every_response_forbids_what_pages_do_not_need(served_town: tuple[httpx.Client, Town]) -> None:
    client, _ = served_town
    for path in ("/healthz", "/docs", "/v1/me", "/nowhere"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_the_api_page_fetches_nothing_from_elsewhere(served_town: tuple[httpx.Client, Town]) -> None:
    client, _ = served_town
    page = client.get("/docs").text
    assert "http:" not in page
    assert "https:" not in page
    for path in re.findall(r' (?:src|href)="(/[^"]+)"', page):
        assert client.get(path).status_code == 200
    assert page.count("<script") == 2  # the clock and the unsent forms of every page, no viewer of anybody else's


def test_the_api_page_has_every_route_and_message_of_its_description(served_town: tuple[httpx.Client, Town]) -> None:
    client, _ = served_town
    page, told = html.unescape(client.get("/docs").text), client.get("/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    assert f"OpenAPI {told['openapi']}" in page
    for path, methods in told["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
    named = [name for name, schema in told["components"]["schemas"].items() if schema.get("properties")]
    assert all(f'id="message-{name}"' in page for name in named)


def test_no_message_has_a_field_for_a_coin(served_town: tuple[httpx.Client, Town]) -> None:
    client, _ = served_town
    described = client.get("/openapi.json").text.lower()
    schemas = json.loads(described)["components"]["schemas"]
    fields = {field for schema in schemas.values() for field in schema.get("properties", {})}
    assert {"code", "q_numerator", "bid_micros"} <= fields  # the search sees fields
    of_the_answer = {"interval_if_dishonest", "dishonest_share"}  # what it would stand if some owners sent noise
    told = fields - of_the_answer
    assert not {field for field in told if any(word in field for word in ("coin", "select", "truth", "honest"))}
    assert set(Report.model_fields) == {"terms_hash", "code"}
    assert set(Bid.model_fields) == {"terms_hash", "bid_micros", "replaces"}
    assert "query" not in Offer.model_fields


def test_logs_and_metrics_name_the_route_and_hold_no_bid(
    served_town: tuple[httpx.Client, Town], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, town = served_town
    (owner,) = town.add_owners(1)
    found = _round(town, bid_high_micros=10**9)
    monkeypatch.setattr(LOGGER, "propagate", True)
    with caplog.at_level(logging.INFO):
        bid = {"terms_hash": found.terms_hash, "bid_micros": 987_654_321}
        client.put(f"/v1/rounds/{found.round_id}/bid", json=bid, headers=_as(town, owner))
        client.put(
            f"/v1/rounds/{found.round_id}/bid", json={**bid, "bid_micros": "987654321"}, headers=_as(town, owner)
        )
        metrics = client.get("/metrics").text
        client.get("/healthz")  # a line is written once its answer is out: by now the earlier ones are
    lines = [json.loads(record.message) for record in caplog.records if record.name == "pdqs.market"]
    assert {("/v1/rounds/{round_id}/bid", 200), ("/v1/rounds/{round_id}/bid", 422)} <= {
        (line["route"], line["status"]) for line in lines
    }
    assert 'pdqs_requests_total{method="PUT",route="/v1/rounds/{round_id}/bid",status="200"} 1\n' in metrics
    assert 'pdqs_rounds{state="open"} ' in metrics
    assert "987654321" not in caplog.text + metrics


def test_a_repeated_post_makes_one_round_and_another_body_is_refused(served_town: tuple[httpx.Client, Town]) -> None:
    client, town = served_town
    headers = {**_as(town, town.consumer), "Idempotency-Key": "a-key-for-once"}
    first = client.post("/v1/rounds", json=plan().model_dump(), headers=headers)
    again = client.post("/v1/rounds", json=plan().model_dump(), headers=headers)
    other = client.post("/v1/rounds", json=plan(budget_micros=3_000_000).model_dump(), headers=headers)
    assert (first.status_code, again.json()) == (200, first.json())
    assert (other.status_code, other.json()["type"]) == (409, "idempotency-key-reused")
    del headers["Idempotency-Key"]
    assert client.post("/v1/rounds", json=plan().model_dump(), headers=headers).status_code == 422


def test_the_payables_file_cannot_run_in_a_spreadsheet(served_town: tuple[httpx.Client, Town]) -> None:
    client, town = served_town
    header = "user_id,name,amount,currency,on_its_way,balance_micros\n"
    assert client.get("/v1/payables.csv", headers=_as(town, town.operator)).text == header
    (owner,) = owe(town, [6_509_999])
    with town.market.store.write() as connection:
        connection.execute(users.update().where(users.c.user_id == owner.user_id).values(name="=1+1"))
    found = client.get("/v1/payables.csv", headers=_as(town, town.operator)).text
    assert found == f"{header}{owner.user_id},'=1+1,6.50,,0.00,6509999\n"
