"""What the device decides: is the round what it says, does the offer pay, may the owner afford it, what is sent.

The order is fixed: check, ask the owner, charge and store, then send. The value meets the coin inside one expression,
the coin is dropped at once, and only the report's code goes on from there. The browser's twin: ``browser/device.mjs``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from typing import Any, final

import numpy as np

from pdqs.model.arrays import Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import PdqsError
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.model.questions import Asking
from pdqs.owner.account import Account, Charge, Fields, StoredBid, StoredReport
from pdqs.owner.addresses import one_address
from pdqs.owner.asks import admitted, asks_of
from pdqs.owner.checks import CHECKS, refuse
from pdqs.owner.commitments_before import known_by_now
from pdqs.owner.dealing import asked_in_words, asking_of, question_of
from pdqs.owner.errors import DeviceError, OfferRefused, OwnerMustAgree
from pdqs.owner.ledger import Ledger
from pdqs.owner.lifetime_cap import OVERALL, Spending
from pdqs.owner.lots import lots_of, offer_of
from pdqs.owner.price import epsilon_of, in_words, least_payment_micros
from pdqs.owner.short_receipts import falls_short
from pdqs.owner.told import Checks, Told, promise_of
from pdqs.privacy.asking import ask
from pdqs.privacy.entropy import Entropy, SystemEntropy
from pdqs.privacy.loss import epsilon_nanos
from pdqs.protocol.device_messages import Bid, BidReceipt, Offer, Report, ReportReceipt, RoundNotice


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An offer that passed every check, with all the owner needs to decide."""

    told: Told
    offer: Offer
    asking: Asking
    """What she is asked for. Its kappa was priced, is shown and will be charged."""
    bid_micros: int
    epsilon: float
    epsilon_nanos: int
    least_payment_micros: int
    spending: Spending
    overall: Spending
    asks: Mapping[str, str]
    """What the owner must agree to first, each a name and a sentence (:mod:`pdqs.owner.asks`)."""

    @property
    def said(self) -> str:
        """The question in plain words: of one side, once her stage has come."""
        return asked_in_words(self.told, self.offer)

    @property
    def waits(self) -> bool:
        """Whether her question has yet to come."""
        return self.told.promise.terms.asking.kind == QuestionKind.SIDE and self.offer.side is None

    @property
    def meaning(self) -> str:
        """What the eps means, in words."""
        return in_words(self.offer.q_numerator, self.asking.kappa)

    @property
    def after_nanos(self) -> int:
        """Privacy spent on the attribute once this report is made."""
        return self.spending.spent_nanos + self.epsilon_nanos

    @property
    def within_cap(self) -> bool:
        """Whether the owner's own caps allow it: the attribute's, and the one over all."""
        return self.epsilon_nanos <= min(self.spending.left_nanos, self.overall.left_nanos)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One owner's device in one market. Randomness is the operating system's unless a test replays known words."""

    market: str
    ledger: Ledger
    entropy: Entropy = field(default_factory=SystemEntropy)
    checks: Checks = field(default_factory=lambda: CHECKS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "market", one_address(self.market))

    def look(self, notice: RoundNotice) -> Told:
        """The round, held to its frozen terms, beside what this device did in it."""
        account = self.ledger.account()
        mine = [report for report in account.reports() if report.market == self.market]
        told = Told(
            notice=notice,
            promise=promise_of(notice),
            bid=account.bid(self.market, notice.round_id),
            report=account.report(self.market, notice.round_id),
            made=len(mine) + account.elsewhere(self.market),
            accepted=sum(report.accepted_at_ms is not None for report in mine),
            accepted_before=_accepted_before(account, self.market, notice.round_id),
            ordinals=frozenset(report.ordinal for report in mine if report.round_id != notice.round_id) - {0},
            lots=account.lots(self.market, notice.round_id),
            first=account.offer(self.market, notice.round_id),
            asked=account.question(self.market, notice.round_id),
        )
        refuse("notice", told, self.checks)
        if told.report is None or told.report.terms_hash != notice.terms_hash:
            refuse("looks", told, self.checks)  # what is drawn is drawn, maybe before this was looked at
        return told

    def is_asked(self, notice: RoundNotice, round_id: str) -> None:
        """Refuse an answer about another round than the one that was asked about."""
        refuse("answer", Told(notice=notice, promise=promise_of(notice), asked_for=round_id), self.checks)

    def bid(
        self,
        notice: RoundNotice,
        bid_micros: int,
        *,
        owner_id: str = "",
        there: BidReceipt | None = None,
        seen_hash: str = "",
    ) -> StoredBid:
        """Check the round and store a bid for it, ready to send.

        ``owner_id`` is who the market takes her for, ``there`` the bid that it has already, ``seen_hash`` the hash of
        the terms that she looked at.
        """
        self.may_bid(notice, bid_micros, there, owner_id, seen_hash)
        standing = self.ledger.account().bid(self.market, notice.round_id)
        if there is not None and standing is not None:
            return standing  # sent before, and kept: it stands though its receipt was lost
        return self.ledger.keep_bid(self._bid_fields(notice, bid_micros, owner_id, None))

    def change_bid(self, notice: RoundNotice, bid_micros: int, *, there: BidReceipt, owner_id: str = "") -> StoredBid:
        """Check the round and store a bid that takes the place of this device's own, which the market has ``there``."""
        self.may_bid(notice, bid_micros, there, owner_id)
        return self.ledger.change_bid(self._bid_fields(notice, bid_micros, owner_id, there.placed_at_ms))

    def may_bid(
        self,
        notice: RoundNotice,
        bid_micros: int,
        there: BidReceipt | None = None,
        owner_id: str = "",
        seen_hash: str = "",
    ) -> Told:
        """The round, if it takes bids and this one lies within its range; nothing is stored."""
        account, heard = self.ledger.account(), self.look(notice)
        told = replace(
            heard,
            bid_there=there,
            owner_id=owner_id,
            seen_hash=seen_hash,
            known_as=account.known_as(self.market),
            known_secrets=known_by_now(account, self.market, heard.promise.receipt_key, notice.terms_hash),
        )
        refuse("bidding", told, self.checks)
        if not notice.bid_low_micros <= bid_micros <= notice.bid_high_micros:
            raise OfferRefused(
                f"a bid in this round lies between {exact_money(notice.bid_low_micros)} and"
                f" {exact_money(notice.bid_high_micros)}, got {exact_money(bid_micros)}"
            )
        return told

    def _bid_fields(self, notice: RoundNotice, bid_micros: int, owner_id: str, replaces: int | None) -> Fields:
        sent = Bid(terms_hash=notice.terms_hash, bid_micros=bid_micros, replaces=replaces)
        return {
            "market": self.market,
            "round_id": notice.round_id,
            "bid_micros": bid_micros,
            "terms_hash": notice.terms_hash,
            "question": notice.question.model_dump_json(),
            "terms": notice.terms,
            "body": sent.model_dump_json(exclude_none=True),
            "owner_id": owner_id,
            "after_ms": self.ledger.account().withdrawn_ms(self.market, notice.round_id),
        }

    def catch_up(self, notice: RoundNotice, there: BidReceipt | None) -> None:
        """Where the receipt of the bid or of its change was lost, or says less than promised: take what is there."""
        account, where = self.ledger.account(), (self.market, notice.round_id)
        standing = account.bid(*where)
        if there is None or standing is None:
            return
        same, short = standing.bid_micros == there.bid_micros, falls_short(standing, standing.receipt)
        sent = [bid for bid in account.unsigned_bids(*where) if bid.bid_micros == there.bid_micros]
        if standing.accepted and same:
            sent = [standing] if short else []
        if sent:
            self.take_bid_receipt(notice, there, sent[-1])

    def take_bid_receipt(self, notice: RoundNotice, receipt: BidReceipt, sent: StoredBid | None = None) -> None:
        """Hold the market's receipt against the bid that was ``sent`` (unless said, the one that stands); keep it."""
        heard = self.look(notice)
        told = replace(heard, bid_there=receipt, bid=sent or heard.bid)
        refuse("bid receipt", told, self.checks)
        if told.bid is None or not told.bid.accepted or falls_short(told.bid, told.bid.receipt):
            where = {"market": self.market, "round_id": notice.round_id}
            self.ledger.note("bid-accepted", **where, at_ms=receipt.placed_at_ms, receipt=receipt.model_dump_json())

    def review(
        self,
        notice: RoundNotice,
        offer: Offer,
        *,
        bid_there: BidReceipt | None = None,
        report_there: ReportReceipt | None = None,
        counted: int = 0,
    ) -> Review:
        """Recompute everything the offer claims, against this device's own record of the bid.

        ``bid_there`` and ``report_there`` are what the market has of this owner in the round, ``counted`` how many
        reports it has had of her.
        """
        heard = self.look(notice)
        told = replace(heard, offer=offer, bid_there=bid_there, report_there=report_there, counted=counted)
        if told.bid is None:
            raise OfferRefused(f"this device made no bid in round {notice.round_id}, so there is nothing to hold it to")
        refuse("offer", told, self.checks)
        account, asking = self.ledger.account(), asking_of(told)
        kappa = asking.kappa
        return Review(
            told=told,
            offer=offer,
            asking=asking,
            bid_micros=told.bid.bid_micros,
            epsilon=epsilon_of(offer.q_numerator, kappa),
            epsilon_nanos=epsilon_nanos(offer.q_numerator, kappa),
            least_payment_micros=least_payment_micros(told.bid.bid_micros, offer.q_numerator, kappa),
            spending=account.spending(offer.question.attribute),
            overall=account.spending(OVERALL),
            asks=asks_of(account, self.market, told),
        )

    def keep_told(self, review: Review) -> None:
        """Bind the round to its offer, draw and question, before they are shown: others are refused for good."""
        offer, root, asked = review.offer, review.told.notice.bids_root, question_of(review.offer)
        now: dict[str, Fields] = {} if root is None or offer.lots is None else {"lots": asdict(lots_of(offer, root))}
        now |= {"offer": asdict(offer_of(offer))} | ({} if asked is None else {"question": asdict(asked)})
        account, where = self.ledger.keep_first(self.market, offer.round_id, now), (self.market, offer.round_id)
        # Another process may have been told something else since this one looked.
        first = replace(
            review.told, lots=account.lots(*where), first=account.offer(*where), asked=account.question(*where)
        )
        refuse("offer", first, {name: check for name, check in self.checks.items() if name in _FIRST_STANDS})

    def report(
        self, review: Review, value: Any, *, fresh: Offer, now_ms: int, agreed: Collection[str] = ()
    ) -> StoredReport:
        """Draw once, charge, store; what comes back is ready to send; a round reported on gives its bytes again.

        ``fresh`` is the offer as the market tells it now, with its clock: too late, or another offer, and nothing is
        drawn. ``agreed`` names those of ``review.asks`` that the owner agreed to.
        """
        try:
            return self._draw(review, value, fresh=fresh, now_ms=now_ms, agreed=agreed)
        except DeviceError:
            made = self.ledger.account().report(self.market, review.offer.round_id)
            if made is None:
                raise
            return made  # from before, or meanwhile from another process: no word that nothing was drawn would be true

    def _draw(self, review: Review, value: Any, *, fresh: Offer, now_ms: int, agreed: Collection[str]) -> StoredReport:
        offer, domain = review.offer, review.asking.domain
        refuse("drawing", replace(review.told, offer=fresh, shown=offer), self.checks)
        for name, sentence in review.asks.items():
            if name not in agreed:
                raise OwnerMustAgree(f"you have not said yes: {sentence} Nothing was drawn and nothing was sent")
        code = encoded(domain, value)
        self.keep_told(review)
        shown = {name: sentence for name, sentence in review.asks.items() if name in agreed}

        def draw() -> str:
            drawn = draw_code(review.asking, code, offer.q_numerator, self.entropy)
            return Report(terms_hash=offer.terms_hash, code=drawn).model_dump_json()

        charge = Charge(
            market=self.market,
            round_id=offer.round_id,
            attribute=offer.question.attribute,
            text=offer.question.text,
            terms_hash=offer.terms_hash,
            epsilon_nanos=review.epsilon_nanos,
            payment_micros=offer.payment_micros,
            drawn_at_ms=now_ms,
        )
        return self.ledger.make_report(charge, draw, lambda now: admitted(now, self.market, review.told, shown))

    def take_receipt(self, notice: RoundNotice, receipt: ReportReceipt) -> None:
        """Hold the market's receipt against the offer and the report, and keep it."""
        told = replace(self.look(notice), report_there=receipt)
        made = told.report
        if made is not None and made.accepted_at_ms is not None and not falls_short(told.bid, made.receipt):
            return
        refuse("report receipt", told, self.checks)
        where = {"market": self.market, "round_id": notice.round_id}
        self.ledger.note("accepted", **where, at_ms=receipt.received_at_ms, receipt=receipt.model_dump_json())


