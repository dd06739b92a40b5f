"""What became of the money is looked at again by both devices: paid, taken back, given again or never there."""

from __future__ import annotations

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
from pdqs.owner.visit import Visit

from .hostile.edits import on, put
from .hostile.lies import earlier
from .hostile.lies_between_rounds import mirrored
from .hostile.market import BID, OTHER_ROUND, ROUND, Edit, Json, Lie, Script, hostile

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

    def edit(self, script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        for each in self.edits:
            status, body = each(script, told, status, body)
        return status, body


def reported(script: Script) -> bool:
    return script.report is not None


def looks(*numbers: int) -> Callable[[Script], bool]:
    return lambda script: script.statements_told in numbers


UNLISTED = on("GET notices", put(items=[]), when=reported)
UNPAID = on("GET statement", put(items=[]))
CANCELLED = on("GET notice", put(state="cancelled"), when=reported)
LISTED_CANCELLED = on("GET notices", lambda n: n["items"][0].update(state="cancelled"), when=reported)
STILL_REPORTING = on("GET notice", put(state="reporting"), when=reported)
ANOTHER = on("GET notice", put(round_id=OTHER_ROUND), when=reported)
VANISHED = r"signed for your report, promised 0\.\d+ and no longer tells of the round"
TAKEN = r"(0\.\d+) was paid for your report, and \1 of it was taken back since \(the market calls it %s\)\. .* receipt"

CASES = {
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
    "off its list and unpaid": Case(edits=(UNLISTED, UNPAID), expected=(({ROUND: VANISHED}, SIGNED),) * 2, money=()),
    "off its list and paid": Case(edits=(UNLISTED,), expected=(({}, SIGNED),), money=()),
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
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        visit.send(visit.draw(visit.review(ROUND), "coffee", agreed=("new fact",)))
        for fields in case.later:
            ledger.note(**{"market": market, **fields})
        for _ in case.expected:
            sentences = visit.look_over(client.notices())
            found = [re.fullmatch(r"(?:Round (\w+): )?(.*\.)", each) for each in sentences]
            stored = visit.stored(ROUND)
            told.append([[[each[1] or "", each[2]] for each in found if each], stored.facts if stored else ""])
    entries = ledger.account().entries
    ledger.close()
    money = [{k: v for k, v in e.items() if k != "market"} for e in entries if e["kind"] in ("paid", "taken-back")]
    return {"told": told, "money": money}


def hold(name: str, found: dict[str, Any]) -> None:
    case = CASES[name]
    for (sentences, facts), (expected, said) in zip(found["told"], case.expected, strict=True):
        assert facts == said
        assert [about for about, _ in sentences] == list(expected)
        for about, sentence in sentences:
            assert re.search(expected[about], sentence), sentence
    assert tuple(entry["kind"] for entry in found["money"]) == case.money


@pytest.fixture(scope="module")
def address() -> Any:
    with hostile({name: Lie(goal="nothing", edit=case.edit) for name, case in CASES.items()}) as found:
        yield found


def in_javascript(address: str, names: list[str], run: str, modules: Path = BROWSER) -> dict[str, Any]:
    cases = [
        {
            "address": f"{address}/{name.replace(' ', '%20')}/{run}",
            "round": ROUND,
            "bid": BID,
            "later": CASES[name].later,
            "looks": len(CASES[name].expected),
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
    for ours, theirs in zip(python["money"], browsers[name]["money"], strict=True):
        assert json.loads(ours["statement"]) == json.loads(theirs["statement"])
        assert {**ours, "statement": ""} == {**theirs, "statement": ""}


def test_the_lines_that_were_seen_are_kept_as_evidence(browsers: dict[str, Any]) -> None:
    paid, gone, *_ = browsers["taken back and given again"]["money"]
    then, now = json.loads(paid["statement"]), json.loads(gone["statement"])
    assert [line["kind"] for line in then] == ["settlement"]
    assert [line["kind"] for line in now] == ["settlement", "reversal"]
    assert (gone["paid_micros"], gone["taken_back_micros"]) == (0, paid["paid_micros"])


def test_a_browser_that_does_not_look_again_is_seen(address: str, tmp_path: Path) -> None:
    name = "taken back and given again"
    careless = mutant(
        tmp_path, "settling.mjs", "throw fault;\n  }\n  if (made.taken_back_micros", "}\n  if (made.taken_back_micros"
    )
    with pytest.raises(AssertionError):
        hold(name, in_javascript(address, [name], "careless", careless)[name])
