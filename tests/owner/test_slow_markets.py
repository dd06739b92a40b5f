"""A market that says a byte a minute, never stops or leads elsewhere gets nowhere. Minutes are counted, not waited."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from owner.node import mutant, twin
from pdqs.protocol.problems import MarketError
from pdqs.protocol.transport import Transport

ANSWER = b'{"slowly": "' + b"y" * 400 + b'"}'
HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(ANSWER)}\r\n\r\n".encode()
ROUND = "rnd_" + "a1" * 12


@dataclass
class Bell:
    """An alarm whose minutes the slow market tells; a deaf one never rings."""

    deaf: bool = False
    minutes: int = 0
    _seconds: float = field(default=float("inf"))
    _ring: Callable[[], None] = field(default=lambda: None)

    def set(self, seconds: float, ring: Callable[[], None]) -> Bell:
        self._seconds, self._ring = seconds, ring
        return self

    def start(self) -> None:
        """It is wound up already."""

    def cancel(self) -> None:
        self._seconds = float("inf")

    def minute(self) -> None:
        self.minutes += 1
        if 60 * self.minutes > self._seconds and not self.deaf:
            self._ring()


@contextmanager
def slow_market(dripping: str, bell: Bell) -> Iterator[str]:
    """On loopback: the head or the body of its answer comes byte by byte, one a minute."""
    at_once, slowly = (b"", HEAD + ANSWER) if dripping == "head" else (HEAD, ANSWER)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):  # hung up
                line, _ = server.accept()
                with line:
                    line.recv(65536)
                    line.sendall(at_once)
                    for place in range(len(slowly)):
                        line.sendall(slowly[place : place + 1])
                        bell.minute()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("dripping", ["head", "body"])
def test_an_answer_that_comes_a_byte_a_minute_is_cut_off(dripping: str) -> None:
    bell = Bell()
    with slow_market(dripping, bell) as address, Transport(address, set_alarm=bell.set) as line:
        with pytest.raises(MarketError, match="does not come to an end"):
            line.record(ROUND)
        assert bell.minutes < len(ANSWER)


@pytest.mark.parametrize("dripping", ["head", "body"])
def test_a_device_that_is_deaf_to_the_alarm_is_held_to_the_last_byte(dripping: str) -> None:
    bell = Bell(deaf=True)
    with slow_market(dripping, bell) as address, Transport(address, set_alarm=bell.set) as line:
        assert line.record(ROUND) == ANSWER.decode()
    assert bell.minutes >= len(ANSWER)


def test_an_answer_in_time_is_taken_though_the_one_before_it_was_not() -> None:
    bell = Bell()

    def answering(request: httpx.Request) -> httpx.Response:
        bell.minutes = 0
        if request.url.path.endswith("record"):
            return httpx.Response(200, content=(drop for drop in _minutes(bell)))
        return httpx.Response(404, json={"type": "no-round", "detail": "there is none"})

    with Transport("http://market.test", transport=httpx.MockTransport(answering), set_alarm=bell.set) as line:
        with pytest.raises(MarketError, match="does not come to an end"):
            line.record(ROUND)
        with pytest.raises(MarketError, match="there is none"):
            line.redeem("c" * 43)


def _minutes(bell: Bell) -> Iterator[bytes]:
    for _ in range(1000):
        bell.minute()
        yield b" "


CASES = [{"dripping": part, "rings": True} for part in ("head", "body")]


def test_the_browsers_device_is_not_held_either_nor_filled_up_nor_led_away() -> None:
    told = twin(script="slow_twin.mjs", answer=ANSWER.decode(), most=200, cases=CASES)
    for found in told["found"]:
        assert found["said"] == "Refusal: The market's answer does not come to an end."
        assert (found["asked"], found["passed"] < len(ANSWER)) == (600_000, True)
    assert told["endless"]["said"] == "The market's answer is too long to be one."
    assert told["endless"]["megabytes"] < 6
    assert told["elsewhere"] == {"refused": True, "asked": ["/v1/me"]}


def test_a_browsers_device_without_its_limits_is_held_and_filled_up_and_led_away(tmp_path: Path) -> None:
    timeless, boundless = tmp_path / "time", tmp_path / "size"
    timeless.mkdir()
    boundless.mkdir()
    mutant(timeless, "visit.mjs", "credentials, signal });", "credentials });")
    mutant(boundless, "visit.mjs", "size > MOST_BYTES", "size < 0")
    visit = boundless / "visit.mjs"
    visit.write_text(
        visit.read_text(encoding="utf-8").replace('redirect: "error"', 'redirect: "follow"'), encoding="utf-8"
    )
    asking = {"answer": ANSWER.decode(), "most": 100, "cases": CASES}
    held = twin(timeless, script="slow_twin.mjs", **asking)["found"]
    assert [(found["said"], found["passed"] >= len(ANSWER) - 1) for found in held] == [(None, True)] * 2
    careless = twin(boundless, script="slow_twin.mjs", **asking)
    assert careless["endless"] == {"said": None, "megabytes": 101}
    assert careless["elsewhere"] == {"refused": False, "asked": ["/v1/me", "/elsewhere"]}
