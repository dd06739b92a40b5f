"""A report of which no receipt came: both devices ask for it, and say while it may be sent again that none arrived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol.problems import MarketError

from .hostile.edits import both, on, put, signed
from .hostile.market import BID, OTHER_KEY, REPORTS_CLOSE, ROUND, Edit, Lie, Script, hostile
from .node import twin


def as_told(_script: Script, _told: str, status: int, body: Any) -> tuple[int, Any]:
    return status, body


def never_arrives(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    if told == "PUT report":
        script.report = None
    return status, body


def reporting(then: Edit) -> Edit:
    """Reports are taken still; the answer to hers is lost."""
    taken = put(state="reporting", reports_close_at_ms=REPORTS_CLOSE)
    still = both(
        then,
        on("GET notice", taken, when=lambda script: script.bid is not None),
        on("GET notices", lambda told: told["items"][0].update(state="reporting")),
    )

    def edit(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
        found = still(script, told, status, body)
        return (502, {}) if told == "PUT report" else found

    return edit


NONE = "report was drawn here, and the market says that it has none: send it again while it takes reports"
CASES: dict[str, tuple[Edit, str, str, bool]] = {
    "it never came": (never_arrives, "", NONE, False),
    "its receipt was lost": (as_told, "", "", True),
    "another key signed": (on("GET report", signed(OTHER_KEY)), "receipt is not signed by its key", "", False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_report_without_a_receipt_is_asked_for_while_it_may_be_sent_again(name: str, tmp_path: Path) -> None:
    edit, fault, note, is_accepted = CASES[name]
    ledger = Ledger(tmp_path / "device.sqlite")
    with hostile({"one": Lie(goal="", edit=reporting(edit))}) as address:
        market = f"{address}/one/python"
        with OwnerClient(market, sleep=lambda _: None) as client:
            visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7)
            visit.bid(ROUND, BID)
            stored = visit.draw(visit.review(ROUND), "coffee", agreed=("new fact",))
            with pytest.raises(MarketError):
                visit.send(stored)
            looked = visit.look_over(client.notices())
            made = visit.stored(ROUND)
        browser = twin(script="lost_report_twin.mjs", address=f"{address}/one/browser", round=ROUND, bid=BID)
    ledger.close()
    assert made is not None
    accepted = made.accepted_at_ms is not None
    told: dict[str, Any] = {"faults": looked.faults, "notes": looked.notes, "isAccepted": accepted}
    for found in (told, browser):
        assert found["isAccepted"] == is_accepted
        for said, expected in ((found["faults"], fault), (found["notes"], note)):
            assert [expected in each for each in said] == [True] * bool(expected)
