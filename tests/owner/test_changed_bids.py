"""A device that changes its bid holds the offer to the bid that stands, whatever was lost on the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pdqs
from pdqs.owner import withdrawing
from pdqs.owner.account import Account
from pdqs.owner.checks import CHECKS, without
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import OfferRefused
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.told import Checks
from pdqs.owner.visit import Visit
from pdqs.protocol.device_messages import Bid, BidReceipt, MyRound, RoundNotice
from pdqs.protocol.problems import ConflictError, MarketError, ProblemType

from .hostile.edits import both
from .hostile.market import BID, ROUND, Lie, Script, hostile, sign
from .node import mutant, twin
from .rounds import CLOSES, WITHOUT_DRAWS, bid_fields, bid_receipt, notice, offer

MARKET = "http://market.example"
ANN = "u_" + "0" * 24


@pytest.fixture
def device(tmp_path: Path) -> Any:
    ledger = Ledger(tmp_path / "device.sqlite")
    yield Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS)
    ledger.close()


def standing(device: Device, about: RoundNotice) -> int | None:
    bid = device.ledger.account().bid(MARKET, about.round_id)
    return None if bid is None else bid.bid_micros


def signed_bid(device: Device, about: RoundNotice, price: int) -> BidReceipt:
    device.bid(about, price)
    receipt = bid_receipt(about, price, placed_at_ms=CLOSES - 100)
    device.take_bid_receipt(about, receipt)
    return receipt


def test_a_change_stands_once_the_market_has_signed_for_it(device: Device) -> None:
    about = notice(state="open")
    first = signed_bid(device, about, 100)
    sent = device.change_bid(about, 200, there=first)
    assert f'"replaces":{first.placed_at_ms}' in sent.body
    assert standing(device, about) == 100
    device.take_bid_receipt(about, bid_receipt(about, 200), sent)
    assert standing(device, about) == 200
    device.review(notice(), offer(notice(), bid_micros=200), bid_there=bid_receipt(about, 200))


def test_a_change_is_of_the_price_and_never_of_the_terms(device: Device) -> None:
    about, other = notice(state="open"), notice(pdqs.Count("Are you ill?"), state="open")
    first = signed_bid(device, about, 100)
    with pytest.raises(OfferRefused, match="not the terms you looked at"):
        device.change_bid(other, 200, there=first)
    careless = replace(device, checks=without("committed", "terms seen"))
    assert careless.change_bid(other, 200, there=first).terms_hash == other.terms_hash


def test_a_change_whose_receipt_was_lost_is_caught_up_with(device: Device) -> None:
    about, closed = notice(state="open"), notice()
    first = signed_bid(device, about, 100)
    device.change_bid(about, 200, there=first)
    there = bid_receipt(about, 200)
    with pytest.raises(OfferRefused, match="another bid of yours"):
        device.review(closed, offer(closed, bid_micros=200), bid_there=there)
    device.catch_up(closed, there)
    assert device.review(closed, offer(closed, bid_micros=200), bid_there=there).bid_micros == 200


def test_a_change_that_never_arrived_leaves_the_first_bid_standing(device: Device) -> None:
    about, closed = notice(state="open"), notice()
    first = signed_bid(device, about, 100)
    device.change_bid(about, 200, there=first)
    device.catch_up(closed, first)
    assert device.review(closed, offer(closed, bid_micros=100), bid_there=first).bid_micros == 100


def test_a_market_that_goes_back_to_the_cheaper_bid_is_refused(device: Device) -> None:
    """The market signs once more for a bid that it signed away: no catching up makes that hers again."""
    about, closed = notice(state="open"), notice()
    first = signed_bid(device, about, 100)
    sent = device.change_bid(about, 200, there=first)
    device.take_bid_receipt(about, bid_receipt(about, 200, placed_at_ms=CLOSES - 50), sent)
    again = bid_receipt(about, 100, placed_at_ms=CLOSES - 10)
    device.catch_up(closed, again)
    with pytest.raises(OfferRefused, match="another bid of yours"):
        device.review(closed, offer(closed, bid_micros=100), bid_there=again)


def test_a_receipt_for_the_old_price_is_no_receipt_for_the_change(device: Device) -> None:
    about = notice(state="open")
    first = signed_bid(device, about, 100)
    sent = device.change_bid(about, 200, there=first)
    with pytest.raises(OfferRefused, match="says another price"):
        device.take_bid_receipt(about, first, sent)


def test_after_a_withdrawal_there_is_nothing_to_hold_an_offer_to(device: Device) -> None:
    about, closed = notice(state="open"), notice()
    first = signed_bid(device, about, 100)
    device.ledger.note("bid-withdrawn", market=MARKET, round_id=about.round_id, at_ms=1)
    assert standing(device, about) is None
    with pytest.raises(OfferRefused, match="made no bid"):
        device.review(closed, offer(closed, bid_micros=100), bid_there=first)
    signed_bid(device, about, 300)
    assert standing(device, about) == 300


def test_both_devices_read_the_same_standing_bid_off_the_same_entries() -> None:
    about = notice(state="open")

    def made(price: int) -> dict[str, Any]:
        return {"kind": "bid", **bid_fields(about, price, MARKET)}

    def taken(price: int) -> dict[str, Any]:
        receipt = bid_receipt(about, price).model_dump_json()
        return {"kind": "bid-accepted", "market": MARKET, "round_id": about.round_id, "at_ms": 1, "receipt": receipt}

    gone = {"kind": "bid-withdrawn", "market": MARKET, "round_id": about.round_id, "at_ms": 1}
    cases = [
        [],
        [made(1), made(2)],
        [made(1), taken(1)],
        [made(1), taken(1), made(2)],
        [made(1), taken(1), made(2), made(3), taken(2)],
        [made(1), taken(1), made(2), taken(2), made(1)],
        [made(1), taken(1), gone],
        [made(1), taken(1), made(2), gone, made(3)],
    ]
    asked = [{"entries": entries, "market": MARKET, "round": about.round_id} for entries in cases]
    found = twin(standing=asked)["standing"]
    for entries, (price, accepted, unsigned) in zip(cases, found, strict=True):
        account = Account(entries)
        bid, waiting = account.bid(MARKET, about.round_id), account.unsigned_bids(MARKET, about.round_id)
        assert [bid and bid.bid_micros, bid and bid.accepted] == [price, accepted]
        assert [one.bid_micros for one in waiting] == unsigned


class Forgetful:
    """A market that answers from memory; what is sent at one price is lost on its way, and may still arrive."""

    def __init__(self, about: RoundNotice, lost_micros: int) -> None:
        self._about, self._lost = about, lost_micros
        self.bid: BidReceipt | None = None

    def mine(self, _round_id: str) -> MyRound:
        return MyRound(owner_id=ANN, reports_made=0, notice=self._about, bid=self.bid)

    def send_bid(self, _round_id: str, body: bytes, _after_ms: int) -> BidReceipt:
        said = Bid.model_validate_json(body)
        if said.bid_micros == self._lost:
            raise MarketError(ProblemType.UNREACHABLE, "the line broke")
        if self.bid is None or said.replaces == self.bid.placed_at_ms:
            placed = CLOSES - 1000 if self.bid is None else self.bid.placed_at_ms + 1
            self.bid = bid_receipt(self._about, said.bid_micros, ANN, placed_at_ms=placed)
        assert self.bid.bid_micros == said.bid_micros
        return self.bid


def test_the_price_that_she_named_last_is_the_one_that_she_is_held_to(device: Device) -> None:
    """She went down, the line broke, and she said her first price again: the low one must not come up at the offer."""
    about, closed = notice(state="open"), notice()
    market = Forgetful(about, lost_micros=100)
    visit = Visit(device=device, client=market, clock=lambda: 7)  # type: ignore[arg-type]  # speaks as one
    visit.name_price(about.round_id, 500)
    with pytest.raises(MarketError, match="the line broke"):
        visit.name_price(about.round_id, 100)
    first = market.bid
    visit.name_price(about.round_id, 500)
    assert market.bid is not None
    assert first is not None
    assert market.bid.placed_at_ms > first.placed_at_ms, "so that the lost one, should it come, finds its place taken"
    low = bid_receipt(about, 100, ANN, placed_at_ms=CLOSES - 500)
    device.catch_up(closed, low)
    assert standing(device, about) == 500
    with pytest.raises(OfferRefused, match="another bid of yours"):
        device.review(closed, offer(closed, bid_micros=100), bid_there=low)


def open_still(_script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    """Bids are open whatever she has bid."""
    if told == "GET notice":
        body.update(state="open", reports_close_at_ms=None, bids_root=None)
    return status, body


def from_before(_script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    """A price that was signed for before is not signed for again: the old receipt comes back."""
    if told == "PUT bid" and body["bid_micros"] == BID:
        body = sign({**body, "placed_at_ms": CLOSES - 5000})
    return status, body


def calls_it_withdrawn(script: Script, told: str, status: int, body: Any) -> tuple[int, Any]:
    """Whoever names another price is told that she withdrew, at no time or before what was signed for."""
    if told != "PUT bid" or body["bid_micros"] == BID:
        return status, body
    script.withdrawn_at_ms = 0 if body["bid_micros"] == BID - 1 else CLOSES - 5001
    script.take_bid({"terms_hash": script.hash, "bid_micros": BID})  # and that is what it has
    return 409, {"type": "bid-withdrawn", "detail": "you withdrew from this round"}


NAMED = [BID, BID - 1, BID]
AGAIN = "market's receipt is no later than that of the bid whose place yours takes"
MARKETS = {
    "honest": Lie(goal="nothing", edit=open_still),
    "signs once": Lie(goal="nothing", edit=both(open_still, from_before)),
    "calls it withdrawn": Lie(goal="nothing", edit=both(open_still, calls_it_withdrawn)),
}


def named(
    address: str, path: Path, checks: Checks = CHECKS, prices: Sequence[int] = NAMED
) -> tuple[list[str], list[int]]:
    """What came of each price, and the prices that the market signed for, of what still stands."""
    said, ledger = [], Ledger(path)
    with OwnerClient(address, sleep=lambda _: None) as client:
        device = Device(market=address, ledger=ledger, checks=checks)
        for price in prices:
            try:
                Visit(device=device, client=client, clock=lambda: 7).name_price(ROUND, price)
                said.append("")
            except (OfferRefused, ConflictError) as fault:
                said.append(str(fault))
    entries = ledger.account().entries
    ledger.close()
    gone = [place for place, entry in enumerate(entries) if entry["kind"] == "bid-withdrawn"]
    kept = [entry for entry in entries[max(gone, default=0) :] if entry["kind"] == "bid-accepted"]
    return said, [json.loads(entry["receipt"])["bid_micros"] for entry in kept]


def test_an_old_receipt_is_no_word_for_the_same_price_named_again(tmp_path: Path) -> None:
    """By the times on her receipts another price would be the last that she named, and what it did was in order."""
    with hostile(MARKETS) as address:
        told, signed = named(f"{address}/signs once/whole", tmp_path / "whole.sqlite")
        careless = named(f"{address}/signs once/weak", tmp_path / "weak.sqlite", without("bid receipt time"))
        honest = named(f"{address}/honest/whole", tmp_path / "honest.sqlite")
    assert (told[:2], signed) == (["", ""], NAMED[:2])
    assert AGAIN in told[2]
    assert careless == honest == (["", "", ""], NAMED)


def test_a_market_that_calls_a_bid_withdrawn_does_not_so_undo_what_it_signed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device would say at the offer that it made no bid, and the market need make none."""
    prices = [BID, BID - 1, BID - 2]
    with hostile(MARKETS) as address:
        said, signed = named(f"{address}/calls it withdrawn/whole", tmp_path / "whole.sqlite", prices=prices)
        monkeypatch.setattr(withdrawing, "may_be_withdrawn", lambda _bid, _at: True)
        _, undone = named(f"{address}/calls it withdrawn/weak", tmp_path / "weak.sqlite", prices=prices)
        ask: dict[str, Any] = {"script": "named_again_twin.mjs", "round": ROUND, "prices": prices}
        found = twin(address=f"{address}/calls%20it%20withdrawn/browser", **ask)
        careless = mutant(tmp_path, "visit.mjs", "if (standing && mayBeWithdrawn(standing, withdrawn))", "")
        seen = twin(careless, address=f"{address}/calls%20it%20withdrawn/careless", **ask)
    assert (said[0], signed) == ("", [BID])
    assert all("you withdrew from this round" in each for each in (*said[1:], *found["said"][1:]))
    assert found["signed"] == [BID]
    assert undone == seen["signed"] == []


def test_the_browsers_device_takes_no_old_receipt_either(tmp_path: Path) -> None:
    careless = mutant(tmp_path, "checks.mjs", "placed > (JSON.parse(bid.body).replaces ?? -1)", "true")
    with hostile(MARKETS) as address:
        ask: dict[str, Any] = {"script": "named_again_twin.mjs", "round": ROUND, "prices": NAMED}
        found = twin(address=f"{address}/signs%20once/whole", **ask)
        seen = twin(careless, address=f"{address}/signs%20once/weak", **ask)
        honest = twin(address=f"{address}/honest/whole", **ask)
    assert found == {"said": ["", "", f"Refusal: The {AGAIN}."], "signed": NAMED[:2]}
    assert seen == honest == {"said": ["", "", ""], "signed": NAMED}
