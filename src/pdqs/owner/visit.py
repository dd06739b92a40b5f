"""One owner's dealings with one market: what is asked for, in which order, and what is kept of the answers.

The market is asked first what it has: a bid or a report that this device did not make is refused, for another draw
would spend again. A report's four facts (drawn, sent, accepted, paid) are kept as they come true, and not before. The
browser's twin is ``browser/visit.mjs``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, final

from pdqs.owner.account import StoredBid, StoredReport
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import DeviceError
from pdqs.owner.review import Device, Review
from pdqs.protocol.device_messages import RoundNotice
from pdqs.protocol.problems import ConflictError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A device and its line to a market; ``clock`` is the device's own, in milliseconds, and decides nothing."""

    device: Device
    client: OwnerClient
    clock: Callable[[], int]

    def notice(self, round_id: str) -> RoundNotice:
        """The round, as the market tells it; an answer about another one is refused."""
        found = self.client.notice(round_id)
        self.device.is_asked(found, round_id)
        return found

    def bid(self, round_id: str, bid_micros: int, *, seen_hash: str = "") -> StoredBid:
        """Bid, unless there is one; what stands comes back. ``seen_hash``: of the terms that she looked at, if any."""
        notice = self.notice(round_id)
        mine, there = self.client.account().user.user_id, self.client.bid_if_any(round_id)
        kept = self.device.bid(notice, bid_micros, owner_id=mine, there=there, seen_hash=seen_hash)
        receipt = self.client.send_bid(round_id, kept.body.encode())
        self.device.take_bid_receipt(notice, receipt)
        return kept

    def name_price(self, round_id: str, bid_micros: int) -> StoredBid:
        """Name this price, in the place of the one that stands if there is one."""
        kept = self.bid(round_id, bid_micros)
        return kept if kept.bid_micros == bid_micros else self.change_bid(round_id, bid_micros)

    def change_bid(self, round_id: str, bid_micros: int) -> StoredBid:
        """Put another price in the place of this device's bid, until bids close; what stands comes back."""
        notice, there = self.notice(round_id), self.client.bid_if_any(round_id)
        if there is None:
            return self.bid(round_id, bid_micros)
        self.device.catch_up(notice, there)
        mine = self.client.account().user.user_id
        sent = self.device.change_bid(notice, bid_micros, there=there, owner_id=mine)
        self.device.take_bid_receipt(notice, self.client.send_bid(round_id, sent.body.encode()), sent)
        return sent

    def withdraw_bid(self, round_id: str) -> None:
        """Take back the owner's bid, until bids close, whichever device made it."""
        there = self.client.bid_if_any(round_id)
        if there is not None:
            self.client.withdraw_bid(round_id, there.placed_at_ms)
        where = {"market": self.device.market, "round_id": round_id}
        if self.device.ledger.account().bid(self.device.market, round_id) is not None:
            self.device.ledger.note("bid-withdrawn", **where, at_ms=self.clock())

    def review(self, round_id: str) -> Review:
        """Everything the market says about a round, checked; what the lot decided is kept, and what is asked."""
        offer = self.client.offer(round_id)  # before the notice, which then tells of every stage that the offer knows
        notice, bid_there = self.notice(round_id), self.client.bid_if_any(round_id)
        self.device.catch_up(notice, bid_there)
        found = self.device.review(
            notice,
            offer,
            bid_there=bid_there,
            report_there=self.client.report_if_any(round_id),
            counted=self.client.account().reports_made,
        )
        self.device.keep_lots(found)
        self.device.keep_question(found)
        return found

    def stored(self, round_id: str) -> StoredReport | None:
        """The report that this device made in a round, if it made one."""
        return self.device.ledger.account().report(self.device.market, round_id)

    def draw(self, review: Review, value: Any, agreed: Collection[str] = ()) -> StoredReport:
        """Look at the offer and the server's clock once more, then draw, charge and store."""
        fresh = self.client.offer(review.offer.round_id)
        return self.device.report(review, value, fresh=fresh, now_ms=self.clock(), agreed=agreed)

    def send(self, stored: StoredReport) -> StoredReport:
        """Send the stored bytes, and keep the receipt when it is what was offered."""
        where = {"market": stored.market, "round_id": stored.round_id}
        notice = self.notice(stored.round_id)
        if notice.terms_hash != stored.terms_hash:
            raise DeviceError(f"round {stored.round_id}: these are not the terms that were reported on")
        self.device.ledger.note("sent", **where, at_ms=self.clock())
        try:
            receipt = self.client.send_report(stored.round_id, stored.body.encode())
        except ConflictError as fault:
            self.device.ledger.note("refused", **where, refused=str(fault))
            raise
        self.device.take_receipt(notice, receipt)
        return self.stored(stored.round_id) or stored

    def settle_up(self, notice: RoundNotice) -> None:
        """Of a settled round: what was paid, held against what was promised."""
        stored = self.stored(notice.round_id)
        if stored is None or stored.paid_micros is not None or notice.state != "settled":
            return
        receipt = self.client.report_if_any(notice.round_id)
        if receipt is not None:
            self.device.take_receipt(notice, receipt)
        elif stored.accepted_at_ms is None:
            return
        self.device.take_payment(notice, receipt, self.client.paid_micros(notice.round_id))
