"""``pdqs owner list`` and ``received`` at a market that lies, or before an owner who stops in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit

from .commands import Owner, Shell
from .hostile.edits import bid_on, both, on, put
from .hostile.lies import earlier
from .hostile.market import BID, OTHER_ROUND, ROUND, Json, Lie, hostile


def settled(listed: Json) -> None:
    for each in listed["items"]:
        each.update(state="settled")


def paid_out(statement: Json) -> None:
    for amount in (50, 40, 30):
        line = {"kind": "payout", "account": "o", "amount_micros": -amount, "at_ms": 5, "round_id": None}
        statement["items"].append({"transaction_id": f"p{amount}", **line})


IS_SETTLED = on("GET notices", settled, when=bid_on)
MARKETS = {
    "unreadable": both(IS_SETTLED, on("GET offer", put(q_numerator="x"))),
    "asking": IS_SETTLED,
    "payouts": on("GET statement", paid_out),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile({name: Lie(goal="nothing", edit=edit) for name, edit in MARKETS.items()}) as found:
        yield found


@pytest.fixture
def run(tmp_path: Path, shell: Shell) -> Owner:
    def running(command: str, *, code: int, typed: str = "") -> str:
        device = ("--device", str(tmp_path / "device.sqlite"))
        return " ".join(shell.by_script(command, *device, typed=typed, code=code).split())

    return running


def bidding(address: str, name: str, tmp_path: Path, *, reports: bool) -> None:
    """Who has bid in a market and, it may be, reported."""
    market = f"{address}/{name}/{tmp_path.name}"
    with closing(Ledger(tmp_path / "device.sqlite")) as ledger, OwnerClient(market, sleep=lambda _: None) as client:
        ledger.enrol(market, "Ann", "x" * 43)
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        if reports:
            visit.send(visit.draw(visit.review(ROUND), "coffee", agreed=("new fact",)))
        for fields in () if reports else earlier("drink", "Do you like wine?"):
            ledger.note(**{"market": market, **fields})


def test_an_offer_that_cannot_be_read_is_told_in_its_row_and_hides_no_fault(
    address: str, run: Owner, tmp_path: Path
) -> None:
    bidding(address, "unreadable", tmp_path, reports=False)
    shown = run("list", code=1)
    assert "What do you drink? bid 0.30; what the market says of your offer cannot be read" in shown
    assert f"Wrong Round {OTHER_ROUND}: the market signed for your report" in shown
    assert "The market owes you 0.00." in shown


def test_a_round_that_is_over_and_still_asks_is_told_as_that(address: str, run: Owner, tmp_path: Path) -> None:
    bidding(address, "asking", tmp_path, reports=False)
    assert "the market says that it is settled, and asks for a report all the same" in run("list", code=1)


def test_what_she_said_of_payouts_stands_should_she_say_no_more(address: str, run: Owner, tmp_path: Path) -> None:
    bidding(address, "payouts", tmp_path, reports=True)
    assert "what you did not answer stays listed" in run("received", code=2, typed="y\nn\n")
    with closing(Ledger(tmp_path / "device.sqlite")) as ledger:
        said = [entry["transaction_id"] for entry in ledger.account().entries if entry["kind"] == "received"]
    assert said == ["p50"]
    assert "Payouts that came: 1 of 2." in run("received", code=0, typed="y\nn\n")
