"""Every lie of a hostile market is refused by both devices, and takes in a device without the check that catches it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from owner.node import BROWSER, run_node
from pdqs.model.errors import PdqsError
from pdqs.owner.checks import CHECKS, without
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.owner.lifetime_cap import OVERALL
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit
from pdqs.protocol import transport
from pdqs.protocol.problems import MarketError
from pdqs.rounds.commitments import commitment_to

from . import lies_without_lots
from .edits import instead, lost
from .lies import LIES
from .lies_about_questions import asking, bucketed
from .lies_between_rounds import named_elsewhere
from .market import ANN, BEN, BID, NONCE, ROUND, SEED, Lie, hostile

HONEST = ["bid", "bid-accepted", "lots", "offer", "admitted", "drawn", "sent", "accepted", "paid"]
TRUTHS = {
    "the truth": Lie(goal="nothing"),
    "the truth about a side": Lie(goal="nothing", prepare=asking(), answer=True),
    "the truth without a lot": lies_without_lots.TRUTH,
    "the truth about a bucket": Lie(goal="nothing", prepare=bucketed, answer=45),
    "the truth of a round whose seed and nonce another market has copied": Lie(
        goal="nothing",
        seed=named_elsewhere(seed_hash=commitment_to("seed", SEED), nonce_hash=commitment_to("nonce", NONCE)),
        agrees=("new fact", "same secrets"),
    ),
    "the truth where every answer to what she sends is lost": Lie(
        goal="nothing", edit=lost(lambda _script, _told, status, body: (status, body)), lost=True
    ),
    "the truth of a round from before receipts said what was asked": Lie(
        goal="nothing", prepare=lambda s: s.document.pop("receipt_form"), agrees=("new fact", "unsigned asking")
    ),
}
LATE = "a report in time that it calls late"
CLOSED = {"type": "reports-closed", "detail": "reports in this round are closed"}
ALL = {**TRUTHS, **LIES, LATE: Lie(goal="accepted", edit=instead("PUT report", 409, CLOSED))}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile(ALL) as found:
        yield found


def visited(address: str, name: str, tmp_path: Path, *, weak: bool) -> tuple[str | None, list[str]]:
    """One owner's whole dealings with the market of one lie: why it ended, and the kinds of entries that came to be."""
    lie = ALL[name]
    market = f"{address}/{name}/python-{'weak' if weak else 'whole'}"
    ledger, agreed = Ledger(tmp_path / "device.sqlite"), {*lie.agrees, *(lie.persuaded if weak else ())}
    for fields in lie.seed:
        ledger.note(**{"market": market, **fields})
    for attribute in ("drink", "beverage", "illness", OVERALL):
        ledger.set_cap(attribute, 90 * 10**9)
    device = Device(market=market, ledger=ledger, checks=without(*lie.caught_by) if weak else CHECKS)
    refused = None
    with OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=device, client=client, clock=lambda: 7)
        try:
            with suppress(MarketError) if lie.lost else nullcontext():
                visit.bid(ROUND, BID, seen_hash=client.notice(ROUND).terms_hash)
            review = [visit.review(ROUND) for _ in range(lie.looks)][-1]
            drawn = visit.draw(review, lie.answer, agreed=agreed)
            with suppress(MarketError) if lie.lost else nullcontext():
                visit.send(drawn)
            visit.settle_up(client.notice(ROUND))
            visit.settle_up(client.notice(ROUND))  # on another day
        except PdqsError as fault:
            refused = str(fault)
    kinds = [str(entry["kind"]) for entry in ledger.account().entries[len(lie.seed) :]]
    ledger.close()
    return refused, [kind for kind in kinds if kind != "cap"]


def test_there_are_lies_enough_and_each_check_catches_one() -> None:
    assert len(LIES) >= 60
    assert {name for lie in LIES.values() for name in lie.caught_by} == {"shape", *CHECKS}


def without_question(kinds: list[str]) -> list[str]:
    return [kind for kind in kinds if kind not in ("cap", "question")]


@pytest.mark.parametrize("name", TRUTHS)
def test_a_market_that_tells_the_truth_is_dealt_with_to_the_end(name: str, address: str, tmp_path: Path) -> None:
    refused, kinds = visited(address, name, tmp_path, weak=False)
    assert (refused, without_question(kinds)) == (None, HONEST)
    assert ("question" in kinds) == ("side" in name)


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused(name: str, address: str, tmp_path: Path) -> None:
    refused, kinds = visited(address, name, tmp_path, weak=False)
    assert refused is not None
    assert (LIES[name].goal in kinds) == LIES[name].noted
    assert refused.isprintable()


