"""Problem types are written once, and travel in one shape."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import httpx
import pytest

import pdqs
from pdqs.protocol.market_messages import Health
from pdqs.protocol.problems import ERRORS, MarketError, NotFoundError, ProblemType, problem_json
from pdqs.protocol.transport import Transport

SOURCE = Path(pdqs.__file__).parent


def test_every_problem_type_is_used_and_none_is_a_loose_string() -> None:
    texts = {path: path.read_text() for path in SOURCE.rglob("*.py") if path.name != "problems.py"}
    used = set(re.findall(r"ProblemType\.([A-Z_]+)", " ".join(texts.values())))
    by_http = {"BAD_REQUEST", "NOT_FOUND", "METHOD_NOT_ALLOWED", "OTHER"}  # read from a word, never written
    assert used | by_http == set(ProblemType.__members__)
    loose = re.compile(
        r"\b(?:Market|Unauthorized|Forbidden|NotFound|Conflict|Unprocessable|TooManyRequests)Error\(\s*f?[\"']"
    )
    assert [path.name for path, text in texts.items() if loose.search(text)] == []


@pytest.mark.parametrize("status", [400, *ERRORS])
def test_a_problem_comes_out_of_the_transport_as_it_went_in(status: int) -> None:
    body = problem_json(status, ProblemType.NO_ROUND, "A title", "a sentence")
    answering = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    line = Transport("http://market.test", transport=answering, sleep=lambda _: None)
    with line, pytest.raises(MarketError, match="a sentence") as raised:
        line.ask(Health, "GET", "/healthz")
    assert type(raised.value) is ERRORS.get(status, MarketError)
    assert raised.value.type is ProblemType.NO_ROUND


def test_a_word_that_a_newer_market_made_up_is_read_as_another_problem() -> None:
    body = json.dumps({"type": "moon-is-full", "detail": "wait"})
    answering = httpx.MockTransport(lambda _: httpx.Response(404, text=body))
    with Transport("http://market.test", transport=answering) as line, pytest.raises(NotFoundError) as raised:
        line.ask(Health, "GET", "/healthz")
    assert (raised.value.type, str(raised.value)) == (ProblemType.OTHER, "wait")


def test_what_is_no_code_is_refused_before_it_is_sent() -> None:
    def unasked(_request: httpx.Request) -> httpx.Response:
        raise AssertionError("nothing is sent")

    line = Transport("http://market.test", transport=httpx.MockTransport(unasked))
    with line, pytest.raises(MarketError, match="not a one-time code"):
        line.redeem("hello")


@pytest.mark.parametrize("kind", [MarketError, *ERRORS.values()])
def test_an_error_goes_from_one_process_to_another_whole(kind: type[MarketError]) -> None:
    """A player of a simulation raises it, and whoever started the player is to hear it."""
    found = pickle.loads(pickle.dumps(kind(ProblemType.NO_BID, "you have no bid")))
    assert (type(found), found.type, str(found)) == (kind, ProblemType.NO_BID, "you have no bid")
