"""What became of the money is looked at again by both devices: paid, taken back, given again or never there."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from owner.node import BROWSER, mutant, twin
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.statement import payout_in_words
from pdqs.owner.visit import Visit

from .hostile.edits import instead, on, put
from .hostile.lies import earlier, says_less
from .hostile.lies_between_rounds import mirrored
from .hostile.market import BID, CLOSES, OTHER_ROUND, ROUND, Edit, Json, Lie, Script, hostile

PAID, SIGNED = "drawn, sent, accepted, paid", "drawn, sent, accepted"
GONE = f"{PAID}, taken back"
HONEST: Edit = Lie(goal="nothing").edit


@dataclass(frozen=True, kw_only=True)
class Case:
    """A market, how often it is looked at, and at each look: what must be told of which round, and her facts."""

    edits: tuple[Edit, ...] = ()
    later: tuple[Json, ...] = ()
    expected: tuple[tuple[dict[str, str], str], ...]
    money: tuple[str, ...]
    payouts: tuple[str, ...] = ()
    """What she is asked about at the end, newest first."""
    now_ms: int = 7
    """By the device's own clock."""
    prepare: Callable[[Script], None] = lambda _script: None

    def edit(self, script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        for each in self.edits:
            status, body = each(script, told, status, body)
        return status, body


def reported(script: Script) -> bool:
    return script.report is not None


def looks(*numbers: int) -> Callable[[Script], bool]:
    return lambda script: script.statements_told in numbers


UNLISTED = on("GET notices", put(items=[]), when=reported)
UNPAID = on("GET statement", lambda statement: statement["items"].clear())
CANCELLED = on("GET notice", put(state="cancelled"), when=reported)
LISTED_CANCELLED = on("GET notices", lambda n: n["items"][0].update(state="cancelled"), when=reported)
LISTED_REPORTING = on("GET notices", lambda n: n["items"][0].update(state="reporting"), when=reported)
STILL_REPORTING = on("GET notice", put(state="reporting"), when=reported)
ANOTHER = on("GET notice", put(round_id=OTHER_ROUND), when=reported)
VANISHED = r"signed for your report, promised 0\.\d+ and no longer tells of the round"
TAKEN = r"(0\.\d+) was paid for your report, and \1 of it was taken back since \(the market calls it %s\)\. .* receipt"

OVER_MS = CLOSES + 86_400_000 + 60_000
"""Once bids are closed, the nonce is waited for and reports are taken."""
OVERDUE = (
    r"signed for your report, promised 0\.\d+ and has still not settled the round, which by its terms was over on"
    r" 16 Jan 2027 \(by this device it is 17 Jan 2027\)\.$"
)

DAY = 1_794_786_536_585


def with_lines(*lines: tuple[str, int, str | None], when: Callable[[Script], bool] = lambda _: True) -> Edit:
    """Further lines of the statement, each a kind, an amount and a round."""

    def add(statement: Json) -> None:
        for kind, amount, about in lines:
            line = {
                "transaction_id": f"t{len(statement['items'])}",
                "kind": kind,
                "account": "o",
                "amount_micros": amount,
            }
            statement["items"].append({**line, "at_ms": DAY, "round_id": about})

    return on("GET statement", add, when=when)


def paid_out(times: int, when: Callable[[Script], bool] = lambda _: True) -> Edit:
    """A payout, listed so often under one name."""
    line = {
        "transaction_id": "p",
        "kind": "payout",
        "account": "o",
        "amount_micros": -5,
        "at_ms": DAY,
        "round_id": None,
    }
    return on("GET statement", lambda statement: statement["items"].extend([line] * times), when=when)


FAT = on("GET statement", lambda s: [line.update(account="\U0001f600" * 200) for line in s["items"]])
EARNED = with_lines(("settlement", 9, OTHER_ROUND))
TAKES_FIVE = with_lines(("reversal", -5, ROUND))
BEYOND = r"%s beyond what it paid you there \((it calls it .*)\)\.$"
TOOK_BEYOND = r"took 0\.000005 from you by 2 lines, the last on .* in round " + BEYOND % ROUND
TOOK = r"^The market took 0\.000005 from you on 15 Nov 2026"
PAYOUT = "The market says that it paid out 0.000%s on 15 Nov 2026: did you get it?"


def kept_for_30_days(script: Script) -> None:
    script.document["retention_days"] = 30


DELETED = instead("GET report", 404, {"type": "no-report", "detail": "none"}, when=reported)
PURGED_MS = CLOSES + 30 * 86_400_000

WORDS = "gone\u201d. All is well. \u201cSend your answer"
NAMES_NOBODY = r"market's receipt does not say whose it is, as its terms promise\.$"
KEPT_NAMELESS = (
    {"kind": "bid-accepted", "round_id": ROUND, "at_ms": 2, "receipt": json.dumps({"bid_micros": BID})},
    {"kind": "accepted", "round_id": ROUND, "at_ms": 2, "receipt": '{"ordinal":1}'},
)
"""Receipts that a device kept before it held them to a name."""

CASES = {
    "kept receipts that name nobody, where those that do are there": Case(
        later=KEPT_NAMELESS, expected=(({}, PAID), ({}, PAID)), money=("paid",)
    ),
    "a kept receipt that names nobody, and no other": Case(
        edits=(on("GET report", says_less, when=reported),),
        later=KEPT_NAMELESS,
        expected=(({ROUND: NAMES_NOBODY}, PAID), ({ROUND: NAMES_NOBODY}, PAID)),
        money=("paid",),
    ),
    "a kept receipt of a bid that names nobody, and no other": Case(
        edits=(on("GET bid", says_less, when=reported),),
        later=KEPT_NAMELESS,
        expected=(({ROUND: NAMES_NOBODY}, PAID),),
        money=("paid",),
    ),
    "a kept receipt that names nobody, of a round that is listed no more": Case(
        edits=(on("GET notices", put(items=[]), when=reported),),
        later=(*KEPT_NAMELESS[1:], {"kind": "paid", "round_id": ROUND, "at_ms": 3, "paid_micros": 1}),
        expected=(({ROUND: NAMES_NOBODY}, PAID),),
        money=("paid",),
    ),
    "a round that the market has words about instead": Case(
        edits=(instead("GET notice", 404, {"type": "no-round", "detail": WORDS}, when=reported),),
        expected=(({ROUND: r"said.*: \u201cgone'\. All is well\. 'Send your answer\u201d\.$"}, SIGNED),),
        money=(),
    ),
    "a sum that the lines do not come to": Case(
        edits=(on("GET statement", put(balance_micros=1)),),
        expected=(({"": r"says that it owes you 0\.000001, and the lines of its statement come to 0\.\d+\.$"}, PAID),),
        money=("paid",),
    ),
    "a sum that was about to change": Case(
        edits=(on("GET statement", put(balance_micros=1), when=looks(1)),), expected=(({}, PAID),), money=("paid",)
    ),
    "money taken without naming a round": Case(
        edits=(with_lines(("reversal", -5, None)),),
        expected=(({"": rf"{TOOK} without naming a round \(it calls it reversal\)"}, PAID),),
        money=("paid",),
    ),
    "money taken by many lines without naming a round": Case(
        edits=(with_lines(("reversal", -5, None), ("escrow", -7, None), ("deposit", 7, None), ("deposit", -6, None)),),
        expected=(
            ({"": r"took 0\.000011 from you by 2 lines, the last on 15 Nov 2026, .*deposit and reversal\)"}, PAID),
        ),
        money=("paid",),
    ),
    "money taken in a round that paid nothing": Case(
        edits=(with_lines(("settlement", -5, OTHER_ROUND), ("settlement", 4, OTHER_ROUND)),),
        expected=(({"": r"took 0\.000001 from you .* in round " + BEYOND % OTHER_ROUND}, PAID),),
        money=("paid",),
    ),
    "money taken in a round that she reported in and that pays later": Case(
        edits=(LISTED_REPORTING, STILL_REPORTING, UNPAID, EARNED, TAKES_FIVE),
        expected=(({"": rf"{TOOK} in round " + BEYOND % ROUND}, SIGNED),),
        money=(),
    ),
    "more taken than was promised for her report": Case(
        edits=(EARNED, on("GET statement", mirrored("escrow")), TAKES_FIVE),
        expected=(({ROUND: r"promised and nothing was paid\.$", "": TOOK_BEYOND}, SIGNED),),
        money=(),
    ),
    "more taken than was paid for her report": Case(
        edits=(
            EARNED,
            on("GET statement", mirrored("reversal"), when=looks(2)),
            with_lines(("reversal", -5, ROUND), when=looks(2)),
        ),
        expected=(({}, PAID), ({ROUND: TAKEN % "reversal", "": TOOK_BEYOND}, GONE)),
        money=("paid", "taken-back"),
    ),
    "a payment that is listed three times": Case(
        edits=(paid_out(3),),
        expected=(
            ({"": r"^The market lists the same payment more than once: 2 lines of its statement .*payout\)"}, PAID),
        ),
        money=("paid",),
        payouts=(PAYOUT % "005",) * 3,
    ),
    "a payment that is listed twice": Case(
        edits=(paid_out(2),),
        expected=(
            ({"": r"^The market lists the same payment more than once: a line of its statement .*payout\)"}, PAID),
        ),
        money=("paid",),
    ),
    "a payment that was about to be listed once": Case(
        edits=(paid_out(2, looks(1)),), expected=(({}, PAID),), money=("paid",)
    ),
    "an entry and its undoing, and a round of another device": Case(
        edits=(
            with_lines(("reversal", -5, None), ("deposit", 5, None), ("payout", -3, None), ("reversal", 3, None)),
            with_lines(("settlement", 9, OTHER_ROUND), ("reversal", -8, OTHER_ROUND)),
        ),
        expected=(({}, PAID),),
        money=("paid",),
    ),
    "payouts": Case(
        edits=(with_lines(*(("payout", -amount, None) for amount in (50, 40, 30, 20, 10)), ("reversal", 40, None)),),
        expected=(({}, PAID),),
        money=("paid",),
        payouts=(PAYOUT % "05", PAYOUT % "03", PAYOUT % "02", PAYOUT % "01"),
    ),
    "honest": Case(expected=(({}, PAID),) * 3, money=("paid",)),
    "taken back and given again": Case(
        edits=(on("GET statement", mirrored("reversal"), when=looks(2, 3, 5)),),
        expected=(
            ({}, PAID),
            ({ROUND: TAKEN % "reversal"}, GONE),
            ({ROUND: TAKEN % "reversal"}, GONE),
            ({}, PAID),
            ({ROUND: TAKEN % "reversal"}, GONE),
        ),
        money=("paid", "taken-back", "paid", "taken-back"),
    ),
    "taken back and given again without an end": Case(
        edits=(FAT, on("GET statement", mirrored("reversal"), when=lambda s: s.statements_told % 2 == 0)),
        expected=(({}, PAID), ({ROUND: TAKEN % "reversal"}, GONE)) * 6
        + (({}, GONE), ({ROUND: TAKEN % "reversal"}, GONE)) * 4,
        money=("paid", "taken-back") * 6,
    ),
    "half of it, then all of it": Case(
        edits=(
            on("GET statement", mirrored("settlement", 2), when=looks(2)),
            on("GET statement", put(items=[]), when=looks(3)),
        ),
        expected=(
            ({}, PAID),
            ({ROUND: r"was taken back since \(the market calls it settlement\)"}, GONE),
            ({ROUND: r"was taken back since \(the line is gone from the market's statement\)"}, GONE),
        ),
        money=("paid", "taken-back", "taken-back"),
    ),
    "taken back in a round that it lists no more": Case(
        edits=(
            on("GET notices", put(items=[]), when=lambda s: s.statements_told > 0),
            on("GET statement", put(items=[]), when=looks(2, 3)),
        ),
        expected=(({}, PAID), ({ROUND: "the line is gone"}, GONE), ({ROUND: "the line is gone"}, GONE)),
        money=("paid", "taken-back"),
    ),
    "reporting for ever": Case(
        edits=(LISTED_REPORTING, STILL_REPORTING, UNPAID),
        expected=(({ROUND: OVERDUE}, SIGNED),) * 2,
        money=(),
        now_ms=OVER_MS + 86_400_001,
    ),
    "open for ever": Case(
        edits=(on("GET notices", lambda n: n["items"][0].update(state="open")), UNPAID),
        expected=(({ROUND: OVERDUE}, SIGNED),),
        money=(),
        now_ms=OVER_MS + 86_400_001,
    ),
    "reporting for no longer than its terms may take, and a day": Case(
        edits=(LISTED_REPORTING, STILL_REPORTING, UNPAID),
        expected=(({}, SIGNED),),
        money=(),
        now_ms=OVER_MS + 86_400_000,
    ),
    "called reporting and paid": Case(
        edits=(LISTED_REPORTING, STILL_REPORTING), expected=(({}, SIGNED),), money=(), now_ms=OVER_MS + 10**12
    ),
    "off its list and unpaid": Case(edits=(UNLISTED, UNPAID), expected=(({ROUND: VANISHED}, SIGNED),) * 2, money=()),
    "off its list and paid": Case(edits=(UNLISTED,), expected=(({}, PAID),) * 2, money=("paid",)),
    "deleted as its terms say, and paid": Case(
        edits=(DELETED,), prepare=kept_for_30_days, expected=(({}, PAID),) * 2, money=("paid",), now_ms=PURGED_MS
    ),
    "deleted as its terms say, and not paid": Case(
        edits=(DELETED, UNPAID),
        prepare=kept_for_30_days,
        expected=(({ROUND: r"promised and nothing was paid\.$"}, SIGNED),),
        money=(),
        now_ms=PURGED_MS,
    ),
    "deleted before its terms say": Case(
        edits=(DELETED,),
        prepare=kept_for_30_days,
        expected=(({ROUND: r"signed for your report and now has none\.$"}, SIGNED),),
        money=(),
        now_ms=PURGED_MS - 1,
    ),
    "called cancelled": Case(
        edits=(LISTED_CANCELLED, CANCELLED, UNPAID),
        expected=(({ROUND: r"promised and nothing was paid \((it|the market) calls the round cancelled\)"}, SIGNED),)
        * 2,
        money=(),
    ),
    "listed as cancelled": Case(
        edits=(LISTED_CANCELLED, STILL_REPORTING, UNPAID),
        expected=(({ROUND: "and lists the round as cancelled"}, SIGNED),),
        money=(),
    ),
    "a fault in one round hides no other's": Case(
        edits=(ANOTHER,),
        later=earlier("drink", "Do you like wine?"),
        expected=(({ROUND: "answered about another round", OTHER_ROUND: VANISHED}, SIGNED),),
        money=(),
    ),
    "a statement that is none": Case(
        edits=(on("GET statement", put(items=[{"kind": 5}])),),
        expected=(({"": "What the market says of your money cannot be read"}, SIGNED),),
        money=(),
    ),
}


def looked(address: str, name: str, tmp_path: Path) -> dict[str, Any]:
    """The Python device: it reports, and then looks over what became of it, again and again."""
    case, market = CASES[name], f"{address}/{name}/python"
    ledger = Ledger(tmp_path / "device.sqlite")
    told = []
    with OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: case.now_ms)
        visit.bid(ROUND, BID)
        visit.send(visit.draw(visit.review(ROUND), "coffee", agreed=("new fact",)))
        for fields in case.later:
            ledger.note(**{"market": market, **fields})
        for _ in case.expected:
            sentences = visit.look_over(client.notices()).faults
            found = [re.fullmatch(r"(?:Round (\w+): )?(.*\.)", each) for each in sentences]
            stored = visit.stored(ROUND)
            told.append([[[each[1] or "", each[2]] for each in found if each], stored.facts if stored else ""])
        payouts = visit.look_over(client.notices()).payouts if case.payouts else []
        asked = [payout_in_words(each) for each in payouts]
        for each in payouts[:-1]:
            visit.got(each)
        left = [payout_in_words(each) for each in visit.payouts()] if payouts else []
    entries = ledger.account().entries
    ledger.close()
    money = [{k: v for k, v in e.items() if k != "market"} for e in entries if e["kind"] in ("paid", "taken-back")]
    return {"told": told, "money": money, "payouts": [asked, left]}


