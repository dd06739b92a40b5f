"""A report from before a device looked at what answers look like is sent, signed for and settled by both devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from owner.node import BROWSER, mutant, twin
from pdqs.model.errors import PdqsError
from pdqs.owner.checks import without
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit

from .hostile.market import BID, ROUND, Lie, Script, hostile

LOOKS = ("answers apart", "one direction")
"""What the device of that time did not look at."""
FACTS = ["drawn", "drawn, sent, accepted", "drawn, sent, accepted, paid"]


def answers(*labels: str) -> Callable[[Script], None]:
    def prepare(script: Script) -> None:
        for domain in (script.document["terms"]["query"]["domain"], script.question["domain"]):
            domain["labels"] = list(labels)

    return prepare


ROUNDS = {
    "a mark that turns writing": answers("tea", "co\u200ffee", "neither"),
    "a letter of Cyrillic": answers("tea", "t\u0435a", "neither"),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile({name: Lie(goal="nothing", prepare=prepare) for name, prepare in ROUNDS.items()}) as found:
        yield found


def in_python(market: str, path: Path) -> dict[str, Any]:
    """Drawn by a device from before, then sent and settled by this one; and what this one says to the question."""
    ledger, facts = Ledger(path / "device.sqlite"), []
    with OwnerClient(market, sleep=lambda _: None) as client:
        before, now = (
            Visit(device=Device(market="m", ledger=ledger, checks=checks), client=client, clock=lambda: 7)
            for checks in (without(*LOOKS), without())
        )
        before.bid(ROUND, BID)
        refused = ""
        try:
            now.review(ROUND)
        except PdqsError as fault:
            refused = str(fault)
        made = before.draw(before.review(ROUND), "tea", agreed=("new fact",))
        for step in (lambda: None, lambda: now.send(made), lambda: now.settle_up(now.notice(ROUND))):
            step()
            stored = now.stored(ROUND)
            facts.append(stored.facts if stored else "")
    ledger.close()
    return {"refused": refused, "facts": facts}


def in_javascript(market: str, modules: Path = BROWSER) -> dict[str, Any]:
    return twin(modules, script="before_twin.mjs", address=market, round=ROUND, bid=BID, without=LOOKS)


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("device", ["python", "browser"])
def test_a_report_from_before_is_signed_for_and_settled(device: str, name: str, address: str, tmp_path: Path) -> None:
    market = f"{address}/{name}/{device}"
    found = in_python(market, tmp_path) if device == "python" else in_javascript(market.replace(" ", "%20"))
    assert "look the same" in found["refused"] or "turns the direction" in found["refused"]
    assert found["facts"] == FACTS


def test_a_browser_that_looks_once_more_at_what_is_drawn_is_seen(address: str, tmp_path: Path) -> None:
    strict = mutant(tmp_path, "device.mjs", "if (told.report?.terms_hash !== notice.terms_hash) ", "")
    with pytest.raises(AssertionError, match="look the same"):
        in_javascript(f"{address}/a letter of Cyrillic/strict".replace(" ", "%20"), strict)
