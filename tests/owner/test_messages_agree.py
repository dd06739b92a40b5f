"""Both devices take the same answers of a market and refuse the same: every field said in some forty other ways."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import httpx

from owner.hostile.market import BID, OTHER_ROUND, ROUND, Script
from owner.node import BROWSER, mutant, twin
from pdqs.owner.client import OwnerClient
from pdqs.protocol.market_messages import EntryKind
from pdqs.protocol.problems import MarketError
from pdqs.verifying.signatures import SINCE

Ask = Callable[[OwnerClient], object]
ASKED: dict[str, Ask] = {
    "notice": lambda client: client.notice(ROUND),
    "offer": lambda client: client.offer(ROUND),
    "BidReceipt": lambda client: client.bid_if_any(ROUND),
    "ReportReceipt": lambda client: client.report_if_any(ROUND),
    "Withdrawal": lambda client: client.withdraw_bid(ROUND, 0),
    "me": lambda client: client.account(),
    "token": lambda client: client.redeem("c" * 24),
    "statement": lambda client: client.money(),
    "notices": lambda client: client.notices(),
}
LAST_PAGE = {"statement": '{"balance_micros":0,"items":[],"next":null}', "notices": '{"items":[],"next":null}'}
KINDS = get_args(EntryKind)
LEFT_OUT = object()
VALUES: tuple[Any, ...] = (
    LEFT_OUT, None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 2**31, 2**32, 2**32 - 1, 2**53, 2**53 + 1, 10**9, 10**9 + 1,
    10**15, 10**15 + 1, 10**14 + 1, 1e300, 5e-324, 20, 20.0000001, 10_000, 9999, 8, 9, 40, "", "a", "0" * 64, "A" * 64,
    "0" * 63, "0" * 128, [], {}, ["a"], ["0" * 64] * 41, "x" * 400, "x" * 401, "\u202e", "\u2028", "\x00", "\n",
    "0" * 64 + "\n", "\U0001f600" * 400, "\U0001f600" * 401,
)  # fmt: skip
WORDS: dict[tuple[Any, ...], tuple[str, ...]] = {
    ("items", 0, "kind"): (*KINDS, "fee", "given_up", "Payout", "payout "),
    ("next",): ("1_rnd.a:b-c", "x" * 120, "x" * 121, "a b", "\u00e9"),
    ("user", "role"): ("consumer ", "owners"),
}


def honest() -> list[tuple[str, Any]]:
    """Each kind of answer, and receipts of the form from before they said whose they are and what was asked."""
    script = Script()
    script.take_bid({"terms_hash": script.hash, "bid_micros": BID})
    told = {"notice": script.notice(), "offer": script.offer(), "BidReceipt": script.bid}
    unnamed = {name: value for name, value in (script.bid or {}).items() if name != "pseudonym"}
    told["Withdrawal"] = {"round_id": ROUND, "withdrawn_at_ms": 5}
    report = script.take_report({"terms_hash": script.hash, "code": 1})
    less = {name: value for name, value in report.items() if name not in SINCE}
    more: dict[str, Any] = {kind: script.answer("GET", kind, {})[1] for kind in ("me", "statement", "notices")}
    more["token"] = {"token": "t" * 24, "user": more["me"]["user"]}
    first = more["statement"]["items"][0]
    given = {**first, "kind": "given-up", "amount_micros": -5, "round_id": None}
    more["statement"].update(balance_micros=first["amount_micros"] - 5, items=[given, first])
    told.update(more)
    return [*told.items(), ("BidReceipt", unnamed), ("ReportReceipt", report), ("ReportReceipt", less)]


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
    for kind, message in honest():
        text = json.dumps(message)
        found += [
            (kind, text),
            (kind, text[:-1] + f', "round_id": "{OTHER_ROUND}"}}'),
            (kind, '{"round_id": 7, ' + text[1:]),
        ]
        found += [(kind, said_otherwise(message, path, value)) for path in paths(message)[1:] for value in VALUES]
        found += [(kind, json.dumps({**message, extra: 1})) for extra in ("zzz", "__proto__", "constructor")]
        found += [
            (kind, said_otherwise(message, path, word)) for path in paths(message) for word in WORDS.get(path, ())
        ]
        found += [(kind, odd) for odd in ("", "7", "null", "[]", "{}", text + "}", text.replace(ROUND, "\\ud800"))]
    return found


def taken(kind: str, text: str) -> bool:
    pages = iter([text])
    line = httpx.MockTransport(lambda _request: httpx.Response(200, text=next(pages, LAST_PAGE.get(kind, text))))
    with OwnerClient("http://market.example", transport=line) as client:
        try:
            ASKED[kind](client)
        except MarketError:
            return False
        return True


@cache
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


def test_both_know_every_kind_of_line_and_take_what_an_honest_market_says() -> None:
    """The kinds are named in two places, the protocol and the browser's twin of it."""
    taken_there = dict(zip(answers(), in_the_browser(), strict=True))
    asked = [(kind, json.dumps(message)) for kind, message in honest()]
    statement = dict(honest())["statement"]
    asked += [("statement", said_otherwise(statement, ("items", 0, "kind"), kind)) for kind in KINDS]
    assert [answer for answer in asked if not taken_there[answer] or not taken(*answer)] == []
    strange = ("statement", said_otherwise(statement, ("items", 0, "kind"), "fee"))
    assert not taken_there[strange]
