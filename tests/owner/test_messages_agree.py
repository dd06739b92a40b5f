"""Both devices take the same answers of a market and refuse the same: every field said in some forty other ways."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from owner.hostile.market import BID, OTHER_ROUND, ROUND, Script
from owner.node import BROWSER, mutant, twin
from pdqs.owner.client import OwnerClient
from pdqs.protocol.problems import MarketError

Ask = Callable[[OwnerClient], object]
ASKED: dict[str, Ask] = {
    "notice": lambda client: client.notice(ROUND),
    "offer": lambda client: client.offer(ROUND),
    "BidReceipt": lambda client: client.bid_if_any(ROUND),
    "ReportReceipt": lambda client: client.report_if_any(ROUND),
    "Withdrawal": lambda client: client.withdraw_bid(ROUND, 0),
}
LEFT_OUT = object()
VALUES: tuple[Any, ...] = (
    LEFT_OUT, None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 2**31, 2**32, 2**32 - 1, 2**53, 2**53 + 1, 10**9, 10**9 + 1,
    10**15, 10**15 + 1, 10**14 + 1, 1e300, 5e-324, 20, 20.0000001, 10_000, 9999, 8, 9, 40, "", "a", "0" * 64, "A" * 64,
    "0" * 63, "0" * 128, [], {}, ["a"], ["0" * 64] * 41, "x" * 400, "x" * 401, "\u202e", "\u2028", "\x00", "\n",
    "0" * 64 + "\n", "\U0001f600" * 400, "\U0001f600" * 401,
)  # fmt: skip


def honest() -> dict[str, Any]:
    script = Script()
    script.take_bid({"terms_hash": script.hash, "bid_micros": BID})
    told = {"notice": script.notice(), "offer": script.offer(), "BidReceipt": script.bid}
    report = script.take_report({"terms_hash": script.hash, "code": 1})
    return {**told, "ReportReceipt": report, "Withdrawal": {"round_id": ROUND, "withdrawn_at_ms": 5}}


def paths(held: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [here, *(path for name, part in parts for path in paths(part, (*here, name)))]


def said_otherwise(message: Any, path: tuple[Any, ...], value: Any) -> str:
    found = copy.deepcopy(message)
    place = found
    for name in path[:-1]:
        place = place[name]
    if value is LEFT_OUT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(found)


@cache
def answers() -> list[tuple[str, str]]:
    found = []
    for kind, message in honest().items():
        text = json.dumps(message)
        found += [
            (kind, text),
            (kind, text[:-1] + f', "round_id": "{OTHER_ROUND}"}}'),
            (kind, '{"round_id": 7, ' + text[1:]),
        ]
        found += [(kind, said_otherwise(message, path, value)) for path in paths(message)[1:] for value in VALUES]
        found += [(kind, json.dumps({**message, extra: 1})) for extra in ("zzz", "__proto__", "constructor")]
        found += [(kind, odd) for odd in ("", "7", "null", "[]", "{}", text + "}", text.replace(ROUND, "\\ud800"))]
    return found


def taken(kind: str, text: str) -> bool:
    line = httpx.MockTransport(lambda _request: httpx.Response(200, text=text))
    with OwnerClient("http://market.example", transport=line) as client:
        try:
            ASKED[kind](client)
        except MarketError:
            return False
        return True


def in_the_browser(modules: Path = BROWSER) -> list[bool]:
    return list(twin(modules, script="messages_twin.mjs", answers=answers())["taken"])


def test_both_take_the_same_answers_and_refuse_the_same(tmp_path: Path) -> None:
    here, there = [taken(kind, text) for kind, text in answers()], in_the_browser()
    differ = [(*answer, one) for answer, one, other in zip(answers(), here, there, strict=True) if one != other]
    assert differ == []
    assert len(here) > 3000
    assert 200 < sum(here) < len(here) / 2
    weak = mutant(tmp_path, "messages.mjs", 'asWritten === undefined || typeof asWritten === "bigint"', "true")
    assert in_the_browser(weak) != here
