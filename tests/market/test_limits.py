"""Slow and greedy callers: what takes too long is closed, what is too much is refused, and the others are served."""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from market.town import Town, plan
from pdqs import clearing
from pdqs.market import Settings, access, forecasting, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.forecasts import ForecastRequest
from pdqs.protocol.market_messages import QueryMessage, User
from pdqs.protocol.problems import ConflictError, MarketError, ProblemType, TooManyRequestsError, UnprocessableError


@contextmanager
def _serving(town: Town, **changes: Any) -> Iterator[str]:
    """The town, served with other settings."""
    settings = dataclasses.replace(town.market.settings, **changes)
    with served(create_app(settings, town.clock, ticking=False)) as address:
        yield address


def _said(address: str, words: bytes) -> socket.socket:
    """A connection on which these words were said, and no more."""
    host, port = address.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), timeout=60)
    line.sendall(words)
    return line


def _closed_after(line: socket.socket) -> tuple[bytes, float]:
    """What is heard until the other side closes, and how long that takes."""
    began, heard = time.monotonic(), b""
    try:
        while more := line.recv(4096):
            heard += more
    except ConnectionResetError:
        pass
    return heard, time.monotonic() - began


HEAD = b"PUT /v1/rounds/r_0/bid HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("words", [b"", b"GET /heal", HEAD, HEAD + b"X: y\r\n"], ids=["none", "line", "head", "more"])
def test_a_request_whose_head_never_ends_is_closed(town: Town, words: bytes) -> None:
    with _serving(town, header_seconds=0.5) as address, _said(address, words) as line:
        heard, seconds = _closed_after(line)
        assert heard == b""
        assert 0.2 < seconds < 30


def test_a_head_that_comes_a_letter_at_a_time_is_closed_all_the_same(town: Town) -> None:
    with _serving(town, header_seconds=0.5) as address, _said(address, b"GET /") as line:
        began = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT012  the pipe breaks at some letter
            while time.monotonic() < began + 60:
                line.sendall(b"a")
                time.sleep(0.05)
        assert time.monotonic() - began < 30


def test_a_second_request_on_a_connection_has_as_long_and_no_longer(town: Town) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with _serving(town, header_seconds=1.0) as address, _said(address, whole) as line:
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
        line.sendall(b"GET /healthz HT")
        assert _closed_after(line)[1] < 30


def test_a_body_that_never_ends_is_answered_and_closed(town: Town) -> None:
    with (
        _serving(town, body_seconds=0.5) as address,
        _said(address, HEAD + b"Content-Length: 100\r\n\r\n{") as line,
    ):
        heard, seconds = _closed_after(line)
    assert heard.startswith(b"HTTP/1.1 408")
    assert json.loads(heard.partition(b"\r\n\r\n")[2])["type"] == "too-slow"
    assert seconds < 30


def test_an_answer_that_nobody_reads_does_not_wait_for_ever(town: Town) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"

    def heard_after(seconds: float, address: str) -> int:
        host, port = address.removeprefix("http://").split(":")
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with line:
            line.connect((host, int(port)))
            line.sendall(asked * 60)
            time.sleep(seconds)
            return len(_closed_after(line)[0])

    with _serving(town, body_seconds=0.5) as address:
        every = 60 * len(httpx.get(f"{address}/openapi.json", timeout=120).content)
        # A busy machine may need longer than two seconds to fill the line and then to find it full for half of one.
        assert any(heard_after(seconds, address) < every / 2 for seconds in (2, 10, 40)), "it was cut off"


def test_many_unfinished_requests_do_not_take_the_market_away(town: Town) -> None:
    with _serving(town, most_connections=40) as address, ExitStack() as open_:
        for _ in range(200):
            open_.enter_context(_said(address, b"GET /healthz HTTP/1.1\r\nHost"))
        began = time.monotonic()
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        assert time.monotonic() - began < 30


UNSENT = HEAD + b"Content-Length: 50\r\n\r\n"


def test_many_bodies_that_never_come_do_not_take_the_market_away(town: Town) -> None:
    with _serving(town, most_connections=40) as address, ExitStack() as open_:
        for _ in range(200):
            open_.enter_context(_said(address, UNSENT))
        for _ in range(5):
            assert httpx.get(f"{address}/healthz", timeout=10).status_code == 200


def test_who_waited_longest_for_a_body_goes_first(town: Town) -> None:
    with _serving(town, most_connections=5) as address, ExitStack() as open_:
        lines = []
        for _ in range(6):
            lines.append(open_.enter_context(_said(address, UNSENT)))
            time.sleep(0.1)
        assert _closed_after(lines[0])[0] == b""
        for line in lines[1:]:
            line.sendall(b"x" * 50)
            assert line.recv(4096).startswith(b"HTTP/1.1 401"), "the others go on"


