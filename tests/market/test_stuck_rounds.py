"""A round that cannot go on: who asks for its next step is told why, the page of it too, and the log says it once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from market.town import Town
from pdqs.market import Settings, access, round_steps
from pdqs.market.clock_state import ClockState, last_tick
from pdqs.market.http import clock
from pdqs.market.http.app import create_app
from pdqs.market.http.clock import keep_deadlines
from pdqs.market.http.observe import where
from pdqs.market.http.readiness import Readiness
from pdqs.market.http.serving import served
from pdqs.market.store.schema import rounds, server_keys
from pdqs.model.errors import InvariantError, ensure
from pdqs.protocol.market_messages import Round, User

REASON = "the terms, as this version reads them, are not those frozen when the round was opened"


@pytest.fixture
def stuck(either_town: Town) -> Round:
    """A round whose bids are in, whose time has come, and whose terms are not those frozen."""
    either_town.add_owners(3)
    found = either_town.open_round()
    either_town.bid_all(found)
    with either_town.market.store.write() as connection:
        connection.execute(rounds.update().where(rounds.c.round_id == found.round_id).values(terms_hash="0" * 64))
    either_town.clock.advance(60)
    return found


@pytest.fixture
def client(either_town: Town) -> Iterator[httpx.Client]:
    """The same market over HTTP, as another process serves it: without a clock of its own."""
    app = create_app(Settings(database_url=either_town.market.settings.database_url), either_town.clock, ticking=False)
    with served(app) as address, httpx.Client(base_url=address, timeout=60) as made:
        yield made


def _asked(client: httpx.Client, town: Town, who: User, found: Round, step: str = "clear") -> httpx.Response:
    token = access.issue_token(town.market, who)
    return client.post(f"/v1/rounds/{found.round_id}/{step}", headers={"Authorization": f"Bearer {token}"})


def test_the_api_tells_an_operator_why_and_a_consumer_only_that_it_cannot_go_on(
    either_town: Town, stuck: Round, client: httpx.Client
) -> None:
    told = _asked(client, either_town, either_town.operator, stuck)
    assert (told.status_code, told.json()["type"]) == (409, "stuck")
    assert told.json()["detail"] == f"this round cannot go on: {REASON}"
    told = _asked(client, either_town, either_town.consumer, stuck)
    assert (told.status_code, told.json()["type"]) == (409, "stuck")
    assert told.json()["detail"] == "this round cannot go on, and nothing was changed: the operator can see why"


def test_the_operators_page_of_the_round_says_why_before_and_after_the_button(
    either_town: Town, stuck: Round, client: httpx.Client
) -> None:
    town, address = either_town, f"/operator/rounds/{stuck.round_id}"
    session = access.start_session(town.market, town.operator)
    client.cookies.set("pdqs_session", session.cookie)
    assert "cannot go on" not in client.get(address).text
    pressed = client.post(
        f"{address}/clear", data={"csrf_token": session.csrf_token}, headers={"Origin": str(client.base_url)}
    )
    assert pressed.status_code == 409
    assert f"This round cannot go on: {REASON}." in pressed.text
    keep_deadlines(town.market)
    shown = client.get(address).text
    assert "This round cannot go on (since " in shown
    assert f"{REASON}. Nothing was changed, and it is tried again at every tick; it can be cancelled." in shown
    round_steps.cancel_round(town.market, town.operator, stuck.round_id)
    keep_deadlines(town.market)
    assert "cannot go on" not in client.get(address).text


def test_the_log_says_why_and_where_once_and_again_when_that_changes(
    either_town: Town, stuck: Round, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(times: int) -> list[tuple[str, str, str]]:
        caplog.clear()
        with caplog.at_level("INFO", logger="pdqs.market"):
            for _ in range(times):
                keep_deadlines(either_town.market)
                either_town.clock.advance(1)
        lines = [json.loads(record.message) for record in caplog.records]
        told = [line for line in lines if line["event"] == "advance-failed"]
        return [(line["round"], line["reason"], line["where"].partition(":")[0]) for line in told]

    assert failed(3) == [(stuck.round_id, REASON, "round_steps.py")]

    def fail(*_: object) -> None:
        ensure(False, "something else does not hold")

    monkeypatch.setattr(round_steps, "_go_on", fail)
    assert failed(3) == [(stuck.round_id, "something else does not hold", "test_stuck_rounds.py")]


@pytest.mark.usefixtures("stuck")
def test_failures_are_counted_for_every_process_and_for_good(either_town: Town, client: httpx.Client) -> None:
    assert "\npdqs_advance_failures_total 0\n" in client.get("/metrics").text
    keep_deadlines(either_town.market)
    assert "\npdqs_advance_failures_total 1\n" in client.get("/metrics").text
    for _ in range(6):
        either_town.clock.advance(1)
        keep_deadlines(either_town.market)
    assert last_tick(either_town.market).failures == 6, "what was found since the last writing is written with the next"
    assert "\npdqs_rounds_stuck 1\n" in client.get("/metrics").text


def test_what_an_earlier_version_kept_of_the_clock_is_read(town: Town) -> None:
    with town.market.store.write() as connection:
        connection.execute(server_keys.insert(), {"purpose": "clock", "key": '{"at_ms": 5, "stuck": []}'})
    assert last_tick(town.market) == ClockState(at_ms=5)


def test_the_place_of_a_broken_promise_is_who_asked_for_it() -> None:
    with pytest.raises(InvariantError) as broken:
        ensure(False, "a promise")
    assert where(broken.value).startswith("test_stuck_rounds.py:")


def test_the_log_says_why_letters_and_deadlines_could_not_be_seen_to(
    town: Town, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("SELECT 1", {}, Exception("database or disk is full"))

    for name in ("deliver_due", "advance_due"):
        monkeypatch.setattr(clock, name, away)
    ready = Readiness(town.market.store)
    assert ready.prepare()

    def reasons() -> dict[str, str]:
        lines = [json.loads(record.message) for record in caplog.records]
        return {line["event"]: line["reason"] for line in lines if "reason" in line}

    with caplog.at_level("INFO", logger="pdqs.market"), clock.ticking(town.market, ready):
        while len(reasons()) < 2:
            time.sleep(0.05)
    said = "the database cannot be used: its disk is full or has a fault"
    assert reasons() == {"letters-failed": said, "advance-failed": said}