def hold(name: str, found: dict[str, Any]) -> None:
    case = CASES[name]
    for (sentences, facts), (expected, said) in zip(found["told"], case.expected, strict=True):
        assert facts == said
        assert [about for about, _ in sentences] == list(expected)
        for about, sentence in sentences:
            assert re.search(expected[about], sentence), sentence
    assert tuple(entry["kind"] for entry in found["money"]) == case.money
    assert found["payouts"] == [list(case.payouts), list(case.payouts[-1:])]  # she got all but the last of them


@pytest.fixture(scope="module")
def address() -> Any:
    lies = {name: Lie(goal="nothing", edit=case.edit, prepare=case.prepare) for name, case in CASES.items()}
    with hostile(lies) as found:
        yield found


def in_javascript(address: str, names: list[str], run: str, modules: Path = BROWSER) -> dict[str, Any]:
    cases = [
        {
            "address": f"{address}/{name.replace(' ', '%20')}/{run}",
            "round": ROUND,
            "bid": BID,
            "later": CASES[name].later,
            "looks": len(CASES[name].expected),
            "asksOfPayouts": bool(CASES[name].payouts),
            "now": CASES[name].now_ms,
        }
        for name in names
    ]
    return dict(zip(names, twin(modules, script="settling_twin.mjs", cases=cases)["found"], strict=True))


