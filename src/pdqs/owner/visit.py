"""One owner's dealings with one market: what is asked for, in which order, and what is kept of the answers.

The market is asked first what it has: a bid or a report that this device did not make is refused, for another draw
would spend again. A report's facts (drawn, sent, accepted, paid; taken back) are kept as they come true, and not
before. The browser's twin is ``browser/visit.mjs``; it asks for each part by itself, where this asks for all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, final

from pdqs.owner.account import StoredBid, StoredReport
from pdqs.owner.client import OwnerClient
from pdqs.owner.dropped import dropped_from
from pdqs.owner.errors import DeviceError, OfferRefused
from pdqs.owner.review import Device, Review, encoded
from pdqs.owner.settling import Looked, look_over, settle_up
from pdqs.owner.statement import unconfirmed
from pdqs.owner.withdrawing import send_stored, take_back
from pdqs.protocol.device_messages import MyRound, RoundNotice
from pdqs.protocol.market_messages import Posting
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType
from pdqs.protocol.summaries import NoticeSummary


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

    def mine(self, round_id: str) -> MyRound:
        """The round and all that the market has of her in it; an answer about another round is refused."""
        found = self.client.mine(round_id)
        self.device.is_asked(found.notice, round_id)
        return found

    def bid(self, round_id: str, bid_micros: int, *, seen_hash: str = "") -> StoredBid:
        """Bid, unless there is one; what stands comes back. ``seen_hash``: of the terms that she looked at, if any."""
        mine = self.mine(round_id)
        kept = self.device.bid(mine.notice, bid_micros, owner_id=mine.owner_id, there=mine.bid, seen_hash=seen_hash)
        receipt = send_stored(self.device, self.client, kept, self.clock())
        self.device.take_bid_receipt(mine.notice, receipt)
        return kept

    def name_price(self, round_id: str, bid_micros: int, *, seen_hash: str = "") -> StoredBid:
        """Name this price, in the place of the one that stands if there is one."""
        kept = self.bid(round_id, bid_micros, seen_hash=seen_hash)
        # Another price may still be on its way there: this one, said last, must be what she said last.
        if kept.bid_micros == bid_micros and not self._has_others_on_their_way(round_id, bid_micros):
            return kept
        return self.change_bid(round_id, bid_micros, seen_hash=seen_hash)

    def _has_others_on_their_way(self, round_id: str, bid_micros: int) -> bool:
        unsigned = self.device.ledger.account().unsigned_bids(self.device.market, round_id)
        return any(bid.bid_micros != bid_micros for bid in unsigned)

    def change_bid(self, round_id: str, bid_micros: int, *, seen_hash: str = "") -> StoredBid:
        """Put another price in the place of this device's bid, until bids close; what stands comes back."""
        mine = self.mine(round_id)
        if mine.bid is None:
            return self.bid(round_id, bid_micros, seen_hash=seen_hash)
        self.device.catch_up(mine.notice, mine.bid)
        sent = self.device.change_bid(mine.notice, bid_micros, there=mine.bid, owner_id=mine.owner_id)
        self.device.take_bid_receipt(mine.notice, send_stored(self.device, self.client, sent, self.clock()), sent)
        return sent

    def withdraw_bid(self, round_id: str) -> None:
        """Take back the owner's bid, until bids close, whichever device made it."""
        take_back(self.device, self.client, round_id, self.clock())

    def review(self, round_id: str) -> Review:
        """Everything the market says about a round, checked; what the lot decided is kept, and what is asked."""
        mine = self.mine(round_id)
        if wrong := dropped_from(self.device, mine, self.clock()):
            raise OfferRefused(f"round {round_id}: {wrong}")
        if mine.offer is None:
            raise NotFoundError(ProblemType.NO_OFFER, f"you have no offer in round {round_id}")
        self.device.catch_up(mine.notice, mine.bid)
        found = self.device.review(
            mine.notice, mine.offer, bid_there=mine.bid, report_there=mine.report, counted=mine.reports_made
        )
        self.device.keep_told(found)
        return found

    def stored(self, round_id: str) -> StoredReport | None:
        """The report that this device made in a round, if it made one."""
        return self.device.ledger.account().report(self.device.market, round_id)

    def draw(self, review: Review, value: Any, agreed: Collection[str] = ()) -> StoredReport:
        """Look at the offer and the server's clock once more, then draw, charge and store; what was drawn stands."""
        made = self.stored(review.offer.round_id)
        if made is not None:
            return made
        encoded(review.asking.domain, value)  # first: what is asked of the market must not tell which answer it is
        fresh = self.client.offer(review.offer.round_id)
        return self.device.report(review, value, fresh=fresh, now_ms=self.clock(), agreed=agreed)

    def send(self, stored: StoredReport, seen: RoundNotice | None = None) -> StoredReport:
        """Send the stored bytes, and keep the receipt when it is what was offered.

        ``seen``: the notice that this visit has checked just now; without one the market is asked for it.
        """
        where = {"market": stored.market, "round_id": stored.round_id}
        notice = self.notice(stored.round_id) if seen is None else seen
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
        """Of a round that is over: what was paid, held to what was promised; if noted as paid, whether it still is."""
        settle_up(self.device, self.client, notice, self.clock())

    def look_over(self, notices: Sequence[NoticeSummary], owed: Callable[[], int] | None = None) -> Looked:
        """All that was reported from here, beside the market's list of rounds: a sentence for each that is at fault."""
        return look_over(self.device, self.client, notices, self.clock(), owed)

    def payouts(self) -> list[Posting]:
        """Payouts that she has not said she got, newest first; of one who reported from here."""
        account = self.device.ledger.account()
        if not account.made(self.device.market):
            return []
        return unconfirmed(self.client.statement(), account.received(self.device.market))

    def got(self, payout: Posting) -> None:
        """She says that a payout came."""
        said = {"transaction_id": payout.transaction_id, "amount_micros": payout.amount_micros}
        self.device.ledger.note("received", market=self.device.market, **said, at_ms=self.clock())
