"""An answer of many small parts is refused before it is read: read, it would fill the device a hundred times over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from pdqs.owner.client import OwnerClient
from pdqs.protocol.bounds import OWNERS, Bounds, marks_in
from pdqs.protocol.device_messages import MOST_TERMS, MyRound
from pdqs.protocol.problems import MarketError

from .node import BROWSER, mutant, twin
from .rounds import ROUND, notice, offer

CROWDED = b'{"x":[' + b",".join([b"[]"] * 500_000) + b"]}"
TOO_MANY = "he market's answer has too many parts to be one"
READ = "the market's RoundNotice is not one"
UNSHAPED = "What the market sent is not a notice as one is written."


def said_to_python(content: bytes, status: int = 200) -> str:
    answering = httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    with OwnerClient("http://market.test", transport=answering) as market, pytest.raises(MarketError) as told:
        market.notice(ROUND)
    return str(told.value)


def said_to_a_browser(text: str, modules: Path = BROWSER) -> str:
    return str(twin(modules, script="crowded_twin.mjs", answers=[["notice", text]])["said"][0])


@pytest.mark.parametrize("status", [200, 409])
def test_an_answer_of_many_parts_is_refused_before_it_is_read(status: int) -> None:
    assert TOO_MANY in said_to_python(CROWDED, status)


def test_the_browsers_device_refuses_it_too() -> None:
    assert TOO_MANY in said_to_a_browser(CROWDED.decode())


def test_a_device_that_does_not_count_them_reads_them_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Bounds, "are_passed_by", lambda *_: False)
    assert said_to_python(CROWDED[: len(CROWDED) // 100] + b"[]]}").startswith(READ)
    careless = mutant(tmp_path, "visit.mjs", "marksIn(text) > MOST_MARKS", "marksIn(text) < 0")
    assert said_to_a_browser(CROWDED.decode(), careless) == UNSHAPED


def longest() -> dict[str, Any]:
    """Her round with the longest terms that there are, of quotes: twice as long as a text within a text."""
    labels = [f"{place:05d}" + '"' * 34 for place in range(10_000)]
    domain = {"kind": "categories", "labels": labels, "start": 0.0, "step": 1.0, "size": len(labels)}
    plain = notice()
    hers = MyRound(owner_id="u_" + "0" * 24, reports_made=0, notice=plain, offer=offer(plain, bid_micros=0))
    found = hers.model_dump()
    for part in ("notice", "offer"):
        found[part]["question"]["domain"] = domain
    terms = json.dumps({"labels": labels}, separators=(",", ":"))
    found["notice"]["terms"] = terms + '"' * (MOST_TERMS - len(terms))
    return found


def test_the_longest_answer_that_an_honest_market_gives_is_taken() -> None:
    text = json.dumps(longest(), ensure_ascii=False)
    assert 3_000_000 < len(text.encode()) < OWNERS.size
    assert 20_000 < marks_in(text.encode()) < (OWNERS.marks or 0) / 2
    answering = httpx.MockTransport(lambda _: httpx.Response(200, text=text))
    with OwnerClient("http://market.test", transport=answering) as market:
        assert len(market.mine(ROUND).notice.terms) == MOST_TERMS
    answers = [[part, json.dumps(longest()[part])] for part in ("notice", "offer")]
    assert twin(script="crowded_twin.mjs", answers=answers)["said"] == [None, None]


def test_both_count_the_same_marks() -> None:
    texts = ["", "[]", '{"a":[1,2]}', '"a,[{"', r'"a\",[",[', r'"\\",', '"a,[', '["é,",{}]', "[[[,,,{{{"]
    assert twin(script="crowded_twin.mjs", marks=texts)["marks"] == [marks_in(text.encode()) for text in texts]


def test_what_has_no_shape_is_not_read_once_more_by_the_browsers_device(tmp_path: Path) -> None:
    """How its numbers are written is asked of what else is a message."""
    counting = mutant(tmp_path, "json.mjs", "JSON.parse(json); //", "globalThis.reads += 1; JSON.parse(json); //")
    answers = [["notice", '{"x": []}'], ["notice", json.dumps(notice().model_dump())]]
    told = twin(counting, script="crowded_twin.mjs", answers=answers)
    assert (told["said"], told["reads"]) == ([UNSHAPED, None], [0, 1])