@pytest.fixture(scope="module")
def browsers(address: str) -> dict[str, Any]:
    return in_javascript(address, list(CASES), "browser")


@pytest.mark.parametrize("name", CASES)
def test_what_became_of_the_money_is_told_and_kept_by_both(
    name: str, address: str, browsers: dict[str, Any], tmp_path: Path
) -> None:
    python = looked(address, name, tmp_path)
    hold(name, python)
    hold(name, browsers[name])
    assert python["money"] == browsers[name]["money"]


def test_the_lines_that_were_seen_are_kept_as_evidence(browsers: dict[str, Any]) -> None:
    paid, gone, again, gone_again = browsers["taken back and given again"]["money"]
    then, now = json.loads(paid["statement"]), json.loads(gone["statement"])
    assert [line["kind"] for line in then] == ["settlement"]
    assert [line["kind"] for line in now] == ["settlement", "reversal"]
    assert (gone["paid_micros"], gone["taken_back_micros"]) == (0, paid["paid_micros"])
    hashes = [hashlib.sha256(entry["statement"].encode()).hexdigest() for entry in (paid, gone)]
    assert [entry["statement_hash"] for entry in (again, gone_again)] == hashes, "what was kept once is named"
    assert "statement" not in again | gone_again


def test_an_account_does_not_grow_with_every_look_at_a_market_that_takes_and_gives(browsers: dict[str, Any]) -> None:
    kept = browsers["taken back and given again without an end"]["money"]
    fat, lean = (sum(len(json.dumps(entry)) for entry in part) for part in (kept[:2], kept[2:]))
    assert lean < 10 * 400 < fat


