"""Bids and withdrawals count in the order in which she made them, whatever the order in which they arrive.

A withdrawal has a time by the market's clock, which the device keeps. A bid is sent with the time of the last
withdrawal that the device knew of when it stored the bid: had she withdrawn later, from here or elsewhere, the market
refuses it. The browser's twin is in ``browser/visit.mjs``.
"""

from __future__ import annotations

from contextlib import suppress

from pdqs.owner.account import StoredBid
from pdqs.owner.client import OwnerClient
from pdqs.owner.dropped import may_be_withdrawn
from pdqs.owner.review import Device
from pdqs.protocol.device_messages import BidReceipt
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, ProblemType

_LOOKS = 3
"""So often is the market asked which bid it has, should another one arrive in between."""


def send_stored(device: Device, client: OwnerClient, kept: StoredBid, now_ms: int) -> BidReceipt:
    """Send a stored bid. One that was withdrawn on its way is refused, and this device then knows of it."""
    try:
        return client.send_bid(kept.round_id, kept.body.encode(), kept.after_ms)
    except ConflictError as fault:
        if fault.type is ProblemType.BID_WITHDRAWN:
            with suppress(MarketError):  # the refusal is what she hears of; the next one tells it again
                _learn(device, kept.round_id, client.mine(kept.round_id).withdrawn_at_ms, now_ms)
        raise


def _learn(device: Device, round_id: str, withdrawn_at_ms: int, now_ms: int) -> None:
    """She withdrew elsewhere, the market says. It does not undo what it signed for after that, or by naming no time."""
    standing = device.ledger.account().bid(device.market, round_id)
    if standing is not None and may_be_withdrawn(standing, withdrawn_at_ms):
        _note(device, round_id, withdrawn_at_ms, now_ms)


def take_back(device: Device, client: OwnerClient, round_id: str, now_ms: int) -> None:
    """Take back her bid in a round, whichever device made it, and those that have not arrived yet."""
    withdrawn_at_ms = _withdrawn_there(client, round_id)
    if withdrawn_at_ms or device.ledger.account().bid(device.market, round_id) is not None:
        _note(device, round_id, withdrawn_at_ms, now_ms)


def _withdrawn_there(client: OwnerClient, round_id: str) -> int:
    """Withdraw; the time of it by the market's clock, or 0 where bids are closed and none came in time."""
    for look in range(_LOOKS):
        there = client.bid_if_any(round_id)
        try:
            return client.withdraw_bid(round_id, there.placed_at_ms if there else 0).withdrawn_at_ms
        except NotFoundError as fault:
            if fault.type is not ProblemType.NO_BID:
                raise
            return 0
        except ConflictError as fault:
            if fault.type is not ProblemType.BID_STANDS or look == _LOOKS - 1:
                raise
    raise AssertionError("the last look returns or raises")


def _note(device: Device, round_id: str, withdrawn_at_ms: int, now_ms: int) -> None:
    where = {"market": device.market, "round_id": round_id}
    device.ledger.note("bid-withdrawn", **where, at_ms=now_ms, withdrawn_at_ms=withdrawn_at_ms)