@pytest.mark.parametrize("trusted", ["", "127.0.0.1", "127.0.0.0/8"])
def test_one_address_has_its_share_of_connections_and_a_proxy_is_not_counted(town: Town, trusted: str) -> None:
    with _serving(town, most_connections_each=5, trusted_proxies=trusted) as address, ExitStack() as open_:
        lines = []
        for _ in range(6):
            lines.append(open_.enter_context(_said(address, UNSENT)))
            time.sleep(0.1)
        lines[0].settimeout(1.0)
        if trusted:
            with pytest.raises(TimeoutError):
                lines[0].recv(4096)
        else:
            assert _closed_after(lines[0])[0] == b""


def test_half_a_body_is_no_request(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr("pdqs.market.access.redeem_for_token", lambda _, code, *__: taken.append(code))
    head = b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
    with _serving(town) as address:
        for code, missing in (("cut" * 12, 1), ("whole" * 8, 0)):
            body = json.dumps({"code": code}).encode()
            with _said(address, head + str(len(body) + missing).encode() + b"\r\n\r\n" + body) as line:
                line.shutdown(socket.SHUT_WR)
                _closed_after(line)
                time.sleep(0.3)
        _until(lambda: "whole" * 8 in taken)
    assert taken == ["whole" * 8]


def test_a_request_in_hand_is_not_cut_off_for_a_newcomer(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr("pdqs.market.reads.health", lambda _: go.wait(10) and 1 / 0)
    found: list[int] = []
    with _serving(town, most_connections=5) as address, ExitStack() as open_:
        asker = threading.Thread(target=lambda: found.append(httpx.get(f"{address}/healthz", timeout=20).status_code))
        asker.start()
        time.sleep(0.3)
        for _ in range(50):
            open_.enter_context(_said(address, b"GET"))
        go.set()
        asker.join()
    assert found == [500]  # an answer, if not a good one


def test_one_token_has_one_budget_of_requests_however_its_scheme_is_spelled(town: Town) -> None:
    token = access.issue_token(town.market, town.consumer)
    spellings = ["Bearer", "bearer", "BEARER", "bEaReR", "BearER"]
    with _serving(town, caller_rate=0.01, caller_burst=3.0) as address:
        found = [
            httpx.get(f"{address}/v1/me", headers={"Authorization": f"{spelling} {token}"}).status_code
            for spelling in spellings
        ]
        beside = access.issue_token(town.market, town.operator)  # another caller's budget is another
        other = httpx.get(f"{address}/v1/me", headers={"Authorization": f"Bearer {beside}"}).status_code
    assert (found, other) == ([200, 200, 200, 429, 429], 200)


def test_one_session_has_one_budget_whatever_other_cookies_come_along(town: Town) -> None:
    cookie = access.start_session(town.market, town.consumer).cookie
    with _serving(town, caller_rate=0.01, caller_burst=2.0) as address:
        found = [
            httpx.get(f"{address}/v1/me", headers={"Cookie": f"x={place}; pdqs_session={cookie}"}).status_code
            for place in range(4)
        ]
    assert found == [200, 200, 429, 429]


def test_who_calls_by_many_tokens_and_sessions_has_no_more_requests_than_by_one(town: Town) -> None:
    tokens = [access.issue_token(town.market, town.consumer, name) for name in ("phone", "laptop", "script")]
    hers = [{"Authorization": f"Bearer {token}"} for token in tokens]
    hers.append({"Cookie": f"pdqs_session={access.start_session(town.market, town.consumer).cookie}"})
    beside = {"Authorization": f"Bearer {access.issue_token(town.market, town.operator)}"}
    with _serving(town, caller_rate=0.01, caller_burst=3.0) as address, httpx.Client(base_url=address) as line:
        found = [line.get("/v1/me", headers=one).status_code for one in hers * 4]
        other = line.get("/v1/me", headers=beside).status_code
    known = len(hers)  # the first request of each is what tells who she is
    assert found == [200] * (known + 3) + [429] * (3 * known - 3)
    assert other == 200


def test_who_sends_a_request_is_said_once(town: Town) -> None:
    token = access.issue_token(town.market, town.consumer)
    with _serving(town, caller_rate=0.01, caller_burst=3.0) as address:
        for other in ("Bearer " + "a" * 43, f"Bearer {token}", "Basic x"):
            twice = [("Authorization", f"Bearer {token}"), ("Authorization", other)]
            refused = httpx.get(f"{address}/v1/me", headers=twice)
            assert refused.status_code == 400
            assert "more than one Authorization header" in refused.json()["detail"]
        hers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{address}/v1/me", headers=hers).status_code == 429, "they count as hers"


@pytest.mark.parametrize("second", ["Authorization", "Cookie"])
def test_no_other_credential_gives_a_session_more_requests(town: Town, second: str) -> None:
    cookie = access.start_session(town.market, town.consumer).cookie
    with _serving(town, caller_rate=0.01, caller_burst=2.0) as address:
        found = []
        for place in range(4):
            random = {"Authorization": f"Bearer {'a' * 42}{place}", "Cookie": f"x={place}"}[second]
            both = [("Cookie", f"pdqs_session={cookie}"), (second, random)]
            found.append(httpx.get(f"{address}/account", headers=both).status_code)
    assert found == [200, 200, 429, 429]


def test_a_header_that_says_nothing_gives_a_session_no_more_requests(town: Town) -> None:
    cookie = access.start_session(town.market, town.consumer).cookie
    with _serving(town, caller_rate=0.01, caller_burst=2.0) as address:
        both = {"Authorization": "", "Cookie": f"pdqs_session={cookie}"}
        found = [httpx.get(f"{address}/v1/me", headers=both).status_code for _ in range(4)]
    assert found == [200, 200, 429, 429]


def test_a_session_beside_a_token_is_not_what_a_program_is_counted_by(town: Town) -> None:
    token, cookie = access.issue_token(town.market, town.consumer), "a" * 42
    with _serving(town, caller_rate=0.01, caller_burst=2.0) as address:
        found = [
            httpx.get(
                f"{address}/v1/me",
                headers={"Authorization": f"Bearer {token}", "Cookie": f"pdqs_session={cookie}{place}"},
            ).status_code
            for place in range(4)
        ]
    assert found == [200, 200, 429, 429]


@pytest.mark.parametrize(("trusted", "last"), [("", 429), ("127.0.0.1", 200)])
def test_who_is_calling_is_what_the_connection_says_unless_a_trusted_proxy_says_otherwise(
    town: Town, trusted: str, last: int
) -> None:
    with _serving(town, address_rate=0.01, address_burst=2.0, trusted_proxies=trusted) as address:
        found = [
            httpx.get(f"{address}/healthz", headers={"X-Forwarded-For": f"10.0.0.{place}"}).status_code
            for place in range(4)
        ]
    assert found == [200, 200, last, last]


def test_of_ipv6_whoever_has_a_network_has_the_requests_of_one_address(town: Town) -> None:
    with _serving(town, address_rate=0.01, address_burst=2.0, trusted_proxies="127.0.0.1") as address:
        found = [
            httpx.get(f"{address}/healthz", headers={"X-Forwarded-For": one}).status_code
            for one in ("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::3", "192.0.2.7")
        ]
    assert found == [200, 200, 429, 200, 200]


REQUEST = ForecastRequest(plan=plan(), owners=100)


def _caller(number: int) -> User:
    return User(user_id=f"u_{number:024x}", role="consumer", name="x", created_at_ms=0)


def _until(there_are: Callable[[], bool]) -> None:
    for _ in range(2000):
        if there_are():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to that")


def test_forecasts_beyond_a_few_are_refused_at_once_and_one_caller_cannot_have_them_all(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    begun: list[str] = []
    ended: list[str] = []
    busy: list[threading.Thread] = []

    def slow(*_: object, **__: object) -> None:
        begun.append(threading.current_thread().name)
        _fail_after(go)

    def ask(caller: int, name: str) -> None:
        busy.append(threading.Thread(target=_ask, args=(town, _caller(caller), ended), name=name))
        busy[-1].start()

    monkeypatch.setattr(forecasting, "plan", slow)
    ask(1, "hers, being made")
    _until(lambda: len(begun) == 1)
    ask(1, "hers, waiting")
    time.sleep(0.3)
    ask(1, "hers, newer")
    _until(lambda: ended == ["hers, waiting: too-many-requests"])  # at once, and not what is being made
    for place in range(2):
        ask(2, f"another's {place}")
        time.sleep(0.3)
    with pytest.raises(TooManyRequestsError):  # all places are taken
        forecasting.forecast(town.market, town.consumer, REQUEST)
    ask(1, "hers, newest")  # who waits already may have that place for something else
    _until(lambda: ended[1:] == ["hers, newer: too-many-requests"])
    go.set()
    for thread in busy:
        thread.join()
    assert begun == ["hers, being made", "hers, newest", "another's 0", "another's 1"], "her place in the line is kept"
    with pytest.raises(UnprocessableError, match="made to fail"):
        forecasting.forecast(town.market, town.consumer, REQUEST)


def _fail_after(go: threading.Event) -> None:
    go.wait(20)
    raise UnprocessableError(ProblemType.BAD_TERMS, "made to fail")


def _ask(town: Town, caller: User, ended: list[str]) -> None:
    with pytest.raises(MarketError) as refused:
        forecasting.forecast(town.market, caller, REQUEST)
    ended.append(f"{threading.current_thread().name}: {refused.value.type}")


def test_a_forecast_that_takes_long_stops_at_what_it_has(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each clearing takes a second of the five that there are; there are some two hundred in all."""
    cleared: list[int] = []

    def clear(bids: Any, *given: Any, **named: Any) -> Any:
        cleared.append(len(bids))
        return clearing.clear(bids, *given, **named)

    monkeypatch.setattr("pdqs.planning.typical.clear", clear)
    found = forecasting.forecast(town.market, town.consumer, REQUEST, now=lambda: float(len(cleared)))
    assert len(cleared) == 6, "five, and one for what it is compared with"
    assert found.half_width is not None
    assert [point.half_width for point in found.curve] == [found.half_width], "the plan's own point"
    whole = forecasting.forecast(town.market, town.consumer, REQUEST, now=lambda: 0.0)
    assert len(cleared) > 100
    assert len(whole.curve) == 9
    some = forecasting.forecast(town.market, town.consumer, REQUEST, now=lambda: len(cleared) / 30.0)
    assert 1 < len(some.curve) < 9
    assert {point.budget_micros for point in some.curve} <= {point.budget_micros for point in whole.curve}


def test_lists_hold_no_labels_and_no_terms(town: Town) -> None:
    labels = [f"{'label' * 4} {n}" for n in range(5000)]
    query = QueryMessage(
        kind="histogram", text="Which?", domain=DomainMessage(kind="categories", labels=labels, size=len(labels))
    )
    (owner,) = town.add_owners(1)
    for place in range(3):
        town.open_round(f"a-large-round-{place}", query=query, epsilon_max=12.0, budget_micros=1_000_000)
    tokens = {str(user.role): access.issue_token(town.market, user) for user in (town.consumer, owner, town.operator)}
    with _serving(town) as address:
        for role, path in (("consumer", "/v1/rounds"), ("operator", "/v1/rounds"), ("owner", "/v1/notices")):
            answer = httpx.get(f"{address}{path}", headers={"Authorization": f"Bearer {tokens[role]}"})
            assert len(answer.json()["items"]) == 3
            assert len(answer.content) < 3000
            assert "label" not in answer.text


def test_a_round_must_be_worth_the_least_budget(town: Town) -> None:
    market = dataclasses.replace(town.market, settings=Settings())
    with pytest.raises(UnprocessableError, match="at least 1 here"):
        round_steps.draft_round(market, town.consumer, plan(budget_micros=999_999), "a-round-for-nothing")
    assert round_steps.draft_round(market, town.consumer, plan(budget_micros=1_000_000), "for-one-unit")


def test_a_round_leaves_time_to_report_or_is_not_drafted_nor_opened(town: Town) -> None:
    """With a second to report nobody can, nothing is paid, and the record would have everyone's bid."""
    market = dataclasses.replace(town.market, settings=Settings())
    with pytest.raises(UnprocessableError, match="at least 60 seconds to report"):
        round_steps.draft_round(market, town.consumer, plan(report_seconds=59), "a-round-of-no-time")
    before = round_steps.draft_round(town.market, town.consumer, plan(report_seconds=59), "from-before-that")
    with pytest.raises(UnprocessableError, match="at least 60 seconds to report"):
        round_steps.open_round(market, town.consumer, before.round_id)
    fair = round_steps.draft_round(market, town.consumer, plan(report_seconds=60), "a-round-of-a-minute")
    assert round_steps.open_round(market, town.consumer, fair.round_id).state == "open"


def test_a_consumer_keeps_so_many_drafts_and_no_more(either_town: Town) -> None:
    town = either_town
    market = dataclasses.replace(town.market, settings=dataclasses.replace(town.market.settings, most_drafts=3))

    def draft(place: int) -> str:
        return round_steps.draft_round(market, town.consumer, plan(), f"a-draft-of-many-{place}").round_id

    kept = [draft(place) for place in range(3)]
    with pytest.raises(ConflictError, match="you have 3 drafts"):
        draft(3)
    assert draft(2) == kept[2], "asked again it is the same"
    round_steps.open_round(market, town.consumer, kept[0])  # what is open is paid for, and is no draft
    kept.append(draft(3))
    round_steps.cancel_round(market, town.consumer, kept[1])
    with pytest.raises(ConflictError, match="called off since yesterday"):
        draft(4)
    town.clock.advance(86_401)
    assert draft(4) not in kept
