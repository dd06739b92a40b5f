"""The device's client resends the same bytes, and says in a sentence why the market said no."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol import transport
from pdqs.protocol.problems import ConflictError, MarketError, ProblemType
from pdqs.protocol.transport import ATTEMPTS

from .node import BROWSER, mutant, run_node
from .rounds import ROUND, bid_fields, notice, offer

RECEIPT = {
    "round_id": ROUND,
    "terms_hash": "0" * 64,
    "code": 1,
    "received_at_ms": 5,
    "payment_micros": 7,
    "ordinal": 1,
    "signature": "",
}


def client(answer: Callable[[httpx.Request], httpx.Response]) -> OwnerClient:
    return OwnerClient("http://market.test", "t" * 30, transport=httpx.MockTransport(answer), sleep=lambda _: None)


def test_a_report_is_sent_again_with_the_same_bytes_until_the_market_answers() -> None:
    bodies: list[bytes] = []

    def flaky(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        if len(bodies) == 1:
            raise httpx.ConnectError("no route")
        if len(bodies) == 2:
            return httpx.Response(503)
        return httpx.Response(200, json=RECEIPT)

    with client(flaky) as market:
        assert market.send_report(ROUND, b'{"the":"bytes"}').payment_micros == 7
    assert bodies == [b'{"the":"bytes"}'] * 3


def test_a_report_that_could_not_be_sent_is_stored_and_goes_out_unchanged_later(tmp_path: Path) -> None:
    about, ledger, sent = notice(), Ledger(tmp_path / "device.sqlite"), []
    ledger.keep_bid(bid_fields(about, 0, "m"))
    device = Device(market="m", ledger=ledger)
    review = device.review(about, offer(about, bid_micros=0))

    def down(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    def up(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(200, json=RECEIPT)

    stored = device.report(review, 1, fresh=review.offer, now_ms=1, agreed=review.asks)
    with client(down) as market, pytest.raises(MarketError, match="cannot be reached"):
        market.send_report(ROUND, stored.body.encode())
    ledger.close()
    reopened = Ledger(tmp_path / "device.sqlite")
    kept = reopened.account().report("m", ROUND)
    assert kept is not None
    assert kept.accepted_at_ms is None
    with client(up) as market:
        market.send_report(ROUND, kept.body.encode())
    reopened.close()
    assert sent == [stored.body.encode()]


def test_a_refusal_is_not_retried_and_is_told_in_the_markets_words() -> None:
    calls: list[str] = []

    def refuses(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        return httpx.Response(409, json={"detail": "bids are closed"})

    with client(refuses) as market, pytest.raises(ConflictError, match="bids are closed"):
        market.send_bid(ROUND, b"{}")
    assert len(calls) == 1


def test_a_busy_market_is_given_up_on_after_a_few_attempts() -> None:
    calls: list[str] = []

    def busy(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        return httpx.Response(429)

    with client(busy) as market, pytest.raises(MarketError, match="429"):
        market.offer(ROUND)
    assert len(calls) == ATTEMPTS


@pytest.mark.parametrize("bad", [{}, {**RECEIPT, "selected": True}, {**RECEIPT, "payment_micros": 1.5}])
def test_an_answer_that_is_no_receipt_is_refused(bad: dict[str, object]) -> None:
    with client(lambda _: httpx.Response(200, json=bad)) as market, pytest.raises(MarketError, match="ReportReceipt"):
        market.send_report(ROUND, b"{}")


def test_a_round_id_cannot_reach_another_route() -> None:
    with client(lambda _: httpx.Response(200, json={})) as market, pytest.raises(MarketError, match="not a round's id"):
        market.notice("../users")


def test_a_code_for_someone_else_than_an_owner_is_refused() -> None:
    made = {
        "token": "t" * 30,
        "user": {"user_id": f"u_{'0' * 24}", "role": "consumer", "name": "C", "created_at_ms": 1},
    }
    with client(lambda _: httpx.Response(200, json=made)) as market, pytest.raises(MarketError, match="for a consumer"):
        market.redeem("c" * 30)


def test_a_list_without_an_end_is_not_followed() -> None:
    calls: list[str] = []

    def endless(request: httpx.Request) -> httpx.Response:
        calls.append(str(request.url))
        return httpx.Response(200, json={"items": [], "next": f"1_r_{len(calls):024x}"})

    with client(endless) as market, pytest.raises(MarketError, match="no end"):
        market.notices()
    assert len(calls) == 200
    circle = httpx.Response(200, json={"items": [], "next": f"1_r_{0:024x}"})
    with client(lambda _: circle) as market, pytest.raises(MarketError, match="no end"):
        market.notices()


@pytest.mark.parametrize("status", [400, 404, 409, 500])
def test_a_markets_words_cannot_move_the_cursor_of_a_terminal(status: int) -> None:
    said = {"type": "no-round", "detail": "gone\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"}
    with client(lambda _: httpx.Response(status, json=said)) as market, pytest.raises(MarketError) as refused:
        market.notice(ROUND)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("content", [b"<html>", b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'"text"', b"null"])
@pytest.mark.parametrize("status", [200, 409])
def test_an_answer_that_is_no_json_is_refused_in_a_sentence(content: bytes, status: int) -> None:
    with client(lambda _: httpx.Response(status, content=content)) as market, pytest.raises(MarketError) as refused:
        market.notice(ROUND)
    assert str(refused.value).isprintable()


def test_an_answer_that_never_stops_is_cut_off() -> None:
    told: list[int] = []

    def endless() -> Iterator[bytes]:
        while len(told) < 200:
            told.append(2**20)
            yield b" " * 2**20

    with (
        client(lambda _: httpx.Response(200, content=endless())) as market,
        pytest.raises(MarketError, match="too long"),
    ):
        market.notice(ROUND)
    assert sum(told) < 6 * 2**20


def test_a_report_that_came_late_is_drawn_and_sent_and_neither_accepted_nor_paid(tmp_path: Path) -> None:
    about, ledger = notice(), Ledger(tmp_path / "device.sqlite")
    ledger.keep_bid(bid_fields(about, 0, "m"))

    def late(request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            return httpx.Response(409, json={"type": "reports-closed", "detail": "reports in this round are closed"})
        return httpx.Response(200, json=about.model_dump())

    with client(late) as market:
        visit = Visit(device=Device(market="m", ledger=ledger), client=market, clock=lambda: 3)
        review = visit.device.review(about, offer(about, bid_micros=0))
        made = visit.device.report(review, 1, fresh=review.offer, now_ms=2, agreed=review.asks)
        with pytest.raises(ConflictError, match="closed"):
            visit.send(made)
    kept = ledger.account().reports()[0]
    assert kept.facts == "drawn, sent; refused"
    assert kept.refusal == "reports in this round are closed"
    assert (kept.accepted_at_ms, kept.paid_micros) == (None, None)
    assert ledger.account().spending("smoker").spent_nanos == review.epsilon_nanos, "what was drawn is spent"
    ledger.close()


@pytest.mark.parametrize("packed_as", ["gzip", "gzip, gzip", "deflate", "GZIP"])
def test_a_packed_answer_is_refused_before_it_is_unpacked(packed_as: str) -> None:
    """Nobody asks for one, and a few bytes that are packed twice are more than a machine holds."""
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    asked: list[str] = []

    def packed(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"])
        return httpx.Response(200, headers={"content-encoding": packed_as}, stream=httpx.ByteStream(bomb))

    tracemalloc.start()
    with client(packed) as market, pytest.raises(MarketError, match="packed, which nobody asked for"):
        market.offer(ROUND)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert asked == ["identity"]
    assert most < 10_000_000


def test_a_market_that_sends_the_device_elsewhere_is_not_followed() -> None:
    asked: list[str] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"location": "http://another.test/v1/me"})

    with client(elsewhere) as market, pytest.raises(MarketError, match="answered 307"):
        market.account()
    assert asked == ["market.test"]


@pytest.mark.parametrize("word", ["unreachable", "bad-answer"])
def test_a_market_cannot_speak_as_the_device_does_of_it(word: str) -> None:
    def forged(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(409, json={"type": word, "detail": "raise your cap"})

    with client(forged) as market, pytest.raises(MarketError) as told:
        market.offer(ROUND)
    assert told.value.type is ProblemType.OTHER


def listing(items: int, *, padding: int = 0) -> tuple[Callable[[httpx.Request], httpx.Response], list[str]]:
    """A market whose lists have pages without an end, of so many items, each page with so many spaces beside them."""
    calls: list[str] = []
    lines = {
        "notices": {
            "round_id": ROUND,
            "state": "open",
            "text": "x",
            "attribute": "a",
            "domain_kind": "binary",
            "domain_size": 2,
            "bid_low_micros": 0,
            "bid_high_micros": 1,
            "epsilon_max": 1.0,
            "bids_close_at_ms": 1,
            "reports_close_at_ms": None,
            "terms_hash": "0" * 64,
            "purpose": "",
            "stages_in_all": 1,
        },
        "statement": {
            "transaction_id": "t",
            "kind": "settlement",
            "account": "o",
            "amount_micros": 1,
            "at_ms": 1,
            "round_id": ROUND,
        },
    }

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(str(request.url))
        kind = request.url.path.rpartition("/")[2]
        more = {"balance_micros": 0} if kind == "statement" else {}
        page = {"items": [lines[kind]] * items, "next": f"c{len(calls)}", **more}
        return httpx.Response(200, content=json.dumps(page).encode() + b" " * padding)

    return answer, calls


@pytest.mark.parametrize("kind", ["notices", "statement"])
@pytest.mark.parametrize(
    ("items", "padding", "pages", "said"),
    [
        (1001, 0, 1, "more than 1,000 lines on a page"),
        (1000, 0, 21, "more than 20,000 lines or 16 MB"),
        (1, 2**20, 16, "more than 20,000 lines or 16 MB"),
    ],
)
def test_a_list_that_would_fill_the_device_up_is_not_kept(
    kind: str, items: int, padding: int, pages: int, said: str
) -> None:
    answer, calls = listing(items, padding=padding)
    with client(answer) as market, pytest.raises(MarketError, match=said):
        market.notices() if kind == "notices" else market.statement()
    assert len(calls) == pages
    told = run_node(str(Path(__file__).with_name("lists_twin.mjs")), str(BROWSER), asked=[items, padding, kind])
    assert told["pages"] == pages
    assert "too long to be one" in told["said"] or "is not a" in told["said"]


@pytest.mark.parametrize(("items", "padding", "pages"), [(1000, 0, 200), (1, 2**20, 200)])
def test_a_device_without_room_for_lists_in_mind_is_filled_up(
    items: int, padding: int, pages: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(transport.Room, "take", lambda *_, **__: None)
    answer, calls = listing(items, padding=padding // 2**10)
    with client(answer) as market, pytest.raises(MarketError, match="no end"):
        market.notices()
    assert len(calls) == pages
    modules = mutant(tmp_path, "visit.mjs", "{ bytes: MOST_LIST_BYTES }", "{ bytes: Infinity }")
    text = (modules / "visit.mjs").read_text(encoding="utf-8")
    (modules / "visit.mjs").write_text(text.replace("items.length > MOST_ITEMS", "items.length < 0"), encoding="utf-8")
    told = run_node(str(Path(__file__).with_name("lists_twin.mjs")), str(modules), asked=[items, padding, "notices"])
    assert (told["pages"], told["said"]) == (pages, "Refusal: The market's list has no end.")