@pytest.mark.parametrize("name", LIES)
def test_a_device_without_its_check_is_taken_in(
    name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "shape" in LIES[name].caught_by:
        monkeypatch.setattr(transport, "_parsed", lambda kind, content: careless(kind, json.loads(content)))
    _, kinds = visited(address, name, tmp_path, weak=True)
    assert (LIES[name].goal in kinds) != LIES[name].noted


def careless(kind: Any, value: Any) -> Any:
    """A message taken as it comes: fields that are not there are None, and no field is looked at."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(value, dict):
        fields = {n: careless(f.annotation, value.get(n)) for n, f in kind.model_fields.items()}
        return kind.model_construct(**fields)
    if get_origin(kind) is list and isinstance(value, list):
        return [careless(get_args(kind)[0], item) for item in value]
    return value


@pytest.fixture(scope="module")
def in_javascript(address: str) -> dict[tuple[str, bool], dict[str, Any]]:
    runs = [(name, weak) for name in ALL for weak in (False, True)]
    cases = [
        {
            "address": f"{address}/{name.replace(' ', '%20')}/browser-{'weak' if weak else 'whole'}",
            "round": ROUND,
            "bid": BID,
            "without": sorted(ALL[name].caught_by) if weak else [],
            "agreed": [*ALL[name].agrees, *(ALL[name].persuaded if weak else ())],
            "seed": list(ALL[name].seed),
            "looks": ALL[name].looks,
            "lost": ALL[name].lost,
        }
        for name, weak in runs
    ]
    told = run_node(str(Path(__file__).with_name("run.mjs")), str(BROWSER), asked=cases, timeout=300)
    return dict(zip(runs, told, strict=True))


@pytest.mark.parametrize("name", TRUTHS)
def test_the_browsers_device_deals_with_the_truth_to_the_end(
    name: str, in_javascript: dict[Any, dict[str, Any]]
) -> None:
    found = in_javascript[name, False]
    assert found["refused"] is None
    assert without_question(found["kinds"]) == HONEST
    assert ("question" in found["kinds"]) == ("side" in name)


@pytest.mark.parametrize("name", LIES)
def test_the_browsers_device_refuses_it_and_without_its_check_is_taken_in(
    name: str, in_javascript: dict[Any, dict[str, Any]]
) -> None:
    whole, weak = in_javascript[name, False], in_javascript[name, True]
    assert whole["refused"] is not None
    assert (LIES[name].goal in whole["kinds"]) == LIES[name].noted
    assert (LIES[name].goal in weak["kinds"]) != LIES[name].noted, weak["refused"]


def test_a_report_that_the_market_does_not_take_is_drawn_sent_and_refused_and_nothing_more(
    address: str, tmp_path: Path, in_javascript: dict[Any, dict[str, Any]]
) -> None:
    told = in_javascript[LATE, False]
    browsers = told["refused"], without_question(told["kinds"])
    for refused, kinds in (visited(address, LATE, tmp_path, weak=False), browsers):
        assert "reports in this round are closed" in (refused or "")
        assert kinds == ["bid", "bid-accepted", "lots", "offer", "admitted", "drawn", "sent", "refused"]


def test_a_browser_bids_under_no_other_name_than_it_came_with(address: str) -> None:
    """The first bid, too: a page knows a market by its address and by who she is there."""
    plain = {"round": ROUND, "bid": BID, "agreed": ["new fact"], "seed": [], "looks": 1}
    runs = [(ANN, "whole", []), (BEN, "whole", []), (BEN, "weak", ["same owner"])]
    cases = [
        {**plain, "address": f"{address}/the%20truth/{run}-{name}", "named": name, "without": lacks}
        for name, run, lacks in runs
    ]
    told = run_node(str(Path(__file__).with_name("run.mjs")), str(BROWSER), asked=cases)
    assert [without_question(each["kinds"]) for each in told] == [HONEST, [], HONEST]
    assert "somebody else than when you enrolled" in told[1]["refused"]


def test_two_people_who_share_a_device_bid_in_one_round(address: str, tmp_path: Path) -> None:
    """Its seed and nonce are then not those of another round."""
    ledger = Ledger(tmp_path / "device.sqlite")
    for run in ("ann", "bea"):
        market = f"{address}/the truth/{run}"
        with OwnerClient(market, sleep=lambda _: None) as client:
            Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7).bid(ROUND, BID)
    assert [entry["kind"] for entry in ledger.account().entries] == ["bid", "bid-accepted"] * 2
    ledger.close()


def test_a_receipt_for_another_stage_says_which_and_not_that_as_much_was_asked_as_was(
    tmp_path: Path, in_javascript: dict[Any, dict[str, Any]]
) -> None:
    name = "a receipt for another stage"
    with hostile(ALL) as unvisited:
        refused, _ = visited(unvisited, name, tmp_path, weak=False)
    for said in (refused, in_javascript[name, False]["refused"]):
        assert "receipt is for stage 2, and you were asked in stage 1" in (said or "")
