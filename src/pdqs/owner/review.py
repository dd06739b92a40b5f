"""What the device decides: is the round what it says, does the offer pay, may the owner afford it, what is sent.

The order is fixed: check, charge and store, then send. The value meets the coin inside one expression, the coin is
dropped at once, and only the report's code goes on from there. The browser's twin is ``browser/device.mjs``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pdqs.model.domain import Domain
from pdqs.model.errors import PdqsError, TermsError
from pdqs.model.money import MICROS_PER_UNIT, exact_money
from pdqs.owner.errors import OfferRefused
from pdqs.owner.ledger import Charge, Ledger, Spending, StoredBid, StoredReport
from pdqs.owner.price import NANOS_PER_EPSILON, epsilon_nanos, epsilon_of, in_words, is_fair, least_payment_micros
from pdqs.privacy.entropy import Entropy, SystemEntropy
from pdqs.privacy.randomiser import draw_reports
from pdqs.protocol.device_messages import Bid, DomainMessage, Offer, Report, RoundNotice
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An offer that passed every check, with all the owner needs to decide."""

    offer: Offer
    domain: Domain
    """What the answer is drawn from. Its size is the k that was priced, is shown and will be charged."""
    bid_micros: int
    epsilon: float
    epsilon_nanos: int
    least_payment_micros: int
    spending: Spending

    @property
    def meaning(self) -> str:
        """What the eps means, in words."""
        return in_words(self.offer.q_numerator, self.domain.size)

    @property
    def after_nanos(self) -> int:
        """Privacy spent on the attribute once this report is made."""
        return self.spending.spent_nanos + self.epsilon_nanos

    @property
    def within_cap(self) -> bool:
        """Whether the owner's own cap allows it."""
        return self.after_nanos <= self.spending.cap_nanos


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One owner's device in one market. Randomness is the operating system's unless a test replays known words."""

    market: str
    ledger: Ledger
    entropy: Entropy = field(default_factory=SystemEntropy)

    def bid(self, notice: RoundNotice, bid_micros: int) -> StoredBid:
        """Check the round and store a bid for it, ready to send."""
        check_notice(notice)
        if not notice.bid_low_micros <= bid_micros <= notice.bid_high_micros:
            raise OfferRefused(
                f"a bid in this round lies between {exact_money(notice.bid_low_micros)} and"
                f" {exact_money(notice.bid_high_micros)}, got {exact_money(bid_micros)}"
            )
        body = Bid(terms_hash=notice.terms_hash, bid_micros=bid_micros).model_dump_json().encode()
        return self.ledger.keep_bid(self.market, notice.round_id, bid_micros, body)

    def review(self, notice: RoundNotice, offer: Offer) -> Review:
        """Recompute everything the offer claims, against this device's own record of the bid."""
        bid = self.ledger.bid(self.market, notice.round_id)
        if bid is None:
            raise OfferRefused(f"this device made no bid in round {notice.round_id}, so there is nothing to hold it to")
        check_offer(notice, offer, bid.bid_micros)
        domain = offer.question.domain.domain()
        k = domain.size
        return Review(
            offer=offer,
            domain=domain,
            bid_micros=bid.bid_micros,
            epsilon=epsilon_of(offer.q_numerator, k),
            epsilon_nanos=epsilon_nanos(offer.q_numerator, k),
            least_payment_micros=least_payment_micros(bid.bid_micros, offer.q_numerator, k),
            spending=self.ledger.spending(offer.question.attribute),
        )

    def report(self, review: Review, value: Any, *, now_ms: int) -> StoredReport:
        """Draw once, charge, store; what comes back is ready to send; a round reported on gives its bytes again."""
        offer, domain = review.offer, review.domain
        try:
            code = domain.encode([value])
        except PdqsError:  # its message quotes the value, which is not to be written anywhere
            raise OfferRefused(f"your answer is not one that the question allows ({domain})") from None

        def draw() -> bytes:
            return _body(offer, int(draw_code(code, offer.q_numerator, domain.size, self.entropy)))

        charge = Charge(
            market=self.market,
            round_id=offer.round_id,
            attribute=offer.question.attribute,
            epsilon_nanos=review.epsilon_nanos,
            payment_micros=offer.payment_micros,
            made_at_ms=now_ms,
        )
        return self.ledger.make_report(charge, draw)