MIRRORED = "if (more) left.set(name, more - 1);\n    return !more;"


@pytest.mark.parametrize(
    ("name", "module", "was", "becomes"),
    [
        ("a sum that the lines do not come to", "statement.mjs", "balance === total", "true"),
        ("a sum that was about to change", "settling.mjs", "await visit.money() : first", "first : first"),
        ("money taken without naming a round", "statement.mjs", "bare = unnamed(rounds.get(null) ?? [])", "bare = []"),
        (
            "money taken in a round that paid nothing",
            "statement.mjs",
            "rounds.get(round)) < 0)",
            "rounds.get(round)) < -9)",
        ),
        ("an entry and its undoing, and a round of another device", "statement.mjs", MIRRORED, "return true;"),
        ("payouts", "statement.mjs", "received.map(asEntered)", "[]"),
        ("reporting for ever", "settling.mjs", "!isOverdue(bid.terms, now)", "true"),
        (
            "called reporting and paid",
            "settling.mjs",
            ">= made.payment_micros || !isO",
            "> made.payment_micros || !isO",
        ),
        ("a payment that is listed twice", "statement.mjs", "known.has(name) ||", "false &&"),
        ("a payment that was about to be listed once", "settling.mjs", "await visit.money() : first", "first : first"),
    ],
)
def test_a_browser_that_adds_nothing_up_is_seen(
    name: str, module: str, was: str, becomes: str, address: str, tmp_path: Path
) -> None:
    careless = mutant(tmp_path, module, was, becomes)
    with pytest.raises(AssertionError):
        hold(name, in_javascript(address, [name], "careless", careless)[name])


def test_a_browser_that_does_not_look_again_is_seen(address: str, tmp_path: Path) -> None:
    name = "taken back and given again"
    careless = mutant(
        tmp_path, "settling.mjs", "throw fault;\n  }\n  if (made.taken_back_micros", "}\n  if (made.taken_back_micros"
    )
    with pytest.raises(AssertionError):
        hold(name, in_javascript(address, [name], "careless", careless)[name])