_FIRST_STANDS = frozenset({"lots stand", "offer stands", "first question"})
"""The checks that hold a market to what it told first."""


def _accepted_before(account: Account, market: str, round_id: str) -> int:
    here = [entry for entry in account.entries if entry.get("market") == market]
    earlier = takewhile(lambda entry: (entry["kind"], entry.get("round_id")) != ("drawn", round_id), here)
    return len({entry["round_id"] for entry in earlier if entry["kind"] == "accepted"})


NOT_AMONG = (
    "You may give the nearest one, which is randomised like any other; whoever bids and then does not answer tells the"
    " market something too, and is paid nothing"
)
"""Where her answer is none of those that there are."""


def encoded(domain: Domain, value: Any, answers: str = "") -> Integers:
    """The code of her answer; refuses what is none. To be asked before the market hears that she is about to answer.

    ``answers`` are those that there are, in words.
    """
    try:
        return domain.encode([value])
    except PdqsError:  # its message quotes the value, which is not to be written anywhere
        raise not_among(answers or str(domain)) from None


def not_among(answers: str) -> OfferRefused:
    """That her answer is none of those that there are, in words that do not tell it."""
    return OfferRefused(
        f"your answer is not one that the question allows ({answers}); nothing was drawn and nothing was sent."
        f" {NOT_AMONG}"
    )


def draw_code(asking: Asking, code: Integers, numerator: int, entropy: Entropy) -> int:
    """One report as the core defines it (:mod:`pdqs.privacy.asking`); the coin is dropped here."""
    reports, _ = ask(asking, code, np.array([numerator], dtype=np.uint32), entropy)
    return int(reports[0])