def draw_code(code: Any, numerator: int, domain_size: int, entropy: Entropy) -> int:
    """One report by the core's randomiser; the coin is dropped here."""
    reports, _ = draw_reports(np.asarray(code), np.array([numerator], dtype=np.uint32), domain_size, entropy)
    return int(reports[0])


def _body(offer: Offer, code: int) -> bytes:
    return Report(terms_hash=offer.terms_hash, code=code).model_dump_json().encode()


def check_notice(notice: RoundNotice) -> None:
    """The frozen document behind the hash says what the notice shows."""
    where = f"round {notice.round_id}"
    if hashlib.sha256(notice.terms.encode()).hexdigest() != notice.terms_hash:
        raise OfferRefused(f"{where}: the terms do not match their hash")
    try:
        if DomainMessage.of(notice.question.domain.domain()) != notice.question.domain:
            raise OfferRefused(f"{where}: the list of answers is not what its own domain would say")
        promised = _promised(notice.terms)
    except (ValueError, KeyError, TypeError, RecursionError, TermsError) as fault:
        raise OfferRefused(f"{where}: the terms cannot be read ({fault})") from None
    for what, (frozen, shown) in _pairs(notice, promised).items():
        if frozen != shown:
            raise OfferRefused(f"{where}: the {what} shown ({shown}) is not that of the terms ({frozen})")
    if promised["contract"] != "on-report":
        raise OfferRefused(f"{where}: contract {promised['contract']!r} would give the coin away")


def _promised(text: str) -> dict[str, Any]:
    """The facts of the frozen document that the owner's side relies on."""
    document = json.loads(text)
    terms = Terms.read(document["terms"])
    low, high = terms.bid_range
    return {
        "round": document["round"],
        "attribute": document["attribute"],
        "text": terms.question.text,
        "domain": DomainMessage.of(terms.question.domain),
        "bid range": (round(low * MICROS_PER_UNIT), round(high * MICROS_PER_UNIT)),
        "epsilon cap": terms.epsilon_max,
        "closing time": document["bids_close_at_ms"],
        "contract": terms.contract,
    }


def _pairs(notice: RoundNotice, promised: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    shown = {
        "round": notice.round_id,
        "attribute": notice.question.attribute,
        "text": notice.question.text,
        "domain": notice.question.domain,
        "bid range": (notice.bid_low_micros, notice.bid_high_micros),
        "epsilon cap": notice.epsilon_max,
        "closing time": notice.bids_close_at_ms,
    }
    return {what: (promised[what], value) for what, value in shown.items()}


def check_offer(notice: RoundNotice, offer: Offer, bid_micros: int) -> None:
    """The offer belongs to the round the owner bid in, asks what it asked, keeps to its cap and pays her price."""
    check_notice(notice)
    where = f"offer of round {offer.round_id}"
    if (offer.round_id, offer.terms_hash) != (notice.round_id, notice.terms_hash):
        raise OfferRefused(f"{where}: it is not for the terms that were bid on")
    if offer.question != notice.question:
        raise OfferRefused(f"{where}: it asks another question than the round did")
    k = offer.question.domain.domain().size
    nanos = epsilon_nanos(offer.q_numerator, k)
    if nanos > round(notice.epsilon_max * NANOS_PER_EPSILON) + 1:  # the cap itself, rounded up, is allowed
        raise OfferRefused(f"{where}: epsilon {nanos / NANOS_PER_EPSILON:.6f} is above the round's cap")
    if not is_fair(bid_micros, offer.q_numerator, k, offer.payment_micros):
        least = least_payment_micros(bid_micros, offer.q_numerator, k)
        pays = exact_money(offer.payment_micros)
        raise OfferRefused(f"{where}: it pays {pays} where your price comes to {exact_money(least)}")
