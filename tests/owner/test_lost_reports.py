"""A report of which no receipt came: both devices ask for it, and say while it may be sent again that none arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.problems import MarketError
from pdqs.rounds.commitments import commitment_to

from .hostile.edits import both, instead, on, put, signed
from .hostile.lies_about_questions import asking
from .hostile.market import BID, OTHER_KEY, REPORTS_CLOSE, ROUND, Edit, Json, Lie, Script, hostile
from .node import twin


def as_told(_script: Script, _told: str, status: int, body: Any) -> tuple[int, Any]:
    return status, body


def never_arrives(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    if told == "PUT report":
        script.report = None
    return status, body


def reporting(then: Edit) -> Edit:
    """Reports are taken still; the answer to hers is lost, unless it is a refusal."""
    still = both(
        then,
        on("GET notice", put(state="reporting"), when=lambda script: script.bid is not None),
        on("GET notices", lambda told: told["items"][0].update(state="reporting")),
    )

    def edit(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
        found = still(script, told, status, body)
        return (502, {}) if told == "PUT report" and found[0] == 200 else found

    return edit


def looking(script: Script) -> bool:
    """Whether she looks over her rounds already."""
    return script.statements_told > 0


def in_stages(script: Script) -> None:
    """Four stages; by this seed hers is not the last of them."""
    asking()(script)
    script.seed = bytes([3] * 32)
    script.document["seed_hash"] = commitment_to("seed", script.seed)


def told_in_stages() -> Script:
    script = Script()
    in_stages(script)
    return script


STAGED = told_in_stages()
HER_TURN_CLOSES, LAST_TURN_CLOSES = STAGED.closes, REPORTS_CLOSE + 60_000 * (STAGED.stages - 1)
UNDATED: Json = {"kind": "question", "stage": STAGED.turn, "side": STAGED.side}
UNDATED_OFFER: Json = {
    "kind": "offer",
    "q_numerator": Script().q_numerator,
    "payment_micros": Script().payment,
    "stage": Script().turn,
}
"""Her question and her offer as they were kept when the end of her turn was not."""
NONE = "report was drawn here, and the market says that it has none: send it again while it takes reports"
CLOSED = {"type": "reports-closed", "title": "", "status": 409, "detail": "reports in this round are closed"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What became of her report, when she looks, and what she is told then."""

    edit: Edit = never_arrives
    prepare: Callable[[Script], None] = lambda _script: None
    before: tuple[Json, ...] = ()
    now_ms: int = 7
    fault: str = ""
    note: str = ""
    is_accepted: bool = False


CASES: dict[str, Case] = {
    "it never came": Case(note=NONE),
    "its receipt was lost": Case(edit=as_told, is_accepted=True),
    "another key signed": Case(edit=on("GET report", signed(OTHER_KEY)), fault="receipt is not signed by its key"),
    "it was refused": Case(edit=both(never_arrives, instead("PUT report", 409, CLOSED))),
    "it was refused and is there": Case(edit=instead("PUT report", 409, CLOSED), is_accepted=True),
    "reports are about to close": Case(now_ms=REPORTS_CLOSE - 1, note=NONE),
    "reports are closed": Case(now_ms=REPORTS_CLOSE),
    "reports are taken for longer": Case(
        edit=both(never_arrives, on("GET notice", put(reports_close_at_ms=REPORTS_CLOSE + 1), when=looking)),
        now_ms=REPORTS_CLOSE,
        note=NONE,
    ),
    "the end of reports is not known": Case(before=(UNDATED_OFFER,), now_ms=REPORTS_CLOSE, note=NONE),
    "her turn is about to close": Case(prepare=in_stages, now_ms=HER_TURN_CLOSES - 1, note=NONE),
    "her turn is over": Case(prepare=in_stages, now_ms=HER_TURN_CLOSES),
    "her turn is over and its receipt was lost": Case(
        edit=as_told, prepare=in_stages, now_ms=HER_TURN_CLOSES, is_accepted=True
    ),
    "the end of her turn is not known": Case(prepare=in_stages, before=(UNDATED,), now_ms=LAST_TURN_CLOSES, note=NONE),
}


def looked_over(case: Case, market: str, ledger: Ledger) -> dict[str, Any]:
    """What the command line's device tells, once it has drawn a report and looks over its rounds."""
    now_ms = 7
    for entry in case.before:
        ledger.note(entry["kind"], market=market, round_id=ROUND, **{k: v for k, v in entry.items() if k != "kind"})
    with OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: now_ms)
        visit.bid(ROUND, BID)
        review = visit.review(ROUND)
        stored = visit.draw(review, "coffee" if review.offer.side is None else True, agreed=("new fact",))
        with pytest.raises(MarketError):
            visit.send(stored)
        now_ms = case.now_ms
        looked = visit.look_over(client.notices())
        made = visit.stored(ROUND)
    assert made is not None
    return {"faults": looked.faults, "notes": looked.notes, "isAccepted": made.accepted_at_ms is not None}


def test_her_turn_is_not_the_last() -> None:
    assert REPORTS_CLOSE < HER_TURN_CLOSES < LAST_TURN_CLOSES


@pytest.mark.parametrize("name", CASES)
def test_a_report_without_a_receipt_is_asked_for_while_it_may_be_sent_again(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    ledger = Ledger(tmp_path / "device.sqlite")
    with hostile({"one": Lie(goal="", prepare=case.prepare, edit=reporting(case.edit))}) as address:
        told = looked_over(case, f"{address}/one/python", ledger)
        asked: dict[str, Any] = {"round": ROUND, "bid": BID, "before": case.before, "now": case.now_ms}
        browser = twin(script="lost_report_twin.mjs", address=f"{address}/one/browser", **asked)
    ledger.close()
    for found in (told, browser):
        assert found["isAccepted"] == case.is_accepted
        for said, expected in ((found["faults"], case.fault), (found["notes"], case.note)):
            assert [expected in each for each in said] == [True] * bool(expected)
