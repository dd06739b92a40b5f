"""A bid that a market signed for and has no offer for: whoever bid is told in a round past bidding what it asks of her,
if that is nothing. The browser's twin: ``browser/dropped.mjs``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from pdqs.owner.account import Account, StoredBid
from pdqs.owner.client import OwnerClient
from pdqs.owner.kept_receipts import Found
from pdqs.owner.overdue import is_overdue, may_be_deleted, overdue_in_words
from pdqs.owner.review import Device
from pdqs.present.times import day_text
from pdqs.protocol.device_messages import MyRound
from pdqs.protocol.problems import NotFoundError
from pdqs.protocol.summaries import NoticeSummary

_T = TypeVar("_T")
_DAY_MS = 86_400_000
_MOST_LOOKS = 20
"""A market is not asked about every round of years at once."""
_TOLD = frozenset({"lots", "offer", "drawn"})
"""What is kept of a round once its offer was seen."""
_SIGNED = "the market signed for your bid and"
_GONE = f"{_SIGNED} no longer tells of the round"
_NO_OFFER = f"{_SIGNED} has no offer to you"


def dropped_in_words(bid: StoredBid | None, state: str, now_ms: int, withdrawn_ms: int = 0) -> str:
    """Of a round with no offer to her, in this state: that there should be one; nothing where there need not be.

    ``withdrawn_ms`` is when she withdrew, by the market's word. She may have, from another device.
    """
    if bid is None or not bid.accepted or state not in ("reporting", "settled"):
        return ""
    if state == "settled" and may_be_deleted(bid.terms, now_ms):
        return ""
    return _withdrawn_in_words(withdrawn_ms) if may_be_withdrawn(bid, withdrawn_ms) else _NO_OFFER


def _withdrawn_in_words(withdrawn_ms: int) -> str:
    return f"{_NO_OFFER}: it says that you withdrew it on {day_text(withdrawn_ms)}, and broke its word if you did not"


def may_be_withdrawn(bid: StoredBid, withdrawn_ms: int) -> bool:
    """Whether a withdrawal at this time, by the market's word, is one of this bid: it came after what it signed for."""
    return withdrawn_ms > 0 and withdrawn_ms >= json.loads(bid.receipt or "{}").get("placed_at_ms", 0)


def dropped_from(device: Device, mine: MyRound, now_ms: int, listed: str = "") -> str:
    """The same of all that the market has of her; ``listed`` is the round's state in its list, where that was seen."""
    state = mine.notice.state if mine.notice.state == "cancelled" else listed or mine.notice.state
    bid = device.ledger.account().bid(device.market, mine.notice.round_id)
    return "" if mine.offer is not None else dropped_in_words(bid, state, now_ms, mine.withdrawn_at_ms)


def look_for_offers(
    device: Device, client: OwnerClient, notices: Sequence[NoticeSummary], now_ms: int, found: Found
) -> None:
    """Of the bids that a market signed for and whose offer was never seen here: those that it made none for."""
    states = {notice.round_id: notice.state for notice in notices}
    untold = [(bid, str(states.get(bid.round_id, ""))) for bid in _untold(device.ledger.account(), device.market)]
    due = [(bid, listed) for bid, listed in untold if _is_due(bid, listed, now_ms)]
    for bid, listed in in_turn(due, now_ms):
        _look_at(device, client, bid, listed, now_ms, found)


def in_turn(due: Sequence[_T], now_ms: int) -> list[_T]:
    """As many of these as are looked at in one day: others tomorrow, until it was the turn of all.

    >>> in_turn("abc", 7)
    ['a', 'b', 'c']
    """
    first = now_ms // _DAY_MS * _MOST_LOOKS % len(due) if len(due) > _MOST_LOOKS else 0
    return [*due[first:], *due[:first]][:_MOST_LOOKS]


def _is_due(bid: StoredBid, listed: str, now_ms: int) -> bool:
    """Whether her offer should be there, by the round's state in the market's list, empty if it is not there."""
    if listed == "open":  # whoever never closes a round need make no offer in it
        return is_overdue(bid.terms, now_ms)
    return bool(dropped_in_words(bid, listed, now_ms)) if listed else _is_gone(bid, now_ms)


def _untold(account: Account, market: str) -> list[StoredBid]:
    """Newest first."""
    rounds = dict.fromkeys(e["round_id"] for e in reversed(account.entries) if e["kind"] == "bid")
    bids = [account.bid(market, each) for each in rounds if not _TOLD & account.kinds(market, each)]
    return [bid for bid in bids if bid is not None and bid.accepted]


def _is_gone(bid: StoredBid, now_ms: int) -> bool:
    return bool(now_ms > json.loads(bid.terms)["bids_close_at_ms"]) and not may_be_deleted(bid.terms, now_ms)


def _look_at(device: Device, client: OwnerClient, bid: StoredBid, listed: str, now_ms: int, found: Found) -> None:
    round_id, notes = bid.round_id, []

    def look() -> str:
        try:
            mine = client.mine(round_id)
        except NotFoundError:
            if listed:
                raise
            return _GONE
        device.is_asked(mine.notice, round_id)
        said = _wrong(device, bid, mine, listed, now_ms)
        if said != _withdrawn_in_words(mine.withdrawn_at_ms):
            return said
        notes.append(f"Round {round_id}: {said}.")
        return ""

    found.look_at(round_id, look)
    found.notes.extend(notes)


def _wrong(device: Device, bid: StoredBid, mine: MyRound, listed: str, now_ms: int) -> str:
    """What is to be said of a bid whose offer should be there.

    No market lists a round for ever: not one that she withdrew from elsewhere, once bids are closed, nor one that was
    called off early and deleted as its terms say. Either is told when it is asked for by itself.
    """
    state = mine.notice.state
    if state == "cancelled":
        return ""
    if listed == state == "open":
        return f"{_SIGNED} {overdue_in_words(bid.terms, now_ms)}"
    if not listed and (mine.offer is not None or not may_be_withdrawn(bid, mine.withdrawn_at_ms)):
        return _GONE
    return dropped_from(device, mine, now_ms, {"": "reporting", "open": state}.get(listed, listed))
